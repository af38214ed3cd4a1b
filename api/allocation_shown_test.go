// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package api_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/reeve-run/reeve/api"
)

func TestEventDetailsAreAnObjectAlsoWithoutAny(t *testing.T) {
	for want, details := range map[string]api.EventDetails{`"Details":{},`: nil, `"Details":{"exit_code":"3"},`: {"exit_code": "3"}} {
		data, err := json.Marshal(&api.TaskEvent{Type: api.EventTerminated, Details: details})
		if err != nil || !strings.Contains(string(data), want) {
			t.Errorf("got %s, %v; want %s in it", data, err, want)
		}
	}
}

func TestShownAllocationLeavesTheStoredOneAlone(t *testing.T) {
	tasks := map[string]*api.AllocatedTask{
		"a": {CPU: api.AllocatedCPU{CPUShares: 100}, Memory: api.AllocatedMemory{MemoryMB: 10, MemoryMaxMB: 30}},
		"b": {CPU: api.AllocatedCPU{CPUShares: 50, ReservedCores: []uint16{1, 3}}, Memory: api.AllocatedMemory{MemoryMB: 20}},
	}
	a := &api.Allocation{ID: "x", Group: "g", AllocatedResources: &api.AllocatedResources{Tasks: tasks, Shared: api.AllocatedShared{DiskMB: 5}},
		Job: &api.Job{Groups: []*api.Group{{Name: "g", Tasks: []*api.Task{{Name: "a"}, {Name: "b", Lifecycle: &api.Lifecycle{Hook: "prestart"}}}}}}}
	shown := a.Shown()
	if r := shown.Resources; *r.CPU != 150 || *r.Cores != 2 || *r.MemoryMB != 30 || *r.MemoryMaxMB != 50 || *r.DiskMB != 5 {
		t.Errorf("it holds %d MHz, %d cores, %d to %d MB and %d MB of disk", *r.CPU, *r.Cores, *r.MemoryMB, *r.MemoryMaxMB, *r.DiskMB)
	}
	if l := shown.AllocatedResources.TaskLifecycles; len(l) != 2 || l["a"] != nil || l["b"].Hook != "prestart" {
		t.Errorf("the lifecycles are %v", l)
	}
	if a.Resources != nil || a.TaskResources != nil || a.SharedResources != nil || a.AllocatedResources.TaskLifecycles != nil {
		t.Errorf("the stored allocation was changed: %+v", a)
	}
	if r := (&api.Allocation{}).Shown(); r.AllocatedResources == nil || r.Resources.CPU == nil || r.Metrics == nil {
		t.Errorf("an allocation of which nothing is known is shown as %+v", r)
	}
}
