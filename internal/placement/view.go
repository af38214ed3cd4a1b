// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package placement

import (
	"maps"
	"slices"

	"github.com/tidwall/btree"

	"github.com/reeve-run/reeve/api"
)

const (
	pageBits = 5
	pageSize = 1 << pageBits
	noClass  = -1

	// Pages are grouped in chapters, so that a view costs a pointer per 2,048 nodes.
	chapterBits = 6
	chapterSize = 1 << chapterBits
)

// A nodeClass holds the common properties of the nodes of one computed class. Any node of
// the class represents it.
type nodeClass struct {
	id   string
	node *api.Node
}

// A directory is one chapter of pages. No page has a later epoch than the directory.
type directory struct {
	epoch uint64
	pages [chapterSize]*page // nil at the end of the last chapter
}

// A page holds 32 nodes as a struct of arrays. Its own fields change with placements; the
// fields of nodeColumns change only with the nodes themselves.
type page struct {
	*nodeColumns
	epoch    uint64
	held     [pageSize]int32 // number of allocations that hold resources
	starting [pageSize]int32 // number of allocations that the node has not started yet
	used     [pageSize]api.Usage
	ports    [pageSize]*portSet    // taken on all addresses, including the node's reserved ports
	extra    [pageSize]*extraUsage // other resources in use; nil for most nodes
}

// A nodeColumns holds the nodes of a page. The entries of a slot without a node are zero,
// and its class is noClass.
type nodeColumns struct {
	since    uint64 // epoch of the columns
	ready    uint64 // bit i: allocations may be placed on nodes[i]
	nodes    [pageSize]*api.Node
	class    [pageSize]int32
	capacity [pageSize]api.Usage
}

func newPage(epoch uint64) *page {
	p := &page{epoch: epoch, nodeColumns: &nodeColumns{since: epoch}}
	for i := range p.class {
		p.class[i] = noClass
	}
	return p
}

// ownColumns copies the page's columns if a View shares them.
func (p *page) ownColumns() {
	if p.since != p.epoch {
		own := *p.nodeColumns
		own.since = p.epoch
		p.nodeColumns = &own
	}
}

// isReady reports whether allocations may be placed on the node at i.
func (p *page) isReady(i int) bool { return p.ready&(1<<i) != 0 }

func (p *page) setNode(i int, n *api.Node, class int32) {
	p.ownColumns()
	p.reserve(i, p.nodes[i], n)
	p.nodes[i], p.class[i] = n, class
	p.ready &^= 1 << i
	p.capacity[i] = api.Usage{}
	if n != nil {
		p.capacity[i] = n.Capacity()
		if n.IsReady() {
			p.ready |= 1 << i
		}
	}
}

// reserve replaces the old node's reserved ports with the new node's.
func (p *page) reserve(i int, old, new *api.Node) {
	if sameReservations(old, new) {
		return
	}
	o := p.at(i)
	eachReservation(old, o.unbind)
	eachReservation(new, o.bind)
	p.set(i, &o)
}

// hold adds (sign 1) or subtracts (sign -1) the allocation's resources: u, and more if its
// Holding says so.
func (p *page) hold(i int, a *api.Allocation, u api.Usage, more bool, sign int) {
	p.held[i] += int32(sign)
	o := p.at(i)
	o.holdMeasured(a, u, more, sign)
	p.set(i, &o)
}

func (p *page) set(i int, o *overlay) {
	p.used[i], p.starting[i], p.ports[i], p.extra[i] = o.used, o.starting, o.ports, o.extra
	if o.ownExtra && o.extra.empty() {
		p.extra[i] = nil
	}
}

func reservedPorts(n *api.Node) string {
	if n == nil || n.Reserved == nil {
		return ""
	}
	return n.Reserved.Networks.ReservedHostPorts
}

// eachReservation calls f for every port that the node reserves for itself.
func eachReservation(n *api.Node, f func(binding)) {
	if n == nil {
		return
	}
	eachPort(reservedPorts(n), func(port int) { f(binding{port: port}) })
	for _, network := range n.HostNetworks {
		if network != nil && network.Address != "" {
			eachPort(network.ReservedPorts, func(port int) { f(binding{network.Address, port}) })
		}
	}
}

func sameReservations(a, b *api.Node) bool {
	if reservedPorts(a) != reservedPorts(b) {
		return false
	}
	var of [2]map[string]*api.HostNetwork
	for i, n := range []*api.Node{a, b} {
		if n != nil {
			of[i] = n.HostNetworks
		}
	}
	return len(of[0])+len(of[1]) == 0 || maps.EqualFunc(of[0], of[1], func(a, b *api.HostNetwork) bool {
		return a == b || a != nil && b != nil && *a == *b
	})
}

// A View is the fleet at one moment. It never changes.
type View struct {
	chapters []*directory
	slots    *btree.Map[string, int32]
	classes  []*nodeClass
	counts   *classCounts
	ready    index
	nodes    int // number of assigned slots
	index    uint64

	cache       *feasibilityCache
	classesFrom uint64 // Fleet.classesFrom
	priorities  priorities
}

// View returns the current fleet. It costs a pointer per 2,048 nodes.
func (f *Fleet) View() *View {
	f.reindex()
	v := &View{
		chapters: slices.Clone(f.chapters), slots: f.slots.Copy(), classes: f.classes, counts: f.counts, ready: f.ready,
		nodes: f.nodes, index: f.index, cache: f.cache, classesFrom: f.classesFrom,
		priorities: f.priorities,
	}
	f.epoch++
	return v
}

// Live returns the fleet itself as a view, for reads that end before the fleet's next
// change. It costs nothing, now or at that change.
func (f *Fleet) Live() *View {
	return &View{chapters: f.chapters, slots: f.slots, classes: f.classes, nodes: f.nodes, index: f.index}
}

// Index returns the state index of the view.
func (v *View) Index() uint64 { return v.index }

// Node returns the node with that id, or nil.
func (v *View) Node(id string) *api.Node {
	if p, i := v.at(id); p != nil {
		return p.nodes[i]
	}
	return nil
}

// Used returns the resources that allocations hold on the node.
func (v *View) Used(nodeID string) api.Usage {
	if p, i := v.at(nodeID); p != nil {
		return p.used[i]
	}
	return api.Usage{}
}

// at returns the node's page and its index in it, or nil if the view has no such node.
func (v *View) at(nodeID string) (*page, int) {
	slot, ok := v.slots.Get(nodeID)
	if !ok {
		return nil, 0
	}
	return v.page(slot)
}

// page returns the slot's page and the index in it.
func (v *View) page(slot int32) (*page, int) {
	n := slot >> pageBits
	return v.chapters[n>>chapterBits].pages[n&(chapterSize-1)], int(slot & (pageSize - 1))
}

// eachPage calls f for every page and its first slot.
func (v *View) eachPage(f func(first int32, p *page)) {
	for n := range int32(v.nodes+pageSize-1) >> pageBits {
		f(n<<pageBits, v.chapters[n>>chapterBits].pages[n&(chapterSize-1)])
	}
}
