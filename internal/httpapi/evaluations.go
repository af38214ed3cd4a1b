// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"iter"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/filter"
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
		ok, err := c.filter.Matches(e)
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

func deleteEvaluations(c *call, req *api.EvaluationDeleteRequest) (*api.EvaluationDeleteResponse, uint64, error) {
	v := c.Server.Store().Snapshot()
	if (req.Filter == "") == (len(req.EvalIDs) == 0) {
		return nil, 0, api.Errorf(api.CodeInvalid, "say which evaluations: either EvalIDs or Filter")
	}
	var ids []string
	for _, id := range req.EvalIDs {
		e, err := findEvaluation(v, id)
		if err != nil {
			return nil, 0, err
		}
		ids = append(ids, e.ID)
	}
	if req.Filter != "" {
		var err error
		if c.filter, err = filter.Parse(req.Filter); err != nil {
			return nil, 0, err
		}
		for e := range v.Evaluations() {
			ok, err := c.filter.Matches(e)
			if err != nil {
				return nil, 0, err
			}
			if ok && c.inNamespace(e.Namespace) {
				ids = append(ids, e.ID)
			}
		}
	}
	if len(ids) == 0 {
		return &api.EvaluationDeleteResponse{}, v.Index(), nil
	}
	index, err := c.Server.DeleteEvaluations(c.r.Context(), ids)
	if err != nil {
		return nil, 0, err
	}
	return &api.EvaluationDeleteResponse{Count: len(ids)}, index, nil
}

func unblockEvaluation(c *call, _ *none) (*api.EvaluationUnblockResponse, uint64, error) {
	e, err := findEvaluation(c.Server.Store().Snapshot(), c.id())
	if err != nil {
		return nil, 0, err
	}
	index, err := c.Server.UnblockEvaluation(c.r.Context(), e.ID)
	if err != nil {
		return nil, 0, err
	}
	return &api.EvaluationUnblockResponse{EvalID: e.ID, Index: index}, index, nil
}

// relatives returns all evaluations that are linked with one, in both directions.
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
	if api.CodeOf(err) == api.CodeNotFound {
		e = &api.Evaluation{ID: c.id()}
	} else if err != nil {
		return nil, v.TableIndex(c.route.Tables...), err
	}
	return ofJob(c, v, v.AllocationsByEval(e.ID), allocationModified, func(a *api.Allocation) *api.AllocationListStub { return showAllocation(c, v, a) })
}
