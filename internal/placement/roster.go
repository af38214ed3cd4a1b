// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package placement

import "slices"

// A roster is how many nodes there are of each kind. It changes when a node
// comes, goes, or is another than it was; not when something is placed.
type roster struct {
	epoch uint64
	kinds []headcount // by kind
}

type headcount struct{ all, ready int32 }

// muster counts the page's node at i in (sign 1) or out (sign -1).
func (f *Fleet) muster(p *page, i int, sign int32) {
	kind := p.kind[i]
	if kind == noKind {
		return
	}
	if f.roster.epoch != f.epoch {
		f.roster = &roster{epoch: f.epoch, kinds: slices.Clone(f.roster.kinds)}
	}
	r := f.roster
	for int(kind) >= len(r.kinds) {
		r.kinds = append(r.kinds, headcount{})
	}
	r.kinds[kind].all += sign
	if p.isReady(i) {
		r.kinds[kind].ready += sign
	}
}

// A seat is where the index has a slot's node.
type seat struct {
	entry
	indexed bool
	stale   bool // the node may have changed since
}

// touch notes that the slot's node may have changed.
func (f *Fleet) touch(slot int32) {
	for int(slot) >= len(f.seats) {
		f.seats = append(f.seats, seat{})
	}
	if !f.seats[slot].stale {
		f.seats[slot].stale = true
		f.stale = append(f.stale, slot)
	}
}

// reindex brings the index up to date.
func (f *Fleet) reindex() {
	f.ready.epoch = f.epoch
	for _, slot := range f.stale {
		s := &f.seats[slot]
		s.stale = false
		n := slot >> pageBits
		p := f.chapters[n>>chapterBits].pages[n&(chapterSize-1)]
		e, ready := p.entry(int(slot&(pageSize-1)), slot)
		if s.indexed && (!ready || e.key != s.key) {
			f.ready.remove(s.key)
		}
		if ready && (!s.indexed || e != s.entry) {
			f.ready.put(e)
		}
		s.entry, s.indexed = e, ready
	}
	f.stale = f.stale[:0]
}
