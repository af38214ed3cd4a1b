// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package placement

import (
	"iter"
	"slices"

	"github.com/tidwall/btree"

	"github.com/reeve-run/reeve/api"
)

// A Source is what a fleet is first filled from; a state.Snapshot is one.
type Source interface {
	Index() uint64
	Nodes() iter.Seq[*api.Node]
	Allocations() iter.Seq[*api.Allocation]
}

// A Fleet is the current nodes and what is taken on each. It is kept current
// from the change feed. Its methods are for one goroutine at a time; a View may
// be used by any.
type Fleet struct {
	chapters []*directory
	epoch    uint64 // grows with each View; what is of an older epoch is shared with one
	slots    *btree.Map[string, int32]
	free     []int32 // slots of nodes that are gone
	nodes    int
	classes  []*nodeClass // append-only until it is made anew: views share it
	kindOf   map[string]int32
	counts   *classCounts
	seats    []indexPosition // by slot
	stale    []int32         // slots that the index has to look at again
	ready    index
	cache    *feasibilityCache
	// classesFrom is another for every start of the classes: numbers of different
	// ones mean different classes.
	classesFrom uint64
	reserved    map[string]*api.Allocation // proposed, not yet seen in the change feed
	index       uint64
	priorities  priorities
}

// NewFleet returns the fleet as the source has it.
func NewFleet(src Source) *Fleet {
	f := &Fleet{
		slots:    new(btree.Map[string, int32]),
		kindOf:   make(map[string]int32),
		reserved: make(map[string]*api.Allocation),
		counts:   &classCounts{}, cache: &feasibilityCache{byKey: make(map[string]*feasibility)},
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

// SetIndex says up to which state index the fleet has been told of changes.
func (f *Fleet) SetIndex(index uint64) { f.index = index }

// Index is the state index that the fleet stands at.
func (f *Fleet) Index() uint64 { return f.index }

// Change tells the fleet of one changed object: its old and new value, nil (or
// a nil pointer) for none. Only nodes and allocations matter. A change whose
// old value the fleet has not seen corrupts its counts: hand over every change
// exactly once, in order.
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
		class := f.classOf(new) // may number the classes anew
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

// holdAlike reports whether a and b surely hold the same: what was reserved is
// nearly always what is then placed, and nothing has to be counted again.
func holdAlike(a, b *api.Allocation) bool {
	u, more := a.Holding()
	v, evenMore := b.Holding()
	if a.NodeID != b.NodeID || u != v || more || evenMore || a.IsStarting() != b.IsStarting() ||
		!a.HoldsResources() || !b.HoldsResources() {
		return false
	}
	r, s := a.AllocatedResources, b.AllocatedResources
	return r == s || r != nil && s != nil && slices.Equal(r.Shared.Ports, s.Shared.Ports)
}

// Reserve counts placements that were checked and are being proposed, so that
// later views know of them. The change feed takes each over; Release gives it
// back if the proposal fails.
func (f *Fleet) Reserve(place []*api.Allocation) {
	for _, a := range place {
		if _, ok := f.reserved[a.ID]; !ok {
			f.reserved[a.ID] = a
			f.hold(a, 1)
		}
	}
}

// Release forgets reservations that the change feed has not taken over.
func (f *Fleet) Release(place []*api.Allocation) {
	for _, a := range place {
		if r, ok := f.reserved[a.ID]; ok {
			delete(f.reserved, a.ID)
			f.hold(r, -1)
		}
	}
}

// hold adds (sign 1) or takes back (sign -1) what the allocation has on its
// node.
func (f *Fleet) hold(a *api.Allocation, sign int) {
	slot := f.slot(a.NodeID)
	p, i := f.at(slot)
	p.hold(i, a, sign)
	f.priorities.count(a, sign)
	if sign < 0 && p.nodes[i] == nil {
		f.forget(a.NodeID, slot)
	}
}

// slot returns the node's slot, and makes one for a node never heard of: an
// allocation may outlive the record of its node.
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

// forget gives the slot of a node without record to the next one, once nothing
// is held there.
func (f *Fleet) forget(nodeID string, slot int32) {
	if p, i := f.at(slot); p.held[i] == 0 {
		f.slots.Delete(nodeID)
		f.free = append(f.free, slot)
	}
}

// at returns the slot's page, made this fleet's own, and the place in it.
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

// class returns the number of the node's class.
func (f *Fleet) classOf(n *api.Node) int32 {
	class := n.ComputedClass
	if class == "" {
		class = api.ComputeClass(n)
	}
	if k, ok := f.kindOf[class]; ok {
		return k
	}
	if len(f.classes) > 2*f.nodes+spareClasses {
		f.forgetClasses()
	}
	k := int32(len(f.classes))
	f.classes = append(f.classes, &nodeClass{id: class, node: n})
	f.kindOf[class] = k
	return k
}

// spareClasses is how many classes without nodes may gather, apart from as many as
// there are nodes, before they are looked for.
const spareClasses = 256

// forgetClasses drops the classes that no node is of any more. Views keep theirs.
func (f *Fleet) forgetClasses() {
	old := f.classes
	f.classes = nil
	f.classesFrom++
	f.counts = &classCounts{epoch: f.epoch}
	clear(f.kindOf)
	for slot := range int32(f.nodes) {
		p, i := f.at(slot)
		if p.class[i] == noClass {
			continue
		}
		class := old[p.class[i]].id
		k, ok := f.kindOf[class]
		if !ok {
			k = int32(len(f.classes))
			f.classes = append(f.classes, &nodeClass{id: class, node: p.nodes[i]})
			f.kindOf[class] = k
		}
		p.ownColumns()
		p.class[i] = k
		f.countNode(p, i, 1)
	}
}
