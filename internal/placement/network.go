// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package placement

import (
	"net"
	"slices"

	"github.com/reeve-run/reeve/api"
)

// A portRequest holds the ports that one instance of a group needs.
type portRequest struct {
	wants   []requestedPort
	numbers []int // numbers of wants; 0: the node picks one
	static  []int // ports that must be free on every address of the node
	dynamic int   // number of ports that the node picks
	group   []*api.Network
	tasks   map[string][]*api.Network // by task, for tasks with networks in their resources block
}

// A requestedPort is one port.
type requestedPort struct {
	number  int    // 0: any
	network string // host network of the port; "": all addresses
	shared  bool   // reports whether other allocations may use the same port
}

func newPortRequest(g *api.Group) *portRequest {
	a := &portRequest{group: g.Networks}
	a.add(g.Networks)
	for _, t := range g.Tasks {
		if t.Resources != nil && len(t.Resources.Networks) > 0 {
			if a.tasks == nil {
				a.tasks = make(map[string][]*api.Network)
			}
			a.tasks[t.Name] = t.Resources.Networks
			a.add(t.Resources.Networks)
		}
	}
	return a
}

// add appends the networks' ports in the order in which grant.networks consumes them.
func (a *portRequest) add(networks []*api.Network) {
	for _, n := range networks {
		for _, p := range n.ReservedPorts {
			a.want(&p, p.Value)
		}
		for _, p := range n.DynamicPorts {
			a.want(&p, 0)
		}
	}
}

func (a *portRequest) want(p *api.Port, number int) {
	w := requestedPort{number: number, shared: p.IgnoreCollision}
	if !isOwnNetwork(p.HostNetwork) {
		w.network = p.HostNetwork
	}
	a.wants, a.numbers = append(a.wants, w), append(a.numbers, number)
	switch {
	case number == 0:
		a.dynamic++
	case w.network == "" && !w.shared:
		a.static = append(a.static, number)
	}
}

// binding returns the node's binding for port i of wants with the given number.
func (a *portRequest) binding(n *api.Node, i, number int) binding {
	if network := a.wants[i].network; network != "" {
		return binding{hostAddress(n, network), number}
	}
	return binding{port: number}
}

// pick returns the port numbers for one instance, in the order of wants. It does not
// reserve them.
func (a *portRequest) pick(n *api.Node, o *overlay, random uint64) ([]int, bool) {
	if a.dynamic == 0 {
		return a.numbers, true
	}
	lo, hi := api.DynamicPortMin, api.DynamicPortMax
	if r := n.Resources; r != nil && r.MinDynamicPort > 0 && r.MaxDynamicPort >= r.MinDynamicPort {
		lo, hi = r.MinDynamicPort, min(r.MaxDynamicPort, 65535)
	}
	numbers := slices.Clone(a.numbers)
	start := lo + int(random%uint64(hi-lo+1))
	for i := range numbers {
		if numbers[i] > 0 {
			continue
		}
		number := o.freePort(a.binding(n, i, 0).address, lo, hi, start, numbers)
		if number == 0 {
			return nil, false
		}
		numbers[i] = number
		start = number + 1
	}
	return numbers, true
}

// freePort returns the first port of lo..hi that is free on the address ("": on all) and
// not among others. It searches from start and wraps around once. It returns 0 if no port
// is free.
func (o *overlay) freePort(address string, lo, hi, start int, others []int) int {
	if start < lo || start > hi {
		start = lo
	}
	for _, span := range [2][2]int{{start, hi}, {lo, start - 1}} {
		for port := span[0]; port <= span[1]; port++ {
			if port = o.ports.freeIn(port, span[1]); port == 0 {
				break
			}
			if !slices.Contains(others, port) && (o.extra == nil || !o.hasPort(binding{address, port})) {
				return port
			}
		}
	}
	return 0
}

// A template creates the resources of allocations. Instances share the parts that are
// equal.
type template struct {
	ask    *portRequest
	group  *api.Group
	shared *api.AllocatedResources
}

func newTemplate(g *api.Group, ask *portRequest, oversubscribe bool) *template {
	r := &api.AllocatedResources{
		Tasks:  make(map[string]*api.AllocatedTask, len(g.Tasks)),
		Shared: api.AllocatedShared{DiskMB: g.Usage().DiskMB},
	}
	for _, t := range g.Tasks {
		task := &api.AllocatedTask{}
		if t.Resources != nil {
			task.CPU.CPUShares = int64(value(t.Resources.CPU))
			memory, most := t.Resources.Memory()
			task.Memory.MemoryMB = int64(memory)
			if oversubscribe {
				task.Memory.MemoryMaxMB = int64(most)
			}
		}
		r.Tasks[t.Name] = task
	}
	return &template{ask: ask, group: g, shared: r}
}

func value(p *int) int {
	if p == nil {
		return 0
	}
	return *p
}

// on returns the resources of an instance on the node with the picked ports, cores and
// devices.
func (t *template) on(n *api.Node, s *resources, p *picked) *api.AllocatedResources {
	if len(t.ask.wants) == 0 && len(t.ask.group) == 0 && len(t.ask.tasks) == 0 && s == nil {
		return t.shared
	}
	g := &grant{node: n, ip: address(n), numbers: p.numbers}
	r := &api.AllocatedResources{Tasks: t.shared.Tasks, Shared: t.shared.Shared}
	r.Shared.Networks = g.networks(t.ask.group)
	r.Shared.Ports = g.mappings
	if len(t.ask.tasks) == 0 && (s == nil || s.cores+len(s.devices) == 0) {
		return r
	}
	r.Tasks = make(map[string]*api.AllocatedTask, len(t.shared.Tasks))
	for i, task := range t.group.Tasks {
		own := *t.shared.Tasks[task.Name]
		own.Networks = g.networks(t.ask.tasks[task.Name])
		if p.cores != nil && len(p.cores[i]) > 0 {
			own.CPU.ReservedCores = p.cores[i]
			own.CPU.CPUShares = int64(len(p.cores[i])) * n.Resources.CPU.PerCore()
		}
		for k, d := range p.devices {
			if s.devices[k].task == i {
				own.Devices = append(own.Devices, d)
			}
		}
		r.Tasks[task.Name] = &own
	}
	return r
}

// A grant assigns picked numbers to the ports that requested them.
type grant struct {
	node     *api.Node
	ip       string // the node's own address
	numbers  []int
	mappings []api.PortMapping
}

func (g *grant) networks(asked []*api.Network) []*api.Network {
	var given []*api.Network
	for _, a := range asked {
		n := *a
		n.IP = g.ip
		n.ReservedPorts = g.ports(a.ReservedPorts)
		n.DynamicPorts = g.ports(a.DynamicPorts)
		given = append(given, &n)
	}
	return given
}

func (g *grant) ports(asked []api.Port) []api.Port {
	var given []api.Port
	for _, p := range asked {
		p.Value, g.numbers = g.numbers[0], g.numbers[1:]
		if p.To == -1 {
			p.To = p.Value
		}
		given = append(given, p)
		m := api.PortMapping{Label: p.Label, Value: p.Value, To: p.To, HostIP: g.ip, IgnoreCollision: p.IgnoreCollision}
		if !isOwnNetwork(p.HostNetwork) {
			m.HostNetwork, m.HostIP = p.HostNetwork, hostAddress(g.node, p.HostNetwork)
		}
		g.mappings = append(g.mappings, m)
	}
	return given
}

// address returns the node's own address, on which ports are published.
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
