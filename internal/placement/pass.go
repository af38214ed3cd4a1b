// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package placement

import (
	"sync"

	"github.com/reeve-run/reeve/api"
)

// A pass is the placing of one order: the view, and on top of it what the order
// itself has placed so far.
type pass struct {
	view      *View
	order     *Order
	touched   map[int32]*overlay         // by slot
	instances map[string]map[int32]int32 // by group and slot: the job's instances
	leaving   map[string]map[int32]int32 // the same of what is replaced and not yet stopped; nil: nobody asks
	batches   []*batch
	left      []leftover
	rand      uint64
	turn      int32 // the slot that comes first among equals
	newID     func() string
	blank     []api.Allocation // to be filled in
	memory    *scratch
	out       *Outcome

	preemptor *preemptor // nil until it is needed
}

func newPass(v *View, o *Order) *pass {
	m := memories.Get().(*scratch)
	p := &pass{
		view: v, order: o, touched: m.touched, instances: make(map[string]map[int32]int32), memory: m,
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

// release gives the pass's memory to the next one. The pass is of no use any
// more.
func (p *pass) release() {
	for _, b := range p.batches {
		b.release()
	}
	p.memory.release()
	p.memory, p.touched, p.instances = nil, nil, nil
}

func (p *pass) count(slot int32, group string) {
	slots := p.instances[group]
	if slots == nil {
		slots = p.memory.counts()
		p.instances[group] = slots
	}
	slots[slot]++
}

// overlay returns what the slot's node holds now, to be changed.
func (p *pass) overlay(slot int32) *overlay {
	o := p.touched[slot]
	if o == nil {
		pg, i := p.view.page(slot)
		o = p.memory.overlay()
		*o = pg.at(i)
		p.touched[slot] = o
	}
	return o
}

// block is how many allocations of an order share one piece of memory: as many as
// fill a size class of the allocator (9,472 bytes). More
// would be cheaper to make, but all of a block stays as long as one of it does.
const block = 21

// blankAllocation returns an allocation to be filled in.
func (p *pass) blankAllocation() *api.Allocation {
	if len(p.blank) == 0 {
		p.blank = make([]api.Allocation, min(block, max(len(p.order.Requests)-len(p.out.Place), 1)))
	}
	a := &p.blank[0]
	p.blank = p.blank[1:]
	return a
}

// A scratch is what a pass needs only while it lasts. It is used again, since
// making it anew would be most of what small orders cost.
type scratch struct {
	touched  map[int32]*overlay
	overlays [][]overlay // in pieces, which do not move
	used     int         // overlays
	tables   []map[int32]int32
	tabled   int
	best     candidates // see batch.top
	known    candidates
}

var memories = sync.Pool{New: func() any { return &scratch{touched: make(map[int32]*overlay)} }}

const (
	overlayPiece = 64
	// kept bounds what is kept from one order to the next; very large ones are
	// rare.
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
	m.used, m.tabled = 0, 0
	memories.Put(m)
}

// random is a small generator (xorshift64*): it decides nothing that matters,
// but must be the same for the same seed.
func (p *pass) random() uint64 {
	p.rand ^= p.rand >> 12
	p.rand ^= p.rand << 25
	p.rand ^= p.rand >> 27
	return p.rand * 0x2545f4914f6cdd1d
}
