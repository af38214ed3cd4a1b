// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package server

import (
	"testing"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/state"
)

// What a node says is judged on a picture of the state. If the servers change an
// allocation before the node's words are taken in, its job is evaluated.
func TestWordsThatAreOvertakenAreJudgedAgain(t *testing.T) {
	store := state.New()
	apply := func(c state.Command) {
		t.Helper()
		if err := store.Apply(store.Index()+1, []state.Command{c})[0]; err != nil {
			t.Fatal(err)
		}
	}
	apply(&state.RegisterNode{Node: &api.Node{ID: "n", Status: api.NodeStatusReady}})
	apply(&state.RegisterJob{Job: &api.Job{ID: "web", Namespace: "default", Type: api.JobTypeService, Groups: []*api.Group{{Name: "g"}}}})
	job := store.Snapshot().Job("default", "web")
	a := &api.Allocation{ID: "a", Namespace: "default", JobID: "web", Group: "g", Name: "web.g[0]", NodeID: "n", ClientStatus: api.AllocClientRunning}
	apply(&state.CommitPlacement{Placement: &state.Placement{Job: job, Place: []*api.Allocation{a}}})

	said := &api.Allocation{ID: "a", ClientStatus: api.AllocClientRunning}
	calls := []*gathered[report]{{what: report{nodeID: "n", allocs: []*api.Allocation{said}}}}
	judged := store.Snapshot()
	unknown := judged.Allocation("a").Copy()
	unknown.ClientStatus = api.AllocClientUnknown
	apply(&state.CommitPlacement{Placement: &state.Placement{Job: job, Place: []*api.Allocation{unknown}}})
	between := store.Snapshot()
	apply(&state.UpdateAllocations{NodeID: "n", Allocations: []*api.Allocation{said}})

	now := time.Unix(5, 0)
	if got := overtaken(judged, store.Snapshot(), calls, map[api.NamespacedID]bool{}, now); len(got) != 1 || got[0].JobID != "web" {
		t.Errorf("judged before it was unknown, taken in after: %v, want an evaluation of web", got)
	}
	if got := overtaken(judged, store.Snapshot(), calls, map[api.NamespacedID]bool{job.Key(): true}, now); len(got) > 0 {
		t.Errorf("it is evaluated anyway, and once more: %v", got)
	}
	if got := overtaken(between, store.Snapshot(), calls, map[api.NamespacedID]bool{}, now); len(got) > 0 {
		t.Errorf("nothing came between, and yet: %v", got)
	}
}
