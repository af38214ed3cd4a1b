// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package placement

import (
	"fmt"
	"maps"
	"slices"

	"github.com/reeve-run/reeve/api"
)

// A Refusal is an allocation that cannot be committed to its node any more.
type Refusal struct {
	AllocID string
	NodeID  string
	Reason  string // in words, for operators
}

// Check says which of the allocations to place cannot be committed on the
// view's fleet: their node is gone or takes nothing new, has no room, or one of
// their ports, cores or devices is taken. Allocations that exist already (updates in place) are
// accepted while they hold what they held: existing returns the stored one of
// an id, or nil, in a state that is no older than the view: what an allocation
// preempts is room only as long as the view counts it as taken.
//
// What a refused allocation replaces (the one in its PreviousAllocation) must
// not be stopped either, unless that was lost.
func Check(v *View, place []*api.Allocation, existing func(id string) *api.Allocation) []Refusal {
	var refused []Refusal
	m := memories.Get().(*scratch)
	defer m.release()
	for _, a := range place {
		if a.CreateIndex > 0 { // it is not new
			if old := existing(a.ID); old != nil && old.NodeID == a.NodeID {
				continue
			}
		}
		if reason := check(v, m, a, existing); reason != "" {
			refused = append(refused, Refusal{AllocID: a.ID, NodeID: a.NodeID, Reason: reason})
		}
	}
	return refused
}

func check(v *View, m *scratch, a *api.Allocation, existing func(id string) *api.Allocation) string {
	slot, ok := v.slots.Get(a.NodeID)
	if !ok {
		return notRegistered
	}
	p, i := v.page(slot)
	if p.nodes[i] == nil {
		return notRegistered
	}
	if p.ready&(1<<i) == 0 {
		return notReadyReason(p.nodes[i])
	}
	t := m.touched[slot]
	if t == nil {
		t = m.overlay()
		*t = p.at(i)
		m.touched[slot] = t
	}
	u, more := a.Holding()
	held := t
	if len(a.PreemptedAllocations) > 0 {
		t = t.without(v, a, existing)
	}
	if dimension, ok := t.used.Add(u).Fits(p.capacity[i]); !ok {
		return "not enough " + dimension
	}
	if a.AllocatedResources != nil {
		if reason := t.portTaken(a.AllocatedResources); reason != "" {
			return reason
		}
		if more {
			if reason := t.collides(a.AllocatedResources, p.nodes[i]); reason != "" {
				return reason
			}
		}
	}
	held.holdMeasured(a, u, more, 1)
	return ""
}

// without is what is taken when what the allocation waits for has ended. That
// goes on holding its room until then, beside the allocation, so nobody else is
// placed there; a second one may wait for the same if there is room for both.
func (o *overlay) without(v *View, a *api.Allocation, existing func(id string) *api.Allocation) *overlay {
	rest := o.fork()
	for _, id := range a.PreemptedAllocations {
		if p := existing(id); p != nil && p.NodeID == a.NodeID && p.HoldsResources() && p.CreateIndex <= v.index {
			rest.hold(p, -1)
		}
	}
	return &rest
}

// portTaken tells which of the ports of the allocation's networks is taken, in
// words; "" if none.
func (o *overlay) portTaken(r *api.AllocatedResources) string {
	for i := range r.Shared.Ports {
		m := &r.Shared.Ports[i]
		if b := bindingOf(m); !m.IgnoreCollision && o.hasPort(b) {
			if b.address != "" {
				return fmt.Sprintf("port %d of %s is taken", b.port, b.address)
			}
			return fmt.Sprintf("port %d is taken", b.port)
		}
	}
	return ""
}

// collides tells what of the tasks' own ports, cores and devices is taken or
// not the node's to give, in words; "" if nothing.
func (o *overlay) collides(r *api.AllocatedResources, n *api.Node) (reason string) {
	rest := o.fork()
	for _, task := range slices.Sorted(maps.Keys(r.Tasks)) {
		t := r.Tasks[task]
		eachTaskPort(r, t, func(port int) {
			if o.hasPort(binding{port: port}) {
				reason = fmt.Sprintf("port %d is taken", port)
			}
		})
		for _, id := range t.CPU.ReservedCores {
			switch {
			case n.Resources == nil || !slices.Contains(n.Resources.CPU.ReservableCPUCores, id):
				return fmt.Sprintf("core %d of task %s is not the node's to reserve", id, task)
			case rest.hasCore(id):
				return fmt.Sprintf("core %d is taken", id)
			}
			rest.core(id, 1)
		}
		for _, d := range t.Devices {
			for _, id := range d.DeviceIDs {
				is := device{d.Vendor, d.Type, d.Name, id}
				switch {
				case !hasDevice(n, is):
					return fmt.Sprintf("device %s %s is gone or not healthy", deviceName(d.Vendor, d.Type, d.Name), id)
				case rest.hasDevice(is):
					return fmt.Sprintf("device %s %s is taken", deviceName(d.Vendor, d.Type, d.Name), id)
				}
				rest.device(is, 1)
			}
		}
	}
	return reason
}
