// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package state

// A list is a set of slots: the allocations of a node, the evaluations of a job. Members
// know their position, so adding and removing are O(1). The order has no meaning.
//
// Appending never affects a snapshot, which only reads up to its own length. Removing
// fills the gap with the last member. It must copy the backing array first, unless the
// array was created in the writer's generation.
type list struct {
	gen   uint64 // generation in which the backing array was copied for a removal
	slots []uint32
}

// add appends a slot and returns its position.
func (l *list) add(slot uint32) uint32 {
	l.slots = append(l.slots, slot)
	return uint32(len(l.slots) - 1)
}

// remove removes the member at a position. If another member moves to that position,
// remove returns its slot.
func (l *list) remove(gen uint64, position uint32) (moved uint32, ok bool) {
	last := len(l.slots) - 1
	if l.gen != gen {
		l.slots, l.gen = append(make([]uint32, 0, last+1), l.slots...), gen
	}
	if ok = int(position) != last; ok {
		moved = l.slots[last]
		l.slots[position] = moved
	}
	l.slots = l.slots[:last]
	if last == 0 {
		l.slots = nil
	}
	return moved, ok
}

func (l *list) len() int { return len(l.slots) }
