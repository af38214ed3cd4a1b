// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package server

import (
	"context"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/server/control"
	"github.com/reeve-run/reeve/internal/state"
)

// DrainNode begins a node's drain, changes its terms, or ends it.
func (s *Server) DrainNode(ctx context.Context, nodeID string, req *api.NodeDrainRequest) (*api.NodeDrainResponse, error) {
	snap, now := s.store.Snapshot(), time.Now()
	n := snap.Node(nodeID)
	if n == nil {
		return nil, noNode(nodeID)
	}
	cmd := &state.SetNodeDrain{NodeID: nodeID, Meta: req.Meta, Time: now.UnixNano()}
	if req.DrainSpec != nil { // MarkEligible is about a drain's end, and clients send it with every request
		cmd.Strategy = drainStrategy(req.DrainSpec, n.DrainStrategy, now)
		cmd.Status = api.DrainStatusDraining
	} else {
		cmd.Status, cmd.MarkEligible = api.DrainStatusCanceled, req.MarkEligible
		cmd.Evaluations = undrained(snap, n, now)
	}
	index, err := s.propose(ctx, cmd)
	if err != nil {
		return nil, err
	}
	return &api.NodeDrainResponse{NodeModifyIndex: index, EvalIDs: ids(cmd.Evaluations), EvalCreateIndex: madeAt(index, cmd.Evaluations), Index: index}, nil
}

// drainStrategy is what the operator asked for, from now on. A drain whose
// terms are changed began when it began.
func drainStrategy(spec *api.DrainSpec, old *api.DrainStrategy, now time.Time) *api.DrainStrategy {
	d := &api.DrainStrategy{DrainSpec: *spec, StartedAt: now.UTC().Round(0)}
	if old != nil {
		d.StartedAt = old.StartedAt
	}
	switch {
	case spec.Deadline < 0: // at once
		d.ForceDeadline = now.UTC().Round(0)
	case spec.Deadline > 0:
		d.ForceDeadline = now.Add(spec.Deadline).UTC().Round(0)
	}
	return d
}

// undrained are evaluations of the jobs whose allocations were to move and may
// stay now.
func undrained(snap *state.Snapshot, n *api.Node, now time.Time) (evals []*api.Evaluation) {
	marked := map[api.NamespacedID]bool{}
	for a := range snap.AllocationsByNode(n.ID) {
		if !a.IsTerminal() && a.DesiredTransition.ShouldMigrate() {
			marked[a.JobKey()] = true
		}
	}
	for _, e := range control.NodeEvaluations(snap, n.ID, now) {
		if marked[e.JobKey()] {
			e.TriggeredBy = api.TriggerNodeDrain
			evals = append(evals, e)
		}
	}
	return evals
}

// PurgeNode deletes a node; its allocations count as lost and are replaced. A live agent
// registers again, and receives the order to stop them.
func (s *Server) PurgeNode(ctx context.Context, nodeID string) (*api.NodePurgeResponse, error) {
	snap := s.store.Snapshot()
	if snap.Node(nodeID) == nil {
		return nil, noNode(nodeID)
	}
	cmd := &state.DeleteNode{IDs: []string{nodeID}, Evaluations: control.NodeEvaluations(snap, nodeID, time.Now())}
	index, err := s.propose(ctx, cmd)
	if err != nil {
		return nil, err
	}
	return &api.NodePurgeResponse{EvalIDs: ids(cmd.Evaluations), EvalCreateIndex: madeAt(index, cmd.Evaluations), NodeModifyIndex: index, Index: index}, nil
}

// EvaluateNode evaluates every job with allocations on the node.
func (s *Server) EvaluateNode(ctx context.Context, nodeID string) (*api.NodeEvaluateResponse, error) {
	snap := s.store.Snapshot()
	n := snap.Node(nodeID)
	if n == nil {
		return nil, noNode(nodeID)
	}
	evals := control.NodeEvaluations(snap, nodeID, time.Now())
	res := &api.NodeEvaluateResponse{EvalIDs: ids(evals), NodeModifyIndex: n.ModifyIndex, Index: snap.Index()}
	if len(evals) == 0 {
		return res, nil
	}
	index, err := s.propose(ctx, &state.PutEvaluations{Evaluations: evals})
	if err != nil {
		return nil, err
	}
	res.EvalID, res.EvalCreateIndex, res.Index = evals[0].ID, index, index
	return res, nil
}

func noNode(id string) error { return api.Errorf(api.CodeNotFound, "node %q not found", id) }

func ids(evals []*api.Evaluation) []string {
	list := make([]string, 0, len(evals))
	for _, e := range evals {
		list = append(list, e.ID)
	}
	return list
}

// madeAt is the index at which evaluations were made; 0 when there are none.
func madeAt(index uint64, evals []*api.Evaluation) uint64 {
	if len(evals) == 0 {
		return 0
	}
	return index
}
