// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package placement

import "slices"

// A classCounts is how many nodes there are of each class. It changes when a node
// comes, goes, or is another than it was; not when something is placed.
type classCounts struct {
	epoch   uint64
	classes []nodeCount // by class
}

type nodeCount struct{ all, ready int32 }

// countNode counts the page's node at i in (sign 1) or out (sign -1).
func (f *Fleet) countNode(p *page, i int, sign int32) {
	class := p.class[i]
	if class == noClass {
		return
	}
	if f.counts.epoch != f.epoch {
		f.counts = &classCounts{epoch: f.epoch, classes: slices.Clone(f.counts.classes)}
	}
	r := f.counts
	for int(class) >= len(r.classes) {
		r.classes = append(r.classes, nodeCount{})
	}
	r.classes[class].all += sign
	if p.isReady(i) {
		r.classes[class].ready += sign
	}
}

// A indexPosition is where the index has a slot's node.
type indexPosition struct {
	entry
	indexed bool
	stale   bool // the node may have changed since
}

// touch notes that the slot's node may have changed.
func (f *Fleet) touch(slot int32) {
	for int(slot) >= len(f.seats) {
		f.seats = append(f.seats, indexPosition{})
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
