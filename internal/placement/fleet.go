// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package placement

import (
	"iter"
	"maps"
	"slices"

	"github.com/tidwall/btree"

	"github.com/reeve-run/reeve/api"
)

// A Source provides the initial content of a fleet. A state.Snapshot is a Source.
type Source interface {
	Index() uint64
	Nodes() iter.Seq[*api.Node]
	Allocations() iter.Seq[*api.Allocation]
}

// A Fleet holds the current nodes and the resources taken on each. The change feed keeps
// it current. One goroutine at a time may call its methods; any goroutine may use a View.
type Fleet struct {
	chapters       []*directory
	epoch          uint64 // grows with each View; data of an older epoch is shared with a View
	slots          *btree.Map[string, int32]
	free           []int32 // slots of removed nodes
	nodes          int
	classes        []*nodeClass // append-only until renumbered, because views share it
	classIndex     map[string]int32
	counts         *classCounts
	indexPositions []indexPosition // by slot
	stale          []int32         // slots that reindex must update
	ready          index
	cache          *feasibilityCache
	// classesFrom changes whenever classes are renumbered. Class numbers compare only
	// within one classesFrom.
	classesFrom uint64
	reserved    map[string]*api.Allocation // proposed, not yet in the change feed
	index       uint64
	priorities  priorities
	measure     measurement
}

// NewFleet returns a fleet with the content of the source.
func NewFleet(src Source) *Fleet {
	f := &Fleet{
		slots:      new(btree.Map[string, int32]),
		classIndex: make(map[string]int32),
		reserved:   make(map[string]*api.Allocation),
		counts:     &classCounts{}, cache: &feasibilityCache{byKey: make(map[string]*feasibility)},
	}
	for n := range src.Nodes() {
		f.Change((*api.Node)(nil), n)
	}
	for a := range src.Allocations() {
		f.Change((*api.Allocation)(nil), a)
	}
	f.index = src.Index()
	return f
}

// SetIndex sets the state index up to which the fleet has received changes.
func (f *Fleet) SetIndex(index uint64) { f.index = index }

// Index returns the state index that the fleet has reached.
func (f *Fleet) Index() uint64 { return f.index }

// Change applies one changed object, given by its old and new value: nil (or a nil
// pointer) for none. Only nodes and allocations matter. Pass every change exactly once, in
// order: a change whose old value the fleet has not seen corrupts its counts.
func (f *Fleet) Change(old, new any) {
	switch o, n := old, new; {
	case isA[*api.Node](o, n):
		was, _ := o.(*api.Node)
		is, _ := n.(*api.Node)
		f.changeNode(was, is)
	case isA[*api.Allocation](o, n):
		was, _ := o.(*api.Allocation)
		is, _ := n.(*api.Allocation)
		f.changeAllocation(was, is)
	}
}

func isA[T any](old, new any) bool {
	_, a := old.(T)
	_, b := new.(T)
	return a || b
}

func (f *Fleet) changeNode(old, new *api.Node) {
	if new != nil {
		p, i := f.at(f.slot(new.ID))
		class := f.classOf(new) // may renumber the classes
		if p.class[i] == class && p.isReady(i) == new.IsReady() {
			p.setNode(i, new, class)
			return
		}
		f.countNode(p, i, -1)
		p.setNode(i, new, class)
		f.countNode(p, i, 1)
		return
	}
	if old == nil {
		return
	}
	slot, ok := f.slots.Get(old.ID)
	if !ok {
		return
	}
	p, i := f.at(slot)
	f.countNode(p, i, -1)
	p.setNode(i, nil, noClass)
	f.forget(old.ID, slot)
}

func (f *Fleet) changeAllocation(old, new *api.Allocation) {
	if new != nil {
		if r, ok := f.reserved[new.ID]; ok {
			delete(f.reserved, new.ID)
			if old == nil && holdAlike(r, new) {
				return
			}
			f.hold(r, -1)
		}
	}
	if old != nil && old.HoldsResources() {
		f.hold(old, -1)
	}
	if new != nil && new.HoldsResources() {
		f.hold(new, 1)
	}
}

// holdAlike reports whether a and b certainly hold the same resources. A reserved
// allocation is nearly always the one that is then placed, so nothing has to be counted
// again.
func holdAlike(a, b *api.Allocation) bool {
	if a.NodeID != b.NodeID || a.IsStarting() != b.IsStarting() || !a.HoldsResources() || !b.HoldsResources() {
		return false
	}
	r, s := a.AllocatedResources, b.AllocatedResources
	if r == s {
		return true
	}
	u, more := a.Holding()
	v, evenMore := b.Holding()
	return u == v && !more && !evenMore && r != nil && s != nil && slices.Equal(r.Shared.Ports, s.Shared.Ports)
}

// Reserve counts placements that passed the check and are being proposed, so that later
// views include them. The change feed takes over each reservation. If the proposal fails,
// call Release.
func (f *Fleet) Reserve(place []*api.Allocation) {
	for _, a := range place {
		if _, ok := f.reserved[a.ID]; !ok {
			f.reserved[a.ID] = a
			f.hold(a, 1)
		}
	}
}

// Release drops reservations that the change feed has not taken over. It reports whether
// any was dropped.
func (f *Fleet) Release(place []*api.Allocation) (dropped bool) {
	for _, a := range place {
		if r, ok := f.reserved[a.ID]; ok {
			delete(f.reserved, a.ID)
			f.hold(r, -1)
			dropped = true
		}
	}
	return dropped
}

// Reserved yields the reservations that the change feed has not taken over.
func (f *Fleet) Reserved() iter.Seq[*api.Allocation] { return maps.Values(f.reserved) }

// IsReserved reports whether the change feed has not taken over the reservation of an
// allocation, and nothing released it.
func (f *Fleet) IsReserved(id string) bool { return f.reserved[id] != nil }

// hold adds (sign 1) or subtracts (sign -1) the allocation's resources on its node.
func (f *Fleet) hold(a *api.Allocation, sign int) {
	slot := f.slot(a.NodeID)
	p, i := f.at(slot)
	u, more := f.measure.holding(a)
	p.hold(i, a, u, more, sign)
	f.priorities.count(a, sign)
	if sign < 0 && p.nodes[i] == nil {
		f.forget(a.NodeID, slot)
	}
}

// slot returns the node's slot and creates one for an unknown node, because an allocation
// may outlive the record of its node.
func (f *Fleet) slot(nodeID string) int32 {
	if slot, ok := f.slots.Get(nodeID); ok {
		return slot
	}
	var slot int32
	if n := len(f.free); n > 0 {
		slot, f.free = f.free[n-1], f.free[:n-1]
	} else {
		slot = int32(f.nodes)
		f.nodes++
		if int(slot)>>(pageBits+chapterBits) == len(f.chapters) {
			f.chapters = append(f.chapters, &directory{epoch: f.epoch})
		}
	}
	f.slots.Set(nodeID, slot)
	return slot
}

// forget frees the slot of a node without a record once no allocation holds anything
// there.
func (f *Fleet) forget(nodeID string, slot int32) {
	if p, i := f.at(slot); p.held[i] == 0 {
		f.slots.Delete(nodeID)
		f.free = append(f.free, slot)
	}
}

// at returns the slot's page, copied if a View shares it, and the index in the page.
func (f *Fleet) at(slot int32) (*page, int) {
	f.touch(slot)
	n := slot >> pageBits
	c := f.chapters[n>>chapterBits]
	if c.epoch != f.epoch {
		own := *c
		own.epoch = f.epoch
		c = &own
		f.chapters[n>>chapterBits] = c
	}
	at := &c.pages[n&(chapterSize-1)]
	switch p := *at; {
	case p == nil:
		*at = newPage(f.epoch)
	case p.epoch != f.epoch:
		own := *p
		own.epoch = f.epoch
		*at = &own
	}
	return *at, int(slot & (pageSize - 1))
}

// classOf returns the number of the node's class.
func (f *Fleet) classOf(n *api.Node) int32 {
	class := n.ComputedClass
	if class == "" {
		class = api.ComputeClass(n)
	}
	if k, ok := f.classIndex[class]; ok {
		return k
	}
	if len(f.classes) > 2*f.nodes+spareClasses {
		f.forgetClasses()
	}
	k := int32(len(f.classes))
	f.classes = append(f.classes, &nodeClass{id: class, node: n})
	f.classIndex[class] = k
	return k
}

// spareClasses is the number of unused classes, beyond the number of nodes, that triggers
// a cleanup.
const spareClasses = 256

// forgetClasses drops the classes without nodes. Existing views keep theirs.
func (f *Fleet) forgetClasses() {
	old := f.classes
	f.classes = nil
	f.classesFrom++
	f.counts = &classCounts{epoch: f.epoch}
	clear(f.classIndex)
	for slot := range int32(f.nodes) {
		p, i := f.at(slot)
		if p.class[i] == noClass {
			continue
		}
		class := old[p.class[i]].id
		k, ok := f.classIndex[class]
		if !ok {
			k = int32(len(f.classes))
			f.classes = append(f.classes, &nodeClass{id: class, node: p.nodes[i]})
			f.classIndex[class] = k
		}
		p.ownColumns()
		p.class[i] = k
		f.countNode(p, i, 1)
	}
}
