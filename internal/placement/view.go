// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package placement

import (
	"slices"

	"github.com/tidwall/btree"

	"github.com/reeve-run/reeve/api"
)

const (
	pageBits = 6
	pageSize = 1 << pageBits
	noKind   = -1
)

// A kind is what nodes of one computed class have in common; any of them
// stands for all.
type kind struct {
	class string
	node  *api.Node
}

// A page is 64 nodes as a struct of arrays. An array entry of a slot without a
// node is zero, its kind noKind.
type page struct {
	epoch    uint64
	ready    uint64 // bit i: allocations may be placed on nodes[i]
	nodes    [pageSize]*api.Node
	kind     [pageSize]int32
	held     [pageSize]int32 // allocations that hold something
	capacity [pageSize]api.Usage
	used     [pageSize]api.Usage
	ports    [pageSize]*portSet // taken, the node's own reserved ones too
}

func newPage(epoch uint64) *page {
	p := &page{epoch: epoch}
	for i := range p.kind {
		p.kind[i] = noKind
	}
	return p
}

func (p *page) setNode(i int, n *api.Node, kind int32) {
	p.reserve(i, p.nodes[i], n)
	p.nodes[i], p.kind[i] = n, kind
	p.ready &^= 1 << i
	p.capacity[i] = api.Usage{}
	if n != nil {
		p.capacity[i] = n.Capacity()
		if n.IsReady() {
			p.ready |= 1 << i
		}
	}
}

// reserve replaces the old node's reserved ports by the new one's.
func (p *page) reserve(i int, old, new *api.Node) {
	was, is := reservedPorts(old), reservedPorts(new)
	if was == is {
		return
	}
	ports := p.ports[i].clone()
	eachPort(was, ports.remove)
	eachPort(is, ports.add)
	p.ports[i] = ports
}

func reservedPorts(n *api.Node) string {
	if n == nil || n.Reserved == nil {
		return ""
	}
	return n.Reserved.Networks.ReservedHostPorts
}

func (p *page) hold(i int, a *api.Allocation, sign int64) {
	p.held[i] += int32(sign)
	if sign > 0 {
		p.used[i] = p.used[i].Add(a.Usage())
	} else {
		p.used[i] = p.used[i].Sub(a.Usage())
	}
	taken := Ports(a)
	if len(taken) == 0 {
		return
	}
	ports := p.ports[i].clone()
	for _, port := range taken {
		if sign > 0 {
			ports.add(port)
		} else {
			ports.remove(port)
		}
	}
	if sign < 0 {
		eachPort(reservedPorts(p.nodes[i]), ports.add)
	}
	p.ports[i] = ports
}

// Ports are the numbers of the node's ports that the allocation owns.
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
		for _, n := range t.Networks {
			for _, p := range n.ReservedPorts {
				ports = append(ports, p.Value)
			}
			for _, p := range n.DynamicPorts {
				ports = append(ports, p.Value)
			}
		}
	}
	slices.Sort(ports)
	return slices.Compact(ports)
}

// A View is the fleet at one moment. It never changes.
type View struct {
	pages []*page
	slots *btree.Map[string, int32]
	kinds []*kind
	nodes int
	index uint64
}

// View returns the fleet as it is now. Its cost is a pointer per 64 nodes.
func (f *Fleet) View() *View {
	v := &View{
		pages: slices.Clone(f.pages), slots: f.slots.Copy(), kinds: f.kinds,
		nodes: f.nodes, index: f.index,
	}
	f.epoch++
	return v
}

// Index is the state index that the view stands at.
func (v *View) Index() uint64 { return v.index }

// Node returns the node of that id, or nil.
func (v *View) Node(id string) *api.Node {
	if p, i := v.at(id); p != nil {
		return p.nodes[i]
	}
	return nil
}

// Used is what allocations hold on the node.
func (v *View) Used(nodeID string) api.Usage {
	if p, i := v.at(nodeID); p != nil {
		return p.used[i]
	}
	return api.Usage{}
}

// at finds the node's page and its place in it; nil if there is none.
func (v *View) at(nodeID string) (*page, int) {
	slot, ok := v.slots.Get(nodeID)
	if !ok {
		return nil, 0
	}
	return v.pages[slot>>pageBits], int(slot & (pageSize - 1))
}
