// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package placement

import (
	"maps"
	"slices"

	"github.com/reeve-run/reeve/api"
)

// An overlay holds the resources taken on a node: those in the view, plus later changes.
// It is mutable. All code that counts the resources of allocations uses it, so that
// placement, the applier's check and preemption agree.
type overlay struct {
	used     api.Usage
	starting int32 // allocations that the node has not started yet
	ports    *portSet
	extra    *extraUsage // nil if none is taken
	own      bool        // reports whether ports may be changed
	ownExtra bool        // reports whether extra may be changed
}

// at returns the overlay of the page's node at i.
func (p *page) at(i int) overlay {
	return overlay{used: p.used[i], starting: p.starting[i], ports: p.ports[i], extra: p.extra[i]}
}

// fork returns a copy for trial changes.
func (o *overlay) fork() overlay {
	f := *o
	f.own, f.ownExtra = false, false
	return f
}

// An extraUsage holds the cores, devices and special ports taken on a node, beyond amounts
// and ordinary ports. Few nodes have one. It is immutable once it is part of a page.
type extraUsage struct {
	cores   []uint16            // cores reserved by tasks, sorted
	devices []device            // devices in use
	bound   map[string]*portSet // ports taken on one address only, by address
	shared  map[binding]int32   // number of holders of a port beyond the first
	volumes map[string]volumeUse
}

// A binding is a port of a node, on one of its addresses or, with address "", on all of
// them.
type binding struct {
	address string
	port    int
}

// A device is one instance of a node's devices.
type device struct{ vendor, kind, name, id string }

func (x *extraUsage) clone() *extraUsage {
	if x == nil {
		return &extraUsage{}
	}
	return &extraUsage{
		cores: slices.Clone(x.cores), devices: slices.Clone(x.devices),
		bound: maps.Clone(x.bound), shared: maps.Clone(x.shared), volumes: maps.Clone(x.volumes),
	}
}

// empty reports whether nothing is taken, so that no extraUsage is needed.
func (x *extraUsage) empty() bool {
	return len(x.cores)+len(x.devices)+len(x.bound)+len(x.shared)+len(x.volumes) == 0
}

// hasPort reports whether the binding collides with a taken one.
func (o *overlay) hasPort(b binding) bool {
	if o.ports.has(b.port) {
		return true
	}
	if o.extra == nil {
		return false
	}
	if b.address != "" {
		return o.extra.bound[b.address].has(b.port)
	}
	for _, ports := range o.extra.bound {
		if ports.has(b.port) {
			return true
		}
	}
	return false
}

func (o *overlay) hasCore(id uint16) bool {
	if o.extra == nil {
		return false
	}
	_, taken := slices.BinarySearch(o.extra.cores, id)
	return taken
}

func (o *overlay) hasDevice(d device) bool {
	return o.extra != nil && slices.Contains(o.extra.devices, d)
}

// hold adds (sign 1) or subtracts (sign -1) the allocation's resources.
func (o *overlay) hold(a *api.Allocation, sign int) {
	u, more := a.Holding()
	o.holdMeasured(a, u, more, sign)
}

// A measurement remembers the resources that were measured last. Most allocations of a job share
// their resources, so a run of them costs one measurement.
type measurement struct {
	of    *api.AllocatedResources
	usage api.Usage
	more  bool
}

// holding returns the allocation's Holding.
func (m *measurement) holding(a *api.Allocation) (u api.Usage, more bool) {
	if a.AllocatedResources != m.of {
		m.of = a.AllocatedResources
		m.usage, m.more = a.Holding()
	}
	return m.usage, m.more
}

// holdMeasured is hold for an allocation whose Holding is known.
func (o *overlay) holdMeasured(a *api.Allocation, u api.Usage, more bool, sign int) {
	set := o.bind
	if sign > 0 {
		o.used = o.used.Add(u)
	} else {
		o.used, set = o.used.Sub(u), o.unbind
	}
	if a.IsStarting() {
		o.starting += int32(sign)
	}
	r := a.AllocatedResources
	if r == nil {
		return
	}
	for i := range r.Shared.Ports {
		set(bindingOf(&r.Shared.Ports[i]))
	}
	if !more {
		return
	}
	for i := range r.Shared.Volumes {
		v := &r.Shared.Volumes[i]
		o.volume(volumeKey(v.Name, v.ID), v.ReadOnly, v.Exclusive, sign)
	}
	for _, t := range r.Tasks {
		eachTaskPort(r, t, func(port int) { set(binding{port: port}) })
		for _, id := range t.CPU.ReservedCores {
			o.core(id, sign)
		}
		for _, d := range t.Devices {
			for _, id := range d.DeviceIDs {
				o.device(device{d.Vendor, d.Type, d.Name, id}, sign)
			}
		}
	}
}

func (o *overlay) editableExtra() *extraUsage {
	if !o.ownExtra {
		o.extra, o.ownExtra = o.extra.clone(), true
	}
	return o.extra
}

func (o *overlay) core(id uint16, sign int) {
	x := o.editableExtra()
	if sign > 0 {
		at, _ := slices.BinarySearch(x.cores, id)
		x.cores = slices.Insert(x.cores, at, id)
	} else if at, ok := slices.BinarySearch(x.cores, id); ok {
		x.cores = slices.Delete(x.cores, at, at+1)
	}
}

func (o *overlay) device(d device, sign int) {
	x := o.editableExtra()
	if sign > 0 {
		x.devices = append(x.devices, d)
	} else if at := slices.Index(x.devices, d); at >= 0 {
		x.devices = slices.Delete(x.devices, at, at+1)
	}
}

// bind takes a port. If the port is taken already, bind counts one more holder.
func (o *overlay) bind(b binding) {
	if b.port <= 0 || b.port > 65535 {
		return
	}
	if b.address == "" {
		if o.ports.has(b.port) {
			o.share(b, 1)
			return
		}
		if !o.own {
			o.ports, o.own = o.ports.clone(), true
		}
		o.ports.add(b.port)
		return
	}
	x := o.editableExtra()
	if x.bound[b.address].has(b.port) {
		o.share(b, 1)
		return
	}
	if x.bound == nil {
		x.bound = make(map[string]*portSet)
	}
	ports := x.bound[b.address].clone()
	ports.add(b.port)
	x.bound[b.address] = ports
}

// unbind releases one holder of a port. The port is free when its last holder has released
// it.
func (o *overlay) unbind(b binding) {
	if o.extra != nil && o.extra.shared[b] > 0 {
		o.share(b, -1)
		return
	}
	if b.address == "" {
		if !o.ports.has(b.port) {
			return
		}
		if !o.own {
			o.ports, o.own = o.ports.clone(), true
		}
		o.ports.remove(b.port)
		return
	}
	if o.extra == nil || !o.extra.bound[b.address].has(b.port) {
		return
	}
	x := o.editableExtra()
	ports := x.bound[b.address].clone()
	ports.remove(b.port)
	if ports.isEmpty() {
		delete(x.bound, b.address)
	} else {
		x.bound[b.address] = ports
	}
}

func (o *overlay) share(b binding, n int32) {
	x := o.editableExtra()
	if x.shared == nil {
		x.shared = make(map[binding]int32)
	}
	if x.shared[b] += n; x.shared[b] <= 0 {
		delete(x.shared, b)
	}
}

// bindingOf returns the binding that the mapping takes on the node.
func bindingOf(m *api.PortMapping) binding {
	if isOwnNetwork(m.HostNetwork) {
		return binding{port: m.Value}
	}
	return binding{m.HostIP, m.Value}
}

// isOwnNetwork reports whether the host network is the node's own address.
func isOwnNetwork(name string) bool { return name == "" || name == api.HostNetworkDefault }

// eachTaskPort calls f for the ports in the task's own networks that are not among the
// allocation's ports.
func eachTaskPort(r *api.AllocatedResources, t *api.AllocatedTask, f func(port int)) {
	for _, n := range t.Networks {
		for _, ports := range [][]api.Port{n.ReservedPorts, n.DynamicPorts} {
			for _, p := range ports {
				if !slices.ContainsFunc(r.Shared.Ports, func(m api.PortMapping) bool { return m.Label == p.Label && m.Value == p.Value }) {
					f(p.Value)
				}
			}
		}
	}
}

// Ports returns the numbers of the node's ports that the allocation owns, sorted and
// without duplicates.
func Ports(a *api.Allocation) []int {
	r := a.AllocatedResources
	if r == nil {
		return nil
	}
	var ports []int
	for _, m := range r.Shared.Ports {
		ports = append(ports, m.Value)
	}
	for _, t := range r.Tasks {
		eachTaskPort(r, t, func(port int) { ports = append(ports, port) })
	}
	slices.Sort(ports)
	return slices.Compact(ports)
}
