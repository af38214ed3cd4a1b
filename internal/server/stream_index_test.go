// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package server

import (
	"testing"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/state"
)

// All commands of one entry of the log have the entry's index. The node learns of an allocation what the last of
// them left, whichever commands they were and in whatever order. It does not learn its own reports.
func TestCommandsOfOneEntryReachTheNode(t *testing.T) {
	yes := true
	transition := &state.SetTransition{AllocationIDs: []string{"a"}, Transition: api.DesiredTransition{NoShutdownDelay: &yes}}
	stop := &state.CommitPlacement{Placement: &state.Placement{Stop: []state.Stop{{ID: "a", Description: "stopped"}}}}
	lost := &state.CommitPlacement{Placement: &state.Placement{Stop: []state.Stop{{ID: "a", ClientStatus: api.AllocClientLost}}}}
	report := &state.UpdateAllocations{NodeID: "node", Allocations: []*api.Allocation{{ID: "a", ClientStatus: api.AllocClientRunning}}}
	job := &api.Job{ID: "web", Namespace: "default", Groups: []*api.Group{{Name: "web"}}}
	moved := &state.CommitPlacement{Placement: &state.Placement{Job: job, Place: []*api.Allocation{
		{ID: "a", NodeID: "node", Group: "web", DesiredStatus: api.AllocDesiredRun, DeploymentID: "new"}}}}
	launched := &state.CommitPlacement{Placement: &state.Placement{Job: job, Place: []*api.Allocation{
		{ID: "a", NodeID: "node", Group: "web", DesiredStatus: api.AllocDesiredRun, Launches: &api.Launches{ID: "again"}}}}}
	for name, c := range map[string]struct {
		entry []state.Command
		sent  bool
	}{
		"a transition, then a stop":                {[]state.Command{transition, stop}, true},
		"a stop, then a transition":                {[]state.Command{stop, transition}, true},
		"a transition, a report and a stop":        {[]state.Command{transition, report, stop}, true},
		"a stop, then a report":                    {[]state.Command{stop, report}, true},
		"a transition, then a new deployment":      {[]state.Command{transition, moved}, true},
		"a new deployment, then other launches":    {[]state.Command{moved, launched}, true},
		"other launches, then a stop":              {[]state.Command{launched, stop}, true},
		"a stop, then a node that was lost":        {[]state.Command{stop, lost}, true},
		"a report":                                 {[]state.Command{report}, false},
		"two reports":                              {[]state.Command{report, report}, false},
		"a stop of an allocation that is gone too": {[]state.Command{&state.CommitPlacement{Placement: &state.Placement{Stop: []state.Stop{{ID: "b"}}}}}, false},
	} {
		t.Run(name, func(t *testing.T) {
			store := state.New()
			feed := store.Subscribe()
			defer feed.Close()
			first := *moved.Placement
			first.Place = []*api.Allocation{{ID: "a", NodeID: "node", Group: "web"}}
			for i, entry := range [][]state.Command{
				{&state.RegisterJob{Job: job}}, {&state.CommitPlacement{Placement: &first}}, c.entry,
			} {
				for _, err := range store.Apply(uint64(i+1), entry) {
					if err != nil {
						t.Fatal(err)
					}
				}
			}
			h := newStreams()
			together, between := h.open("node", func() {}), h.open("node", func() {})
			together.take()
			between.take()
			var last *api.Allocation // that a node received which read after each change
			for range 3 {
				b, err := feed.Next(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				if b.Index < 3 {
					continue
				}
				for i := range b.Changes {
					h.apply(&state.Batch{Index: b.Index, Changes: b.Changes[i : i+1]})
					for _, got := range between.take().changes {
						last = got.alloc
					}
				}
			}
			now := store.Snapshot().Allocation("a")
			var got *api.Allocation
			for _, change := range together.take().changes {
				got = change.alloc
			}
			if !c.sent && (got != nil || last != nil) {
				t.Errorf("the node was sent %+v and %+v, want nothing", got, last)
			}
			if c.sent && (got != now || last != now) {
				t.Errorf("the node was sent\n%+v and\n%+v, want\n%+v", got, last, now)
			}
		})
	}
}
