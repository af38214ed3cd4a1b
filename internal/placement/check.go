// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package placement

import (
	"fmt"
	"maps"
	"slices"

	"github.com/reeve-run/reeve/api"
)

// A Refusal is an allocation that can no longer be committed to its node.
type Refusal struct {
	AllocID string
	NodeID  string
	Reason  string // in words, for operators
}

// Check returns the allocations that cannot be committed on the view's fleet. The applier
// rejects an allocation if its node was removed or takes no new allocations, if the node lacks
// room, or if one of its ports, cores or devices is taken.
//
// Check accepts allocations that exist already (updates in place) while they stay on their
// node. existing returns the stored allocation with an id, or nil, from a state no older
// than the view. The resources of a preempted allocation count as room only if the view
// counts them as taken.
//
// If Check refuses an allocation, its predecessor (PreviousAllocation) must not be stopped
// either, unless the predecessor was lost.
func Check(v *View, place []*api.Allocation, existing func(id string) *api.Allocation) []Refusal {
	var refused []Refusal
	m := memories.Get().(*scratch)
	defer m.release()
	for _, a := range place {
		if a.CreateIndex > 0 { // an update in place
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
	u, more := m.measure.holding(a)
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

// without returns the overlay without the allocations that the new one preempts. These
// hold their resources until they end, and the new allocation is counted beside them, so
// no other allocation takes the room. A second allocation may wait for the same ones if
// the node has room for both.
func (o *overlay) without(v *View, a *api.Allocation, existing func(id string) *api.Allocation) *overlay {
	rest := o.fork()
	for _, id := range a.PreemptedAllocations {
		if p := existing(id); p != nil && p.NodeID == a.NodeID && p.HoldsResources() && p.CreateIndex <= v.index {
			rest.hold(p, -1)
		}
	}
	return &rest
}

// portTaken describes the first port of the allocation's networks that is taken, or
// returns "".
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

// collides describes a port, core or device of the tasks that is taken or does not belong
// to the node, or returns "".
func (o *overlay) collides(r *api.AllocatedResources, n *api.Node) (reason string) {
	if reason := o.volumeCollision(r, n); reason != "" {
		return reason
	}
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
					return fmt.Sprintf("device %s %s is missing or not healthy", deviceName(d.Vendor, d.Type, d.Name), id)
				case rest.hasDevice(is):
					return fmt.Sprintf("device %s %s is taken", deviceName(d.Vendor, d.Type, d.Name), id)
				}
				rest.device(is, 1)
			}
		}
	}
	return reason
}
