// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package placement

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/quota"
)

// limited is a state in which a quota limits the number of allocations, of which some exist.
type limited struct{ most, used int }

func (l limited) QuotasOf(string) []string { return []string{"q"} }
func (l limited) Quota(string) *api.Quota {
	return &api.Quota{Name: "q", Limits: []*api.QuotaLimit{{RegionLimit: &api.QuotaResources{Allocations: &l.most}}}}
}
func (l limited) QuotaUsed(string) map[string]api.QuotaUse {
	return map[string]api.QuotaUse{"default": {Allocations: int64(l.used)}}
}

func TestPlacementKeepsQuotas(t *testing.T) {
	running := func(o *Order, counts bool) {
		for _, r := range o.Requests {
			old := &api.Allocation{
				ID: "old-" + r.Name, Namespace: "default", JobID: "web", Job: r.Job, Group: "web", NodeID: "node-00000",
				DesiredStatus: api.AllocDesiredRun, ClientStatus: api.AllocClientRunning,
			}
			r.Previous, r.Replaces = old, &Stop{Alloc: old}
		}
		o.Counts = func(string) bool { return counts }
	}
	sticky := func(o *Order, node string) {
		for _, r := range o.Requests {
			r.Group.EphemeralDisk = &api.EphemeralDisk{Sticky: new(true), SizeMB: new(10)}
			r.Previous = &api.Allocation{ID: "old", NodeID: node, ClientStatus: api.AllocClientLost}
		}
	}
	for name, tc := range map[string]struct {
		limited
		requests, memory int
		change           func(*Order)
		placed, queued   int
		quota            string
		room             bool
		left             int64 // allocations that the budget still permits
	}{
		"enough":                         {limited{5, 2}, 3, 100, nil, 3, 0, "", false, 0},
		"too little":                     {limited{5, 2}, 5, 100, nil, 3, 2, "q", false, 0},
		"nothing":                        {limited{-1, 0}, 2, 100, nil, 0, 2, "q", false, 0},
		"all or none":                    {limited{5, 2}, 5, 100, func(o *Order) { o.AllAtOnce = true }, 0, 5, "q", false, 0},
		"no room on nodes":               {limited{2, 0}, 3, 5000, nil, 1, 2, "", true, 1},
		"neither room nor quota":         {limited{1, 0}, 3, 5000, nil, 1, 2, "q", false, 0},
		"replaced ones count net":        {limited{3, 3}, 3, 100, func(o *Order) { running(o, true) }, 3, 0, "", false, 0},
		"ended ones free nothing":        {limited{3, 3}, 3, 100, func(o *Order) { running(o, false) }, 0, 3, "q", false, 0},
		"beside its predecessor":         {limited{1, 0}, 1, 100, func(o *Order) { sticky(o, "node-00000") }, 1, 0, "", false, 0},
		"away from a predecessor's node": {limited{1, 0}, 1, 100, func(o *Order) { sticky(o, "gone") }, 1, 0, "", false, 0},
		"pinned to nodes": {limited{1, 0}, 3, 100, func(o *Order) {
			o.Requests[0].NodeID, o.Requests[1].NodeID, o.Requests[2].NodeID = "gone", "node-00000", "node-00000"
		}, 1, 2, "q", true, 0},
	} {
		t.Run(name, func(t *testing.T) {
			job := testJob(tc.requests)
			job.Groups[0].Tasks[0].Resources.MemoryMB = &tc.memory
			var budget *quota.Budget
			out := place(testFleet(1), job, tc.requests, func(o *Order) {
				budget = quota.New(tc.limited, "default")
				o.Budget = budget
				if tc.change != nil {
					tc.change(o)
				}
			})
			got := []any{len(out.Place), out.Queued["web"], out.Quota, out.Room}
			if diff := cmp.Diff([]any{tc.placed, tc.queued, tc.quota, tc.room}, got); diff != "" {
				t.Errorf("placed, queued, quota, room (-want +got):\n%s", diff)
			}
			m := out.Failed["web"]
			if (tc.quota != "") != (m != nil && len(m.QuotaExhausted) == 1) {
				t.Errorf("the metrics are %+v", m)
			}
			if left := budget.Copies(api.QuotaUse{Allocations: 1}, "default", 10); name != "all or none" && left != tc.left {
				t.Errorf("the budget permits %d more, want %d", left, tc.left)
			}
		})
	}
}
