// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package hostile

import (
	"maps"
	"math/rand/v2"
	"slices"
)

// block is what the disk writes at once.
const block = 512

// node is a file or a directory: what programs see, what is on the disk, and
// what they did since.
type node struct {
	data, durable []byte
	writes        []write

	names, durableNames map[string]*node // nil for files
	changes             []change
}

// write is data at an offset, or a new size.
type write struct {
	offset int64
	data   []byte // nil: the size becomes offset
}

// change is a name that is made (no from), removed (no to), or changed.
type change struct {
	from, to string
	node     *node
}

func newDir() *node { return &node{names: map[string]*node{}, durableNames: map[string]*node{}} }

func (n *node) change(c change) {
	c.do(n.names)
	n.changes = append(n.changes, c)
}

func (c change) do(names map[string]*node) {
	if c.from != "" {
		delete(names, c.from)
	}
	if c.to != "" {
		names[c.to] = c.node
	}
}

func (n *node) write(b []byte, offset int64) {
	w := write{offset, slices.Clone(b)}
	n.data = w.do(n.data, nil, 1)
	n.writes = append(n.writes, w)
}

func (n *node) truncate(size int64) {
	w := write{offset: size}
	n.data = w.do(n.data, nil, 1)
	n.writes = append(n.writes, w)
}

// do makes the write, each block of it with probability p.
func (w write) do(to []byte, rng *rand.Rand, p float64) []byte {
	lucky := func() bool { return rng == nil || rng.Float64() < p }
	if w.data == nil {
		switch {
		case !lucky():
		case w.offset <= int64(len(to)):
			to = slices.Clip(to[:w.offset])
		default:
			to = append(to, make([]byte, w.offset-int64(len(to)))...)
		}
		return to
	}
	for i := int64(0); i < int64(len(w.data)); {
		at := w.offset + i
		n := min(block-at%block, int64(len(w.data))-i)
		if lucky() {
			if end := at + n; end > int64(len(to)) {
				to = append(to, make([]byte, end-int64(len(to)))...)
			}
			copy(to[at:], w.data[i:i+n])
		}
		i += n
	}
	return to
}

// sync has the disk hold what was written since the last one. One that fails has
// it hold some of it, and forgets the rest.
func (n *node) sync(rng *rand.Rand, ok bool) {
	if ok {
		rng = nil
	}
	for _, w := range n.writes {
		n.durable = w.do(n.durable, rng, 0.5)
	}
	n.writes = nil
}

func (n *node) syncNames(rng *rand.Rand, ok bool) {
	for _, c := range n.changes {
		if ok || rng.IntN(2) == 0 {
			c.do(n.durableNames)
		}
	}
	n.changes = nil
}

// lose is a power failure, which each block and name survives with probability p.
func (n *node) lose(rng *rand.Rand, p float64) {
	for _, w := range n.writes {
		n.durable = w.do(n.durable, rng, p)
	}
	n.writes, n.data = nil, slices.Clone(n.durable)
	if n.names == nil {
		return
	}
	for _, c := range n.changes {
		if rng.Float64() < p {
			c.do(n.durableNames)
		}
	}
	n.changes, n.names = nil, maps.Clone(n.durableNames)
	for _, name := range slices.Sorted(maps.Keys(n.names)) {
		n.names[name].lose(rng, p)
	}
}
