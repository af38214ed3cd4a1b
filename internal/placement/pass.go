// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package placement

import (
	"sync"

	"github.com/reeve-run/reeve/api"
)

// A pass places one order. It holds the view and the changes that the order has made so
// far.
type pass struct {
	view      *View
	order     *Order
	touched   map[int32]*overlay         // by slot
	instances map[string]map[int32]int32 // instances of the job, by group and slot
	leaving   map[string]map[int32]int32 // replaced instances that are not yet stopped, likewise; nil if no rule counts them
	batches   []*batch
	left      []leftover
	refused   []refusedRequest // by quotas
	rand      uint64
	turn      int32 // slot that comes first among equals
	newID     func() string
	blank     []api.Allocation // unused allocations of the current block
	scratch   *scratch
	out       *Outcome

	preemptor *preemptor // nil until needed
}

func newPass(v *View, o *Order) *pass {
	m := memories.Get().(*scratch)
	p := &pass{
		view: v, order: o, touched: m.touched, instances: make(map[string]map[int32]int32), scratch: m,
		rand: o.Seed*0x9e3779b97f4a7c15 + 1, newID: o.NewID, out: &Outcome{},
	}
	if p.newID == nil {
		p.newID = (&api.IDs{Expected: len(o.Requests)}).Next
	}
	if v.nodes > 0 {
		p.turn = int32(o.Seed % uint64(v.nodes))
	}
	for _, a := range o.Kept {
		if slot, ok := v.slots.Get(a.NodeID); ok {
			p.count(slot, a.Group)
		}
	}
	p.startCountingReplaced()
	return p
}

// release returns the pass's memory to the pool. The pass must not be used afterwards.
func (p *pass) release() {
	for _, b := range p.batches {
		b.release()
	}
	p.scratch.release()
	p.scratch, p.touched, p.instances = nil, nil, nil
}

func (p *pass) count(slot int32, group string) {
	slots := p.instances[group]
	if slots == nil {
		slots = p.scratch.counts()
		p.instances[group] = slots
	}
	slots[slot]++
}

// overlay returns the mutable overlay of the slot's node.
func (p *pass) overlay(slot int32) *overlay {
	o := p.touched[slot]
	if o == nil {
		pg, i := p.view.page(slot)
		o = p.scratch.overlay()
		*o = pg.at(i)
		p.touched[slot] = o
	}
	return o
}

// block is the number of allocations of an order that share one piece of memory. It fills
// a size class of the allocator (9,472 bytes). Larger blocks are cheaper to allocate, but
// the whole block stays in memory as long as one of its allocations does.
const block = 21

// blankAllocation returns an empty allocation.
func (p *pass) blankAllocation() *api.Allocation {
	if len(p.blank) == 0 {
		p.blank = make([]api.Allocation, min(block, max(len(p.order.Requests)-len(p.out.Place), 1)))
	}
	a := &p.blank[0]
	p.blank = p.blank[1:]
	return a
}

// A scratch holds pooled memory for one pass. Allocating it for each pass would dominate
// the cost of small orders.
type scratch struct {
	touched  map[int32]*overlay
	overlays [][]overlay // in pieces that do not move
	used     int         // number of overlays in use
	tables   []map[int32]int32
	tabled   int
	best     candidates // see batch.top
	known    candidates
	measure  measurement
}

var memories = sync.Pool{New: func() any { return &scratch{touched: make(map[int32]*overlay)} }}

const (
	overlayPiece = 64
	// kept bounds the memory that is kept between orders. Larger orders are rare.
	kept = 1 << 16
)

func (m *scratch) overlay() *overlay {
	piece := m.used / overlayPiece
	if piece == len(m.overlays) {
		m.overlays = append(m.overlays, make([]overlay, overlayPiece))
	}
	o := &m.overlays[piece][m.used%overlayPiece]
	m.used++
	return o
}

// counts returns an empty table.
func (m *scratch) counts() map[int32]int32 {
	if m.tabled == len(m.tables) {
		m.tables = append(m.tables, make(map[int32]int32))
	}
	m.tabled++
	return m.tables[m.tabled-1]
}

func (m *scratch) release() {
	sum := m.used
	for _, t := range m.tables[:m.tabled] {
		sum += len(t)
		clear(t)
	}
	if sum > kept {
		return
	}
	for left, piece := m.used, 0; left > 0; left, piece = left-overlayPiece, piece+1 {
		clear(m.overlays[piece][:min(left, overlayPiece)])
	}
	clear(m.touched)
	m.used, m.tabled, m.measure = 0, 0, measurement{}
	memories.Put(m)
}

// random is a small generator (xorshift64*). Its results decide nothing important, but are
// the same for the same seed.
func (p *pass) random() uint64 {
	p.rand ^= p.rand >> 12
	p.rand ^= p.rand << 25
	p.rand ^= p.rand >> 27
	return p.rand * 0x2545f4914f6cdd1d
}
