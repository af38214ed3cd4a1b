// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package state

import (
	"encoding/binary"
	"strings"

	"github.com/tidwall/btree"

	"github.com/reeve-run/reeve/internal/allocset"
)

// ids maps names to slots, in the order of the names.
//
// Nearly all names are UUIDs. As strings they would cost a pointer and a cache miss for
// every comparison, and add a pointer for the garbage collector to follow. As two integers
// they have the same order and are stored in the tree's nodes. Names in other forms are
// stored separately as strings.
type ids struct {
	packed *btree.BTreeG[packedID]
	others *btree.Map[string, uint32]
	dirty  bool // reports whether ids changed since it was last published
}

// A packedID is a UUID name with its slot.
type packedID struct {
	hi, lo uint64
	slot   uint32
}

func packedLess(a, b packedID) bool { return a.hi < b.hi || a.hi == b.hi && a.lo < b.lo }

func (p packedID) String() string {
	var b [16]byte
	binary.BigEndian.PutUint64(b[:8], p.hi)
	binary.BigEndian.PutUint64(b[8:], p.lo)
	return allocset.UnpackID(b[:])
}

func pack(id string) (packedID, bool) {
	var b [16]byte
	if !allocset.ParseUUID(id, &b) {
		return packedID{}, false
	}
	return packedID{hi: binary.BigEndian.Uint64(b[:8]), lo: binary.BigEndian.Uint64(b[8:])}, true
}

func newIDs() ids {
	return ids{
		packed: btree.NewBTreeGOptions(packedLess, btree.Options{NoLocks: true, Degree: 32}),
		others: btree.NewMap[string, uint32](32),
		dirty:  true, // even if it stays empty: the previously published ids may be of another store
	}
}

func (x *ids) get(id string) (uint32, bool) {
	if p, ok := pack(id); ok {
		p, ok = x.packed.Get(p)
		return p.slot, ok
	}
	return x.others.Get(id)
}

func (x *ids) set(id string, slot uint32) {
	x.dirty = true
	if p, ok := pack(id); ok {
		p.slot = slot
		x.packed.Set(p)
		return
	}
	x.others.Set(id, slot)
}

// ensure returns the slot of the name. If the name has none, ensure sets it to vacant, and
// reports that it was added.
func (x *ids) ensure(id string, vacant uint32) (slot uint32, added bool) {
	p, ok := pack(id)
	if !ok {
		if slot, ok := x.others.Get(id); ok {
			return slot, false
		}
		x.dirty = true
		x.others.Set(id, vacant)
		return vacant, true
	}
	if found, ok := x.packed.Get(p); ok {
		return found.slot, false
	}
	x.dirty = true
	p.slot = vacant
	x.packed.Set(p)
	return vacant, true
}

func (x *ids) remove(id string) {
	x.dirty = true
	if p, ok := pack(id); ok {
		x.packed.Delete(p)
		return
	}
	x.others.Delete(id)
}

func (x *ids) len() int { return x.packed.Len() + x.others.Len() }

// prefix yields the names that begin with prefix, in order, with their slots.
func (x *ids) prefix(prefix string, yield func(id string, slot uint32) bool) {
	// The other names are merged into the stream of packed ones.
	others := x.others.Iter()
	more := others.Seek(prefix) && strings.HasPrefix(others.Key(), prefix)
	until := func(id string) bool { // yields the other names that sort before id
		for more && (id == "" || others.Key() < id) {
			if !yield(others.Key(), others.Value()) {
				return false
			}
			more = others.Next() && strings.HasPrefix(others.Key(), prefix)
		}
		return true
	}
	stopped := false
	if from, ok := pack(lowest(prefix)); ok {
		x.packed.Ascend(from, func(p packedID) bool {
			id := p.String()
			if !strings.HasPrefix(id, prefix) {
				return false
			}
			stopped = !until(id) || !yield(id, p.slot)
			return !stopped
		})
	}
	if !stopped {
		until("")
	}
}

// lowest returns the first UUID name that begins with prefix, or a string in another form
// if no UUID can.
func lowest(prefix string) string {
	const zero = "00000000-0000-0000-0000-000000000000"
	if len(prefix) > len(zero) {
		return ""
	}
	return prefix + zero[len(prefix):]
}

// published returns an immutable copy. previous is the last published copy.
func (x *ids) published(previous ids) ids {
	if !x.dirty {
		return previous
	}
	x.dirty = false
	return ids{packed: x.packed.Copy(), others: x.others.Copy()}
}
