// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package placement

import (
	"fmt"
	"slices"

	"github.com/reeve-run/reeve/api"
)

// A resources holds the needs of one instance of a group beyond amounts and ordinary
// ports: reserved cores and devices of its tasks, and ports on one of the node's networks.
// It is nil for a group without such needs, and methods on nil do nothing.
//
// A resources has few entries and belongs to one goroutine, because a pass does. It
// therefore contains the buffers for evaluating a node.
type resources struct {
	cores    int   // total over all tasks
	byTask   []int // cores, in the order of the group's tasks
	devices  []*deviceRequest
	networks []string // host networks of the requested ports
	static   []requestedPort

	found           map[string]classMatches // by computed class
	free            []int                   // free devices by the node's device group
	assignedDevices []deviceMatch           // assigned device group by device block
}

// newResources returns the group's needs, or nil if the group has none.
func newResources(g *api.Group, ask *portRequest) *resources {
	s := &resources{}
	for i, t := range g.Tasks {
		if t.Resources == nil {
			continue
		}
		if n := value(t.Resources.Cores); n > 0 {
			if s.byTask == nil {
				s.byTask = make([]int, len(g.Tasks))
			}
			s.byTask[i] = n
			s.cores += n
		}
		for _, d := range t.Resources.Devices {
			if a := newDeviceRequest(i, d); a.count > 0 {
				s.devices = append(s.devices, a)
			}
		}
	}
	for _, w := range ask.wants {
		if w.network == "" {
			continue
		}
		if !slices.Contains(s.networks, w.network) {
			s.networks = append(s.networks, w.network)
		}
		if w.number > 0 && !w.shared {
			s.static = append(s.static, w)
		}
	}
	if s.cores == 0 && len(s.devices) == 0 && len(s.networks) == 0 {
		return nil
	}
	s.assignedDevices = make([]deviceMatch, len(s.devices))
	return s
}

// mismatch returns what makes every node of n's class infeasible, in words, or "".
func (s *resources) mismatch(n *api.Node) string {
	if s == nil {
		return ""
	}
	if reasons := s.mismatches(n); len(reasons) > 0 {
		return reasons[0]
	}
	return ""
}

// mismatches is mismatch for all obstacles.
func (s *resources) mismatches(n *api.Node) (reasons []string) {
	if s == nil {
		return nil
	}
	for _, a := range s.devices {
		if reason := a.unmet(n); reason != "" {
			reasons = append(reasons, reason)
		}
	}
	for _, name := range s.networks {
		if hostAddress(n, name) == "" {
			reasons = append(reasons, "missing host network: "+name)
		}
	}
	return reasons
}

// shortages is shortage for all obstacles, with the missing amounts.
func (s *resources) shortages(n *api.Node, o *overlay) (all []api.Obstacle) {
	if s == nil {
		return nil
	}
	if s.cores > 0 && n.Resources != nil {
		free := 0
		for _, id := range n.Resources.CPU.ReservableCPUCores {
			if !o.hasCore(id) {
				free++
			}
		}
		if free < s.cores {
			all = append(all, api.Obstacle{
				Filter: api.FilterResource, Reason: "not enough cores", Dimension: "cores", Needed: int64(s.cores), Free: int64(free),
			})
		}
	}
	for _, w := range s.static {
		if address := hostAddress(n, w.network); address != "" && o.hasPort(binding{address, w.number}) {
			all = append(all, api.Obstacle{Filter: api.FilterPort, Reason: fmt.Sprintf("port %d of %s is taken", w.number, address)})
		}
	}
	if len(s.mismatches(n)) > 0 {
		return all // the devices do not meet the request even when free
	}
	if missing, ok := s.assignDevices(n, o); !ok {
		all = append(all, api.Obstacle{Filter: api.FilterResource, Reason: "not enough free devices: " + missing.name})
	}
	return all
}

// demand adds the amounts that depend on the node: a core counts with its share of the
// node's MHz.
func (s *resources) demand(u api.Usage, n *api.Node) api.Usage {
	if s != nil && s.cores > 0 && n.Resources != nil {
		u.CPU += int64(s.cores) * n.Resources.CPU.PerCore()
	}
	return u
}

// shortage names the resource that the node lacks, or returns "".
func (s *resources) shortage(n *api.Node, o *overlay) string {
	if s == nil {
		return ""
	}
	if s.cores > 0 && !hasCores(n, o, s.cores) {
		return "cores"
	}
	for _, w := range s.static {
		if o.hasPort(binding{hostAddress(n, w.network), w.number}) {
			return "network: reserved port collision on " + w.network
		}
	}
	if missing, ok := s.assignDevices(n, o); !ok {
		return "devices: " + missing.name
	}
	return ""
}

// score returns the score of the devices that the node can give, from -1 to 1.
func (s *resources) score(n *api.Node, o *overlay) float64 {
	if s == nil || !s.hasAffinities() {
		return 0
	}
	if _, ok := s.assignDevices(n, o); !ok {
		return 0
	}
	sum, n2 := 0.0, 0
	for i, a := range s.devices {
		if len(a.wishes) > 0 {
			sum += s.assignedDevices[i].score
			n2++
		}
	}
	return sum / float64(n2)
}

func (s *resources) hasAffinities() bool {
	return slices.ContainsFunc(s.devices, func(a *deviceRequest) bool { return len(a.wishes) > 0 })
}

// A picked holds the resources of a node that one instance gets: port numbers in the order
// of its portRequest, cores by task, devices by block.
type picked struct {
	numbers []int
	cores   [][]uint16
	devices []*api.AllocatedDevice
}

// pick chooses cores and devices. It does not reserve them.
func (s *resources) pick(n *api.Node, o *overlay, p *picked) bool {
	if s == nil {
		return true
	}
	if s.cores > 0 {
		ids := freeCores(n, o, s.cores)
		if len(ids) < s.cores {
			return false
		}
		p.cores = make([][]uint16, len(s.byTask))
		for i, count := range s.byTask {
			p.cores[i], ids = ids[:count:count], ids[count:]
		}
	}
	if len(s.devices) > 0 {
		if _, ok := s.assignDevices(n, o); !ok {
			return false
		}
		p.devices = s.pickDevices(n, o)
	}
	return true
}

// hasCores reports whether count of the node's cores are free.
func hasCores(n *api.Node, o *overlay, count int) bool {
	if n.Resources == nil {
		return false
	}
	for _, id := range n.Resources.CPU.ReservableCPUCores {
		if !o.hasCore(id) {
			if count--; count == 0 {
				return true
			}
		}
	}
	return false
}

// freeCores returns the node's first count free cores.
func freeCores(n *api.Node, o *overlay, count int) []uint16 {
	ids := make([]uint16, 0, count)
	for _, id := range n.Resources.CPU.ReservableCPUCores {
		if len(ids) < count && !o.hasCore(id) {
			ids = append(ids, id)
		}
	}
	return ids
}

// hold adds the picked resources of one more instance to the overlay.
func (b *batch) hold(o *overlay, n *api.Node, p *picked) {
	o.used = o.used.Add(b.demandOn(n))
	o.starting++
	for i, number := range p.numbers {
		o.bind(b.ask.binding(n, i, number))
	}
	for _, ids := range p.cores {
		for _, id := range ids {
			o.core(id, 1)
		}
	}
	for _, d := range p.devices {
		for _, id := range d.DeviceIDs {
			o.device(device{d.Vendor, d.Type, d.Name, id}, 1)
		}
	}
}

// hostAddress returns the node's address in a host network, or "" if the node is not in
// it.
func hostAddress(n *api.Node, network string) string {
	if h := n.HostNetworks[network]; h != nil {
		return h.Address
	}
	return ""
}

// variesByNode reports whether the amounts that an instance takes depend on the node.
func (s *resources) variesByNode() bool { return s != nil && s.cores > 0 }
