// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"iter"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/server"
	"github.com/reeve-run/reeve/internal/state"
)

// allocationsByTime lists allocations, the oldest first.
var allocationsByTime = order[*api.Allocation]{
	key:   func(a *api.Allocation) key { return key{index: a.CreateIndex, id: a.ID} },
	dated: true,
}

func allocationModified(a *api.Allocation) uint64 { return a.ModifyIndex }

func listAllocations(c *call, v *state.Snapshot) iter.Seq[*api.Allocation] {
	return where(v.AllocationsPrefix(c.prefix), func(a *api.Allocation) bool { return c.inNamespace(a.Namespace) })
}

// showAllocation returns the stub, with the optional fields that the caller requests.
func showAllocation(c *call, _ *state.Snapshot, a *api.Allocation) *api.AllocationListStub {
	stub := a.Stub()
	if resources, _ := c.flag("resources"); resources {
		stub.AllocatedResources = a.AllocatedResources
	}
	if c.query.Get("task_states") == "false" {
		stub.TaskStates = nil
	}
	return stub
}

func getAllocation(c *call, v *state.Snapshot) (*api.Allocation, uint64, error) {
	a, err := findAllocation(v, c.id())
	if err != nil {
		return nil, v.TableIndex(c.route.Tables...), err
	}
	shown := a.Shown()
	shown.Images = v.ImagePinsOfAllocation(a)
	return shown, a.ModifyIndex, nil
}

func findAllocation(v *state.Snapshot, id string) (*api.Allocation, error) {
	return find("allocation", id, v.Allocation(id), v.AllocationsPrefix, func(a *api.Allocation) string { return a.ID })
}

func stopAllocation(c *call, _ *none) (*api.StopAllocationResponse, uint64, error) {
	var o server.StopOptions
	var err error
	if o.NoShutdownDelay, err = c.flag("no_shutdown_delay"); err != nil {
		return nil, 0, err
	}
	if o.Reschedule, err = c.flag("reschedule"); err != nil {
		return nil, 0, err
	}
	a, err := findAllocation(c.Server.Store().Snapshot(), c.id())
	if err != nil {
		return nil, 0, err
	}
	resp, err := c.Server.StopAllocation(c.r.Context(), a.ID, o)
	if err != nil {
		return nil, 0, err
	}
	return resp, resp.Index, nil
}
