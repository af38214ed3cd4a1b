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

// arrivalsLinger is how long a node that arrives waits for others.
const arrivalsLinger = 5 * time.Millisecond

// arrive registers a node, or marks one as ready that was given up. What
// arrives together is written together.
func (s *Server) arrive(ctx context.Context, cmd state.Command) (uint64, error) {
	return s.arrivals.add(ctx, cmd)
}

// writeArrivals writes what nodes that come or come back say as one log entry,
// with one evaluation of every job that has something on one of them.
func (s *Server) writeArrivals(ctx context.Context, calls []*gathered[state.Command]) {
	snap, now := s.store.Snapshot(), time.Now()
	seen := map[api.NamespacedID]bool{}
	cmds := make([]state.Command, len(calls))
	for i, call := range calls {
		switch c := call.what.(type) {
		case *state.RegisterNode:
			if comesBack(snap, c.Node.ID) {
				c.Evaluations = control.ReturnEvaluations(snap, c.Node.ID, seen, now)
			}
		case *state.UpdateNodeStatus:
			if comesBack(snap, c.NodeID) {
				c.Evaluations = control.ReturnEvaluations(snap, c.NodeID, seen, now)
			}
		}
		cmds[i] = call.what
	}
	index, errs, err := s.proposeEach(ctx, cmds...)
	for _, call := range calls {
		if c, ok := call.what.(*state.UpdateNodeStatus); ok {
			s.returning.Delete(c.NodeID)
		}
	}
	answer(calls, index, errs, err)
}

// comesBack reports whether the node was given up.
func comesBack(snap *state.Snapshot, nodeID string) bool {
	n := snap.Node(nodeID)
	return n != nil && n.Status != api.NodeStatusReady
}
