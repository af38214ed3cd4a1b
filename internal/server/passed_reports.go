// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package server

import (
	"context"
	"sync"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/nodeproto"
	"github.com/reeve-run/reeve/internal/state"
)

// TakeReports stores reports of nodes which are connected to any server of the cluster. Only the
// leader answers. Reports are written together, and each has its own result.
func (s *Server) TakeReports(ctx context.Context, m *nodeproto.Reports) (*nodeproto.ReportsResult, error) {
	if !s.IsLeader() {
		return nil, errNoLeader
	}
	snap := s.store.Snapshot()
	result := &nodeproto.ReportsResult{Results: make([]*nodeproto.ReportResult, len(m.Reports))}
	calls := make([]*gathered[report], len(m.Reports))
	for i, r := range m.Reports {
		call, err := s.putReport(snap, r)
		calls[i], result.Results[i] = call, &nodeproto.ReportResult{Number: r.Number, Index: snap.Index(), Failure: nodeproto.FailureOf(err)}
	}
	for i, call := range calls {
		if call == nil {
			continue
		}
		select {
		case <-call.done:
			result.Results[i].Index, result.Results[i].Failure = call.index, nodeproto.FailureOf(call.err)
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	return result, nil
}

// putReport has a report written; nil if it says nothing.
func (s *Server) putReport(snap *state.Snapshot, r *nodeproto.PassedReport) (*gathered[report], error) {
	nodeID := nodeproto.UnpackID(r.Node)
	if _, err := registered(snap, nodeID); err != nil {
		return nil, err
	}
	allocs, err := nodeproto.DecodeReport(r.Content)
	if err != nil {
		return nil, api.Errorf(api.CodeInvalid, "the report of node %.64s cannot be decoded: %v", nodeID, err)
	}
	rep := report{nodeID: nodeID, allocs: allocs, decoded: true}
	if err := rep.validate(); err != nil || len(allocs) == 0 {
		return nil, err
	}
	if !s.reportOrder.isNewest(nodeID, r.Session, r.Number) {
		return nil, api.Errorf(api.CodeConflict, "node %.64s sent a newer report through another server", nodeID)
	}
	return s.reports.put(rep)
}

// reportOrder knows the newest report of each node. A report may be delayed on the way through a
// server that is cut off, while the node sends the next one through another server. It must not
// overwrite that one.
type reportOrder struct {
	mu     sync.Mutex
	newest map[string]reportNumber // by node
}

type reportNumber struct{ session, number uint64 }

// isNewest reports whether no later report of the same agent is known, and records the report.
func (o *reportOrder) isNewest(nodeID string, session, number uint64) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	if last, known := o.newest[nodeID]; known && last.session == session && last.number > number {
		return false
	}
	if o.newest == nil {
		o.newest = map[string]reportNumber{}
	}
	o.newest[nodeID] = reportNumber{session, number}
	return true
}

// clear forgets everything, at the begin of a term.
func (o *reportOrder) clear() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.newest = nil
}
