// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package state

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/reeve-run/reeve/api"
)

func TestGroupCountsAgreeWithSummaries(t *testing.T) {
	store, fleet := New(), newFleet(1, 3)
	apply := func(cmds ...Command) {
		t.Helper()
		for _, err := range store.Apply(store.Index()+1, cmds) {
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, n := range fleet.nodes {
		apply(&RegisterNode{Node: n})
	}
	for _, id := range []string{"a", "b", "c"} {
		job := testJob(id)
		job.Groups = append(job.Groups, &api.Group{Name: "idle", Tasks: []*api.Task{{Name: "t", Driver: "mock"}}})
		apply(&RegisterJob{Job: job})
		if id != "c" {
			apply(&CommitPlacement{Placement: fleet.placement(store.Snapshot().Job(job.Namespace, id), 5, 0)})
		}
	}
	snap, groups := store.Snapshot(), 0
	for g := range snap.GroupCounts() {
		groups++
		want := snap.JobSummary(g.Job.Namespace, g.Job.ID).Summary[g.Group.Name]
		if d := cmp.Diff(want, g.GroupSummary); d != "" {
			t.Errorf("group %s of %s (-summary +count):\n%s", g.Group.Name, g.Job.ID, d)
		}
		if live := g.Job.ID != "c"; g.Live != live {
			t.Errorf("job %s is live: %v, want %v", g.Job.ID, g.Live, live)
		}
		if g.Job.ID == "a" && g.Group.Name == "web" && g.Starting != 5 {
			t.Errorf("%d allocations start, want 5", g.Starting)
		}
	}
	if groups != 6 {
		t.Errorf("%d groups, want 6", groups)
	}
}
