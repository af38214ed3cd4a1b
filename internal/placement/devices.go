// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package placement

import (
	"cmp"
	"slices"
	"strings"

	"github.com/reeve-run/reeve/api"
)

// deviceName returns a device group's name as jobs write it.
func deviceName(vendor, kind, name string) string { return vendor + "/" + kind + "/" + name }

// hasDevice reports whether the node has the device and the device is healthy.
func hasDevice(n *api.Node, d device) bool {
	if n.Resources == nil {
		return false
	}
	for _, g := range n.Resources.Devices {
		if g == nil || g.Vendor != d.vendor || g.Type != d.kind || g.Name != d.name {
			continue
		}
		if slices.ContainsFunc(g.Instances, func(i *api.NodeDevice) bool { return i != nil && i.ID == d.id && i.Healthy }) {
			return true
		}
	}
	return false
}

// A deviceRequest is one device block of a task.
type deviceRequest struct {
	task       int // index of the task in the group
	name       string
	count      int
	conditions []*deviceCondition
	wishes     []deviceAffinity
}

// A deviceAffinity is an affinity of a device block.
type deviceAffinity struct {
	*deviceCondition
	weight float64 // share of all weights, -1..1
}

func newDeviceRequest(task int, r *api.DeviceRequest) *deviceRequest {
	a := &deviceRequest{task: task, name: r.Name, count: 1}
	if r.Count != nil {
		a.count = int(*r.Count)
	}
	for _, c := range r.Constraints {
		a.conditions = append(a.conditions, newDeviceCondition(c.LTarget, c.Operand, c.RTarget))
	}
	total := 0.0
	for _, w := range r.Affinities {
		total += max(weightOf(w), -weightOf(w))
	}
	for _, w := range r.Affinities {
		if weight := weightOf(w); weight != 0 {
			a.wishes = append(a.wishes, deviceAffinity{newDeviceCondition(w.LTarget, w.Operand, w.RTarget), weight / total})
		}
	}
	return a
}

// names reports whether the block's name, "type", "vendor/type" or "vendor/type/model",
// matches the device group.
func (a *deviceRequest) names(g *api.NodeDeviceGroup) bool {
	switch strings.Count(a.name, "/") {
	case 0:
		return a.name == g.Type
	case 1:
		vendor, kind, _ := strings.Cut(a.name, "/")
		return vendor == g.Vendor && kind == g.Type
	}
	vendor, rest, _ := strings.Cut(a.name, "/")
	kind, model, _ := strings.Cut(rest, "/")
	return vendor == g.Vendor && kind == g.Type && model == g.Name
}

// unmet returns why no device of the node can meet the request, in words, or "" if one
// can. Devices in use count as well.
func (a *deviceRequest) unmet(n *api.Node) string {
	reason := "missing devices: " + a.name
	if n.Resources == nil {
		return reason
	}
	for _, g := range n.Resources.Devices {
		if g == nil || !a.names(g) {
			continue
		}
		words := a.refuses(g)
		if words == "" {
			return ""
		}
		reason = "device " + a.name + ": " + words
	}
	return reason
}

// refuses returns the first constraint that the devices do not meet, or "".
func (a *deviceRequest) refuses(g *api.NodeDeviceGroup) string {
	for _, c := range a.conditions {
		if !c.holds(g) {
			return c.words
		}
	}
	return ""
}

// A deviceMatch is a device group that meets a block, and its score.
type deviceMatch struct {
	group int // index among the node's groups
	score float64
}

// matches lists, for each block, the node's device groups that meet it, best first. Apart
// from the order of the devices, the result depends only on the node's class.
func (s *resources) matches(n *api.Node) [][]deviceMatch {
	if n.ComputedClass != "" {
		if m, ok := s.found[n.ComputedClass]; ok && m.of(n) {
			return m.matches
		}
	}
	m := classMatches{matches: make([][]deviceMatch, len(s.devices))}
	for i, g := range n.Resources.Devices {
		m.names = append(m.names, device{g.Vendor, g.Type, g.Name, ""})
		for k, a := range s.devices {
			if !a.names(g) || a.refuses(g) != "" {
				continue
			}
			match := deviceMatch{group: i}
			for _, w := range a.wishes {
				if w.holds(g) {
					match.score += w.weight
				}
			}
			m.matches[k] = append(m.matches[k], match)
		}
	}
	for _, list := range m.matches {
		slices.SortStableFunc(list, func(a, b deviceMatch) int { return cmp.Compare(b.score, a.score) })
	}
	if s.found == nil {
		s.found = make(map[string]classMatches)
	}
	s.found[n.ComputedClass] = m
	return m.matches
}

// classMatches holds the matches of a node class and the order of devices that they refer
// to.
type classMatches struct {
	names   []device
	matches [][]deviceMatch
}

func (m classMatches) of(n *api.Node) bool {
	return slices.EqualFunc(m.names, n.Resources.Devices, func(d device, g *api.NodeDeviceGroup) bool {
		return d.vendor == g.Vendor && d.kind == g.Type && d.name == g.Name
	})
}

// assignDevices chooses the device group of the node for each device block: s.assignedDevices[i] is
// the group of block i. If the node cannot serve all blocks together, assignDevices
// returns the first block that it cannot serve alone, or else the last block.
func (s *resources) assignDevices(n *api.Node, o *overlay) (missing *deviceRequest, ok bool) {
	if len(s.devices) == 0 {
		return nil, true
	}
	if n.Resources == nil || len(n.Resources.Devices) == 0 {
		return s.devices[0], false
	}
	s.free = s.free[:0]
	for _, g := range n.Resources.Devices {
		free := 0
		for _, i := range g.Instances {
			if i.Healthy && !o.hasDevice(device{g.Vendor, g.Type, g.Name, i.ID}) {
				free++
			}
		}
		s.free = append(s.free, free)
	}
	matches := s.matches(n)
	if s.assignDevicesFrom(0, matches) {
		return nil, true
	}
	for i, a := range s.devices {
		if !slices.ContainsFunc(matches[i], func(m deviceMatch) bool { return s.free[m.group] >= a.count }) {
			return a, false
		}
	}
	return s.devices[len(s.devices)-1], false
}

// assignDevicesFrom serves block i and all later blocks. It tries the best group of each
// block first.
func (s *resources) assignDevicesFrom(i int, matches [][]deviceMatch) bool {
	if i == len(s.devices) {
		return true
	}
	a := s.devices[i]
	for _, m := range matches[i] {
		if s.free[m.group] < a.count {
			continue
		}
		s.free[m.group] -= a.count
		s.assignedDevices[i] = m
		ok := s.assignDevicesFrom(i+1, matches)
		s.free[m.group] += a.count
		if ok {
			return true
		}
	}
	return false
}

// pickDevices picks free devices for each block from its assigned group, in the order of
// the node's list. It does not reserve them.
func (s *resources) pickDevices(n *api.Node, o *overlay) []*api.AllocatedDevice {
	var given []*api.AllocatedDevice
	for i, a := range s.devices {
		g := n.Resources.Devices[s.assignedDevices[i].group]
		d := &api.AllocatedDevice{Vendor: g.Vendor, Type: g.Type, Name: g.Name, DeviceIDs: make([]string, 0, a.count)}
		for _, instance := range g.Instances {
			if len(d.DeviceIDs) == a.count {
				break
			}
			if instance.Healthy && !o.hasDevice(device{g.Vendor, g.Type, g.Name, instance.ID}) && !isGiven(given, d, instance.ID) {
				d.DeviceIDs = append(d.DeviceIDs, instance.ID)
			}
		}
		given = append(given, d)
	}
	return given
}

func isGiven(given []*api.AllocatedDevice, d *api.AllocatedDevice, id string) bool {
	return slices.ContainsFunc(given, func(g *api.AllocatedDevice) bool {
		return g.Vendor == d.Vendor && g.Type == d.Type && g.Name == d.Name && slices.Contains(g.DeviceIDs, id)
	})
}
