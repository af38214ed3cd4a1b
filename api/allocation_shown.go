// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package api

import "encoding/json"

// EventDetails holds details of a task's event, by name. Its JSON form is an object even
// if it is empty, because clients of Nomad's API index it.
type EventDetails map[string]string

// MarshalJSON encodes the details as an object.
func (d EventDetails) MarshalJSON() ([]byte, error) {
	if len(d) == 0 {
		return emptyObject, nil
	}
	return json.Marshal(map[string]string(d))
}

var emptyObject = []byte("{}")

// Shown returns the allocation as in API responses. It adds the resources in the older
// form of Nomad's API, which Nomad's command line reads without checking for presence.
func (a *Allocation) Shown() *Allocation {
	c := a.Copy()
	held := AllocatedResources{}
	if a.AllocatedResources != nil {
		held = *a.AllocatedResources
	}
	if held.Tasks == nil {
		held.Tasks = map[string]*AllocatedTask{}
	}
	held.TaskLifecycles = a.taskLifecycles(held.Tasks)
	c.AllocatedResources = &held
	c.SharedResources = olderResources(AllocatedTask{}, held.Shared.DiskMB, held.Shared.Networks)
	c.TaskResources = make(map[string]*Resources, len(held.Tasks))
	var sum AllocatedTask
	networks := held.Shared.Networks
	for name, t := range held.Tasks {
		c.TaskResources[name] = olderResources(*t, 0, t.Networks)
		sum.CPU.CPUShares += t.CPU.CPUShares
		sum.CPU.ReservedCores = append(sum.CPU.ReservedCores, t.CPU.ReservedCores...)
		sum.Memory.MemoryMB += t.Memory.MemoryMB
		sum.Memory.MemoryMaxMB += max(t.Memory.MemoryMB, t.Memory.MemoryMaxMB)
		if len(networks) == 0 {
			networks = t.Networks
		}
	}
	c.Resources = olderResources(sum, held.Shared.DiskMB, networks)
	if c.Metrics == nil {
		c.Metrics = &PlacementMetrics{}
	}
	return c
}

// taskLifecycles returns the lifecycle of each task, nil for a main task.
func (a *Allocation) taskLifecycles(tasks map[string]*AllocatedTask) map[string]*Lifecycle {
	all := make(map[string]*Lifecycle, len(tasks))
	for name := range tasks {
		all[name] = nil
	}
	if a.Job == nil || a.Job.Group(a.Group) == nil {
		return all
	}
	for _, t := range a.Job.Group(a.Group).Tasks {
		all[t.Name] = t.Lifecycle
	}
	return all
}

// olderResources sets every number, because readers of this form dereference all pointers.
func olderResources(t AllocatedTask, disk int64, networks []*Network) *Resources {
	number := func(n int64) *int {
		v := int(n)
		return &v
	}
	return &Resources{
		CPU: number(t.CPU.CPUShares), Cores: number(int64(len(t.CPU.ReservedCores))),
		MemoryMB: number(t.Memory.MemoryMB), MemoryMaxMB: number(t.Memory.MemoryMaxMB),
		DiskMB: number(disk), SecretsMB: number(0), IOPS: number(0), Networks: networks,
	}
}
