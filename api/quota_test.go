// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package api_test

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/reeve-run/reeve/api"
)

// TestUsageOfHostileJobsIsBounded sums amounts that would overflow, of a job as a state without
// validation may have it.
func TestUsageOfHostileJobsIsBounded(t *testing.T) {
	most := int64(api.MaxQuotaAmount + 1)
	huge := &api.Resources{CPU: new(math.MaxInt), MemoryMB: new(math.MaxInt), MemoryMaxMB: new(math.MaxInt)}
	var tasks []*api.Task
	for range 1000 {
		tasks = append(tasks, &api.Task{Resources: huge})
	}
	for name, tc := range map[string]struct {
		group *api.Group
		want  api.QuotaUse
	}{
		"huge": {&api.Group{Tasks: tasks, EphemeralDisk: &api.EphemeralDisk{SizeMB: new(math.MaxInt)}},
			api.QuotaUse{CPU: most, MemoryMB: most, MemoryMaxMB: most, DiskMB: most, Allocations: 1}},
		"negative": {&api.Group{Tasks: []*api.Task{{Resources: &api.Resources{CPU: new(-5), MemoryMB: new(math.MinInt), Cores: new(-1)}}, {}}},
			api.QuotaUse{Allocations: 1}},
		"without bound": {&api.Group{Tasks: []*api.Task{{Resources: &api.Resources{MemoryMB: new(10), MemoryMaxMB: new(api.MemoryUnlimited)}}}},
			api.QuotaUse{MemoryMB: 10, MemoryMaxMB: most, Allocations: 1}},
		"cores": {&api.Group{Tasks: []*api.Task{{Resources: &api.Resources{CPU: new(100), Cores: new(2), MemoryMB: new(10)}}}},
			api.QuotaUse{Cores: 2, MemoryMB: 10, MemoryMaxMB: 10, Allocations: 1}},
	} {
		if diff := cmp.Diff(tc.want, tc.group.QuotaUse()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
	limit := api.MaxQuotaAmount
	room := api.QuotaRoom{Quota: "q", Limits: api.QuotaAmounts{&limit, nil, &limit}}
	if all := room.Obstacles(api.QuotaUse{}, (&api.Group{Tasks: tasks}).QuotaUse()); len(all) != 2 {
		t.Errorf("the greatest limits permit the job: %v", all)
	}
}

// TestObstaclesNameTheirQuota reads names from texts, also from texts of others.
func TestObstaclesNameTheirQuota(t *testing.T) {
	limit := 5
	none := -1
	room := api.QuotaRoom{Quota: "team", NodePool: "gpu", Limits: api.QuotaAmounts{&none, &limit}}
	all := room.Obstacles(api.QuotaUse{Cores: 4}, api.QuotaUse{CPU: 1, Cores: 2})
	if len(all) != 2 {
		t.Fatal(all)
	}
	for i, want := range []string{
		`quota "team": cpu not allowed in node pool "gpu"`, `quota "team": cores exhausted in node pool "gpu" (4 used + 2 asked > 5 limit)`,
	} {
		if got := all[i].Text(); got != want || api.QuotaInText(got) != "team" {
			t.Errorf("the text is %q, with the name %q; want %q", got, api.QuotaInText(got), want)
		}
	}
	for _, other := range []string{"", "memory", `quota "a b": x`, `the quota "a"`, `quota "`} {
		if got := api.QuotaInText(other); got != "" {
			t.Errorf("%q names %q", other, got)
		}
	}
	if n := room.Copies(api.QuotaUse{Cores: 1}, api.QuotaUse{Cores: 2}, 9); n != 2 {
		t.Errorf("%d copies fit", n)
	}
}
