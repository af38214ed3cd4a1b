// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package placement

import (
	"net"

	"github.com/reeve-run/reeve/api"
)

// A portAsk is the ports that one instance of a group needs.
type portAsk struct {
	static  []int
	dynamic int
	group   []*api.Network            // the group's own
	tasks   map[string][]*api.Network // of tasks that ask in their resources block
}

func newPortAsk(g *api.Group) *portAsk {
	a := &portAsk{group: g.Networks}
	a.count(g.Networks)
	for _, t := range g.Tasks {
		if t.Resources != nil && len(t.Resources.Networks) > 0 {
			if a.tasks == nil {
				a.tasks = make(map[string][]*api.Network)
			}
			a.tasks[t.Name] = t.Resources.Networks
			a.count(t.Resources.Networks)
		}
	}
	return a
}

func (a *portAsk) count(networks []*api.Network) {
	for _, n := range networks {
		for _, p := range n.ReservedPorts {
			a.static = append(a.static, p.Value)
		}
		a.dynamic += len(n.DynamicPorts)
	}
}

// pick returns the numbers for one instance: the static ones, then a free one
// for every dynamic port. It does not take them.
func (a *portAsk) pick(n *api.Node, o *overlay, random uint64) ([]int, bool) {
	if a.dynamic == 0 {
		return a.static, true
	}
	lo, hi := api.DynamicPortMin, api.DynamicPortMax
	if r := n.Resources; r != nil && r.MinDynamicPort > 0 && r.MaxDynamicPort >= r.MinDynamicPort {
		lo, hi = r.MinDynamicPort, min(r.MaxDynamicPort, 65535)
	}
	ports := append(make([]int, 0, len(a.static)+a.dynamic), a.static...)
	start := lo + int(random%uint64(hi-lo+1))
	for range a.dynamic {
		port := o.ports.free(lo, hi, start)
		for first := port; port != 0 && contains(ports, port); {
			if port = o.ports.free(lo, hi, port+1); port == first {
				port = 0
			}
		}
		if port == 0 {
			return nil, false
		}
		ports = append(ports, port)
		start = port + 1
	}
	return ports, true
}

func contains(ports []int, port int) bool {
	for _, p := range ports {
		if p == port {
			return true
		}
	}
	return false
}

// A template makes the resources of allocations; what all instances have alike
// is shared between them.
type template struct {
	ask    *portAsk
	shared *api.AllocatedResources
}

func newTemplate(g *api.Group, ask *portAsk) *template {
	r := &api.AllocatedResources{
		Tasks:  make(map[string]*api.AllocatedTask, len(g.Tasks)),
		Shared: api.AllocatedShared{DiskMB: g.Usage().DiskMB},
	}
	for _, t := range g.Tasks {
		task := &api.AllocatedTask{}
		if t.Resources != nil {
			task.CPU.CPUShares = int64(value(t.Resources.CPU))
			task.Memory.MemoryMB = int64(value(t.Resources.MemoryMB))
			task.Memory.MemoryMaxMB = int64(value(t.Resources.MemoryMaxMB))
		}
		r.Tasks[t.Name] = task
	}
	return &template{ask: ask, shared: r}
}

func value(p *int) int {
	if p == nil {
		return 0
	}
	return *p
}

// on returns the resources of an instance with the ports on the node: numbers
// in the order of pick.
func (t *template) on(n *api.Node, ports []int) *api.AllocatedResources {
	if len(t.ask.group) == 0 && len(t.ask.tasks) == 0 {
		return t.shared
	}
	ip := address(n)
	g := &grant{ip: ip, static: ports[:len(t.ask.static)], dynamic: ports[len(t.ask.static):]}
	r := &api.AllocatedResources{Tasks: t.shared.Tasks, Shared: t.shared.Shared}
	r.Shared.Networks = g.networks(t.ask.group)
	r.Shared.Ports = g.mappings
	if len(t.ask.tasks) == 0 {
		return r
	}
	r.Tasks = make(map[string]*api.AllocatedTask, len(t.shared.Tasks))
	for name, task := range t.shared.Tasks {
		own := *task
		own.Networks = g.networks(t.ask.tasks[name])
		r.Tasks[name] = &own
	}
	return r
}

// A grant hands out picked numbers to the ports that asked for them.
type grant struct {
	ip       string
	static   []int
	dynamic  []int
	mappings []api.PortMapping
}

func (g *grant) networks(asked []*api.Network) []*api.Network {
	var given []*api.Network
	for _, a := range asked {
		n := *a
		n.IP = g.ip
		n.ReservedPorts = g.ports(a.ReservedPorts, &g.static)
		n.DynamicPorts = g.ports(a.DynamicPorts, &g.dynamic)
		given = append(given, &n)
	}
	return given
}

func (g *grant) ports(asked []api.Port, numbers *[]int) []api.Port {
	var given []api.Port
	for _, p := range asked {
		p.Value, *numbers = (*numbers)[0], (*numbers)[1:]
		if p.To == -1 {
			p.To = p.Value
		}
		given = append(given, p)
		g.mappings = append(g.mappings, api.PortMapping{Label: p.Label, Value: p.Value, To: p.To, HostIP: g.ip})
	}
	return given
}

// address is the node's own address, that ports are published on.
func address(n *api.Node) string {
	if n.Resources != nil {
		for _, network := range n.Resources.Networks {
			if network.IP != "" {
				return network.IP
			}
		}
	}
	if ip := n.Attributes["unique.network.ip-address"]; ip != "" {
		return ip
	}
	host, _, err := net.SplitHostPort(n.HTTPAddr)
	if err != nil {
		return n.HTTPAddr
	}
	return host
}
