// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package placement

import (
	"math"
	"math/bits"
	"slices"
)

// An index holds the fleet's ready nodes ordered by their free resources, so that the best
// node for an instance is found without examining all nodes. It is a tree. Each branch
// records the minimum and maximum free resources and the node classes below it, which is
// enough to bound the score of the best node below (see frontier).
//
// Nodes are ordered by the Morton number of their free shares of CPU and memory (the bits
// of both interleaved). Nodes that are near in the tree are thus near in both shares, and
// the bounds are tight. An order by one sum would place nodes that lack memory beside
// nodes that lack CPU, and every bound across them would be loose.
//
// The tree is copied on write, by epoch like pages: a View's tree never changes.
type index struct {
	root   *branch // nil: empty
	height int     // levels of branches
	epoch  uint64
}

const (
	leafSize = 32
	fanOut   = 16
)

// An entry describes a node in the index. Amounts beyond 32 bits are capped at a value
// that exceeds every request.
type entry struct {
	key              uint64
	class            int32
	freeCPU, freeMem uint32
	freeDisk         uint32
	capCPU, capMem   uint32
}

type leaf struct {
	epoch   uint64
	n       int
	entries [leafSize]entry
}

// A branch has other branches below it or, at the lowest level, leaves.
type branch struct {
	epoch  uint64
	n      int
	keys   [fanOut]uint64 // lower bounds of the keys below each child
	sums   [fanOut]summary
	kids   [fanOut]*branch
	leaves [fanOut]*leaf
}

// A summary aggregates all entries below a branch.
type summary struct {
	classes                                   uint64 // bit k%64: some entries are of class k
	minFreeCPU, maxFreeCPU, minCapCPU, capCPU uint32
	minFreeMem, maxFreeMem, minCapMem, capMem uint32
	maxFreeDisk                               uint32
	minShareCPU, minShareMem                  uint16 // free shares, in 1024ths
}

// The parts of the key, from the highest bits: free shares, size, class, slot. Size and
// class only group similar nodes where many are equally free.
const (
	slotBits  = 22
	classBits = 6
	sizeBits  = 4
	slotMask  = 1<<slotBits - 1
)

func (e *entry) slot() int32 { return int32(e.key & slotMask) }

func classBit(class int32) uint64 { return 1 << (class & 63) }

// entry describes the page's node at i for the index. ok is false if the node takes no
// allocations.
func (p *page) entry(i int, slot int32) (e entry, ok bool) {
	if !p.isReady(i) {
		return entry{}, false
	}
	c, free := p.capacity[i], p.capacity[i].Sub(p.used[i])
	e = entry{
		class:   p.class[i],
		freeCPU: clamp(free.CPU), freeMem: clamp(free.MemoryMB), freeDisk: clamp(free.DiskMB),
		capCPU: clamp(c.CPU), capMem: clamp(c.MemoryMB),
	}
	e.key = morton(share16(free.CPU, c.CPU), share16(free.MemoryMB, c.MemoryMB))<<(sizeBits+classBits+slotBits) |
		uint64(bits.Len32(e.capCPU))&(1<<sizeBits-1)<<(classBits+slotBits) |
		uint64(e.class)&(1<<classBits-1)<<slotBits | uint64(slot)
	return e, true
}

func clamp(n int64) uint32 { return uint32(min(max(n, 0), math.MaxUint32)) }

// share16 returns the part of the whole in 65,535ths.
func share16(part, whole int64) uint16 {
	if whole <= 0 {
		return 0
	}
	return uint16(min(max(part, 0)*65535/whole, 65535))
}

// morton interleaves the bits of x and y.
func morton(x, y uint16) uint64 { return spaced(x)<<1 | spaced(y) }

func spaced(x uint16) uint64 {
	n := uint64(x)
	n = (n | n<<8) & 0x00ff00ff
	n = (n | n<<4) & 0x0f0f0f0f
	n = (n | n<<2) & 0x33333333
	return (n | n<<1) & 0x55555555
}

func (e *entry) summary() summary {
	return summary{
		classes:     classBit(e.class),
		minShareCPU: uint16(remainingShare(e.freeCPU, 0, e.capCPU)), minShareMem: uint16(remainingShare(e.freeMem, 0, e.capMem)),
		minFreeCPU: e.freeCPU, maxFreeCPU: e.freeCPU, minCapCPU: e.capCPU, capCPU: e.capCPU,
		minFreeMem: e.freeMem, maxFreeMem: e.freeMem, minCapMem: e.capMem, capMem: e.capMem,
		maxFreeDisk: e.freeDisk,
	}
}

func (s *summary) join(o *summary) {
	s.minShareCPU, s.minShareMem = min(s.minShareCPU, o.minShareCPU), min(s.minShareMem, o.minShareMem)
	s.classes |= o.classes
	s.minFreeCPU, s.maxFreeCPU = min(s.minFreeCPU, o.minFreeCPU), max(s.maxFreeCPU, o.maxFreeCPU)
	s.minCapCPU, s.capCPU = min(s.minCapCPU, o.minCapCPU), max(s.capCPU, o.capCPU)
	s.minFreeMem, s.maxFreeMem = min(s.minFreeMem, o.minFreeMem), max(s.maxFreeMem, o.maxFreeMem)
	s.minCapMem, s.capMem = min(s.minCapMem, o.minCapMem), max(s.capMem, o.capMem)
	s.maxFreeDisk = max(s.maxFreeDisk, o.maxFreeDisk)
}

func (l *leaf) sum() summary {
	s := l.entries[0].summary()
	for i := 1; i < l.n; i++ {
		e := l.entries[i].summary()
		s.join(&e)
	}
	return s
}

func (b *branch) sum() summary {
	s := b.sums[0]
	for i := 1; i < b.n; i++ {
		s.join(&b.sums[i])
	}
	return s
}

// find returns the position in the leaf where the key is or belongs.
func (l *leaf) find(key uint64) int {
	at, _ := slices.BinarySearchFunc(l.entries[:l.n], key, func(e entry, key uint64) int {
		if e.key < key {
			return -1
		}
		return 1
	})
	return at
}

// find returns the child below which the key is or belongs.
func (b *branch) find(key uint64) int {
	i := 1
	for i < b.n && b.keys[i] <= key {
		i++
	}
	return i - 1
}

// editableChild returns child i of the branch, copied if a View shares it.
func (x *index) editableChild(b *branch, i int) *branch {
	if b.kids[i].epoch != x.epoch {
		own := *b.kids[i]
		own.epoch = x.epoch
		b.kids[i] = &own
	}
	return b.kids[i]
}

func (x *index) leaf(b *branch, i int) *leaf {
	if b.leaves[i].epoch != x.epoch {
		own := *b.leaves[i]
		own.epoch = x.epoch
		b.leaves[i] = &own
	}
	return b.leaves[i]
}

func (x *index) ownRoot() *branch {
	if x.root.epoch != x.epoch {
		own := *x.root
		own.epoch = x.epoch
		x.root = &own
	}
	return x.root
}

// put adds the entry, or replaces the entry with the same key.
func (x *index) put(e entry) {
	if x.root == nil {
		l := &leaf{epoch: x.epoch, n: 1}
		l.entries[0] = e
		x.root, x.height = &branch{epoch: x.epoch, n: 1}, 1
		x.root.leaves[0], x.root.keys[0], x.root.sums[0] = l, e.key, e.summary()
		return
	}
	if x.ownRoot().n == fanOut {
		old := x.root
		x.root = &branch{epoch: x.epoch, n: 1}
		x.root.kids[0], x.root.keys[0], x.root.sums[0] = old, old.keys[0], old.sum()
		x.height++
	}
	x.putBelow(x.root, x.height, &e)
}

// putBelow adds the entry below a branch that belongs to the tree and has a free place.
func (x *index) putBelow(b *branch, height int, e *entry) {
	i := b.find(e.key)
	if height > 1 {
		kid := x.editableChild(b, i)
		if kid.n == fanOut {
			x.splitBranch(b, i)
			if e.key >= b.keys[i+1] {
				i++
			}
			kid = b.kids[i]
		}
		x.putBelow(kid, height-1, e)
		b.keys[i], b.sums[i] = min(b.keys[i], e.key), kid.sum()
		return
	}
	l := x.leaf(b, i)
	at := l.find(e.key)
	if at < l.n && l.entries[at].key == e.key {
		l.entries[at] = *e
		b.sums[i] = l.sum()
		return
	}
	if l.n == leafSize {
		x.splitLeaf(b, i)
		if e.key >= b.keys[i+1] {
			i++
			l = b.leaves[i]
		}
		at = l.find(e.key)
	}
	copy(l.entries[at+1:l.n+1], l.entries[at:l.n])
	l.entries[at] = *e
	l.n++
	s := e.summary()
	b.keys[i] = min(b.keys[i], e.key)
	b.sums[i].join(&s)
}

// splitLeaf moves half of leaf i to a new leaf beside it.
func (x *index) splitLeaf(b *branch, i int) {
	l, r := b.leaves[i], &leaf{epoch: x.epoch}
	r.n = copy(r.entries[:], l.entries[l.n/2:l.n])
	l.n -= r.n
	b.open(i + 1)
	b.leaves[i+1], b.keys[i+1], b.sums[i+1] = r, r.entries[0].key, r.sum()
	b.sums[i] = l.sum()
}

// splitBranch moves half of child i to a new branch beside it.
func (x *index) splitBranch(b *branch, i int) {
	l, r := b.kids[i], &branch{epoch: x.epoch}
	half := l.n / 2
	r.n = copy(r.keys[:], l.keys[half:l.n])
	copy(r.sums[:], l.sums[half:l.n])
	copy(r.kids[:], l.kids[half:l.n])
	copy(r.leaves[:], l.leaves[half:l.n])
	clear(l.kids[half:])
	clear(l.leaves[half:])
	l.n = half
	b.open(i + 1)
	b.kids[i+1], b.keys[i+1], b.sums[i+1] = r, r.keys[0], r.sum()
	b.sums[i] = l.sum()
}

// open makes room for a child at i.
func (b *branch) open(i int) {
	copy(b.keys[i+1:], b.keys[i:b.n])
	copy(b.sums[i+1:], b.sums[i:b.n])
	copy(b.kids[i+1:], b.kids[i:b.n])
	copy(b.leaves[i+1:], b.leaves[i:b.n])
	b.kids[i], b.leaves[i] = nil, nil
	b.n++
}

// close removes child i.
func (b *branch) close(i int) {
	copy(b.keys[i:], b.keys[i+1:b.n])
	copy(b.sums[i:], b.sums[i+1:b.n])
	copy(b.kids[i:], b.kids[i+1:b.n])
	copy(b.leaves[i:], b.leaves[i+1:b.n])
	b.n--
	b.kids[b.n], b.leaves[b.n] = nil, nil
}

// remove removes the entry with the key.
func (x *index) remove(key uint64) {
	if x.root == nil {
		return
	}
	x.removeBelow(x.ownRoot(), x.height, key)
	for x.height > 1 && x.root.n == 1 {
		x.root, x.height = x.root.kids[0], x.height-1
	}
	if x.root.n == 0 {
		x.root, x.height = nil, 0
	}
}

func (x *index) removeBelow(b *branch, height int, key uint64) {
	i := b.find(key)
	if height > 1 {
		kid := x.editableChild(b, i)
		x.removeBelow(kid, height-1, key)
		switch {
		case kid.n == 0:
			b.close(i)
		case kid.n < fanOut/4 && x.joinBranches(b, i):
		default:
			b.sums[i] = kid.sum()
		}
		return
	}
	l := x.leaf(b, i)
	at := l.find(key)
	if at == l.n || l.entries[at].key != key {
		return
	}
	copy(l.entries[at:], l.entries[at+1:l.n])
	l.n--
	switch {
	case l.n == 0:
		b.close(i)
	case l.n < leafSize/4 && x.joinLeaves(b, i):
	default:
		b.sums[i] = l.sum()
	}
}

// mergePair returns the left one of two neighbouring children to merge, one of which is i.
func (b *branch) mergePair(i int) (left int, ok bool) {
	if i+1 < b.n {
		return i, true
	}
	return i - 1, i > 0
}

func (x *index) joinLeaves(b *branch, i int) bool {
	i, ok := b.mergePair(i)
	if !ok || b.leaves[i].n+b.leaves[i+1].n > leafSize*3/4 {
		return false
	}
	l, r := x.leaf(b, i), b.leaves[i+1]
	copy(l.entries[l.n:], r.entries[:r.n])
	l.n += r.n
	b.close(i + 1)
	b.sums[i] = l.sum()
	return true
}

func (x *index) joinBranches(b *branch, i int) bool {
	i, ok := b.mergePair(i)
	if !ok || b.kids[i].n+b.kids[i+1].n > fanOut*3/4 {
		return false
	}
	l, r := x.editableChild(b, i), b.kids[i+1]
	copy(l.keys[l.n:], r.keys[:r.n])
	copy(l.sums[l.n:], r.sums[:r.n])
	copy(l.kids[l.n:], r.kids[:r.n])
	copy(l.leaves[l.n:], r.leaves[:r.n])
	l.n += r.n
	b.close(i + 1)
	b.sums[i] = l.sum()
	return true
}
