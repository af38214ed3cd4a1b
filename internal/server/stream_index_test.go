// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package server

import (
	"testing"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/state"
)

// A stop without shutdown delays changes an allocation twice, and both changes can have one index. The node
// must learn the second one, too. It need not learn its own reports.
func TestStopWithTheIndexOfAnotherChangeReachesTheNode(t *testing.T) {
	h := newStreams()
	st := h.open("node", func() {})
	st.take()
	running := &api.Allocation{ID: "a", NodeID: "node", DesiredStatus: api.AllocDesiredRun, AllocModifyIndex: 7}
	stopped, reported := running.Copy(), running.Copy()
	stopped.DesiredStatus, reported.ClientStatus = api.AllocDesiredStop, api.AllocClientRunning
	change := func(to *api.Allocation) int {
		h.apply(&state.Batch{Index: 7, Changes: []state.Change{{Table: state.TableAllocations, Old: running, New: to}}})
		return len(st.take().changes)
	}
	if n := change(stopped); n != 1 {
		t.Errorf("%d changes for a stop, want 1", n)
	}
	if n := change(reported); n != 0 {
		t.Errorf("%d changes for the node's own report, want none", n)
	}
}
