// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package placement

import "slices"

// classCounts holds the number of nodes of each class. It changes when a node joins,
// leaves or changes, not when an instance is placed.
type classCounts struct {
	epoch   uint64
	classes []nodeCount // by class
}

type nodeCount struct{ all, ready int32 }

// countNode adds (sign 1) or removes (sign -1) the page's node at i.
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

// An indexPosition is the position of a slot's node in the index.
type indexPosition struct {
	entry
	indexed bool
	stale   bool // reports whether the node may have changed since it was indexed
}

// touch marks the slot's node as possibly changed.
func (f *Fleet) touch(slot int32) {
	for int(slot) >= len(f.indexPositions) {
		f.indexPositions = append(f.indexPositions, indexPosition{})
	}
	if !f.indexPositions[slot].stale {
		f.indexPositions[slot].stale = true
		f.stale = append(f.stale, slot)
	}
}

// reindex updates the index for all stale slots.
func (f *Fleet) reindex() {
	f.ready.epoch = f.epoch
	for _, slot := range f.stale {
		s := &f.indexPositions[slot]
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
