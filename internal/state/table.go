// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package state

// A table holds rows by name, in the order of the names, copy-on-write.
type table[R any] struct {
	ids  ids
	rows pages[R]
	next uint32 // upper bound of the slots in use

	// The writer's alone:
	free     []uint32 // released slots
	lastID   string   // last requested row, often the next one too
	lastSlot uint32
}

func newTable[R any]() table[R] { return table[R]{ids: newIDs()} }

// len returns the number of rows.
func (t *table[R]) len() int { return int(t.next) - len(t.free) }

// find returns the row of that name for reading; nil if it does not exist.
func (t *table[R]) find(id string) *R {
	slot, ok := t.ids.get(id)
	if !ok {
		return nil
	}
	return t.rows.at(slot)
}

// ensure returns the row of that name for writing. It creates the row if necessary.
func (t *table[R]) ensure(gen uint64, id string) (uint32, *R) {
	if id != t.lastID || id == "" {
		slot, added := t.ids.ensure(id, t.vacant())
		if added {
			t.occupy()
		}
		t.lastID, t.lastSlot = id, slot
	}
	return t.lastSlot, t.rows.edit(gen, t.lastSlot)
}

// vacant returns the slot of the next row that is added.
func (t *table[R]) vacant() uint32 {
	if n := len(t.free); n > 0 {
		return t.free[n-1]
	}
	return t.next
}

// occupy marks the vacant slot as used.
func (t *table[R]) occupy() {
	if n := len(t.free); n > 0 {
		t.free = t.free[:n-1]
	} else {
		t.next++
	}
}

// remove removes a row and its name.
func (t *table[R]) remove(gen uint64, id string, slot uint32) {
	var zero R
	*t.rows.edit(gen, slot) = zero
	t.ids.remove(id)
	t.lastID = ""
	t.free = append(t.free, slot)
}

// prefix yields the rows whose names begin with prefix, in order.
func (t *table[R]) prefix(prefix string, yield func(id string, row *R) bool) {
	t.ids.prefix(prefix, func(id string, slot uint32) bool {
		return yield(id, t.rows.at(slot))
	})
}

// published returns an immutable copy. previous is the last published copy.
func (t *table[R]) published(previous *table[R]) table[R] {
	return table[R]{ids: t.ids.published(previous.ids), rows: t.rows, next: t.next}
}
