// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package plan_test

import (
	"testing"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/plan/view"
	"github.com/reeve-run/reeve/internal/state"
)

// A job that was purged and registered again has none of the crashes and failures
// that it had before, in whatever state it was purged.
func TestPurgedJobLeavesItsNextNoCrashes(t *testing.T) {
	const job = "job web\n  group api count=1 delay=10m function=constant"
	for name, ending := range map[string]string{"after it failed": "fail api[0]", "while it ran": "healthy all", "when it had ended": "finish api[0]"} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.run("nodes 2")
			w.run(job)
			first := w.allocation(t)
			w.apply(&state.UpdateAllocations{Allocations: []*api.Allocation{{ID: first.ID, ClientStatus: api.AllocClientRunning, Crashes: &api.Crashes{Count: 7, Total: 9, Reason: "it crashed"}}}})
			w.run(ending)
			w.run("purge-job")
			w.run("gone")
			w.run(job)
			a := w.allocation(t)
			if a.ID == first.ID || a.PreviousAllocation != "" || a.Crashes != nil || a.RescheduleTracker != nil {
				t.Errorf("the new allocation comes after %q, with %+v and %+v; want a first one", a.PreviousAllocation, a.Crashes, a.RescheduleTracker)
			}
			key := api.NamespacedID{Namespace: api.DefaultNamespace, ID: "web"}
			for _, row := range view.Instances(w.snapshot(), key, w.snapshot().Job(key.Namespace, key.ID), w.now) {
				if row.CrashCount != 0 || row.CrashReason != "" {
					t.Errorf("instance %d has %d crashes: %s", row.Index, row.CrashCount, row.CrashReason)
				}
			}
			want := api.GroupSummary{Starting: 1}
			if got := w.snapshot().JobSummary(key.Namespace, key.ID).Summary["api"]; got != want {
				t.Errorf("the summary is %+v, want %+v", got, want)
			}
		})
	}
}

// allocation is the newest one of the job.
func (w *world) allocation(t *testing.T) *api.Allocation {
	t.Helper()
	var newest *api.Allocation
	for a := range w.snapshot().AllocationsByJob(api.DefaultNamespace, w.job) {
		if newest == nil || a.CreateIndex > newest.CreateIndex {
			newest = a
		}
	}
	if newest == nil {
		t.Fatal("the job has no allocation")
	}
	return newest
}
