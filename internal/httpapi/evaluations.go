// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"iter"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/state"
)

var evaluationsByTime = order[*api.Evaluation]{
	key:   func(e *api.Evaluation) key { return key{index: e.CreateIndex, id: e.ID} },
	dated: true,
}

func listEvaluations(c *call, v *state.Snapshot) iter.Seq[*api.Evaluation] {
	job, status := c.query.Get("job"), c.query.Get("status")
	return where(v.EvaluationsPrefix(c.prefix), func(e *api.Evaluation) bool {
		return c.inNamespace(e.Namespace) && (job == "" || e.JobID == job) && (status == "" || e.Status == status)
	})
}

func showEvaluation(_ *call, _ *state.Snapshot, e *api.Evaluation) *api.Evaluation { return e }

func countEvaluations(c *call, v *state.Snapshot) (*api.EvaluationCount, uint64, error) {
	n := 0
	for e := range listEvaluations(c, v) {
		ok, err := c.matches(e)
		if err != nil {
			return nil, 0, err
		}
		if ok {
			n++
		}
	}
	return &api.EvaluationCount{Count: n}, v.TableIndex(c.route.Tables...), nil
}

func getEvaluation(c *call, v *state.Snapshot) (*api.Evaluation, uint64, error) {
	related, err := c.flag("related")
	if err != nil {
		return nil, 0, err
	}
	e, err := findEvaluation(v, c.id())
	if err != nil {
		return nil, v.TableIndex(c.route.Tables...), err
	}
	if related {
		copied := e.Copy()
		copied.RelatedEvals = relatives(v, e)
		return copied, e.ModifyIndex, nil
	}
	return e, e.ModifyIndex, nil
}

func findEvaluation(v *state.Snapshot, id string) (*api.Evaluation, error) {
	return find("evaluation", id, v.Evaluation(id), v.EvaluationsPrefix, func(e *api.Evaluation) string { return e.ID })
}

// relatives follows the links of an evaluation both ways, as far as they go.
func relatives(v *state.Snapshot, e *api.Evaluation) []*api.EvaluationStub {
	stubs := []*api.EvaluationStub{}
	seen := map[string]bool{"": true, e.ID: true}
	open := []*api.Evaluation{e}
	for len(open) > 0 {
		current := open[0]
		open = open[1:]
		for _, id := range []string{current.PreviousEval, current.NextEval, current.BlockedEval} {
			if seen[id] {
				continue
			}
			seen[id] = true
			if other := v.Evaluation(id); other != nil {
				stubs = append(stubs, other.Stub())
				open = append(open, other)
			}
		}
	}
	return stubs
}

func getEvaluationAllocations(c *call, v *state.Snapshot) ([]*api.AllocationListStub, uint64, error) {
	e, err := findEvaluation(v, c.id())
	if err != nil {
		return nil, v.TableIndex(c.route.Tables...), err
	}
	return ofJob(c, v, v.AllocationsByEval(e.ID), allocationModified, func(a *api.Allocation) *api.AllocationListStub { return showAllocation(c, v, a) })
}
