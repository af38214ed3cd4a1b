// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package placement

// A pass is the placing of one order: the view, and on top of it what the order
// itself has placed so far.
type pass struct {
	view      *View
	order     *Order
	touched   map[int32]*overlay         // by slot
	instances map[string]map[int32]int32 // by group and slot: the job's instances
	batches   []*batch
	left      []leftover
	rand      uint64
	turn      int32 // the slot that comes first among equals
	out       *Outcome
}

func newPass(v *View, o *Order) *pass {
	p := &pass{
		view: v, order: o, touched: make(map[int32]*overlay, len(o.Requests)),
		instances: make(map[string]map[int32]int32),
		rand:      o.Seed*0x9e3779b97f4a7c15 + 1, out: &Outcome{},
	}
	if v.nodes > 0 {
		p.turn = int32(o.Seed % uint64(v.nodes))
	}
	for _, a := range o.Kept {
		if slot, ok := v.slots.Get(a.NodeID); ok {
			p.count(slot, a.Group)
		}
	}
	return p
}

func (p *pass) count(slot int32, group string) {
	slots := p.instances[group]
	if slots == nil {
		slots = make(map[int32]int32, len(p.order.Kept)+len(p.order.Requests))
		p.instances[group] = slots
	}
	slots[slot]++
}

// overlay returns what the slot's node holds now, to be changed.
func (p *pass) overlay(slot int32) *overlay {
	o := p.touched[slot]
	if o == nil {
		pg, i := p.view.page(slot)
		at := pg.at(i)
		o = &at
		p.touched[slot] = o
	}
	return o
}

// random is a small generator (xorshift64*): it decides nothing that matters,
// but must be the same for the same seed.
func (p *pass) random() uint64 {
	p.rand ^= p.rand >> 12
	p.rand ^= p.rand << 25
	p.rand ^= p.rand >> 27
	return p.rand * 0x2545f4914f6cdd1d
}
