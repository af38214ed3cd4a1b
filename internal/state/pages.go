// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package state

// Rows are stored in pages: fixed blocks of leafSize rows. Directories of dirSize pages
// locate the pages, and the root lists the directories. A row keeps its slot (its number)
// for life, so other rows refer to it by four bytes.
//
// Snapshots must be O(1) and must not change while the writer continues. A tree with a
// pointer per row has these properties, but a million rows in such a tree cost hundreds of
// bytes each and seconds of garbage collector time. Here a snapshot is a copy of the
// root's slice header. The writer copies each block the first time that it changes the
// block after a snapshot: the page, its directory, the root's slice.
//
// Generations determine which blocks can be changed in place. The writer's generation
// grows by one with every published snapshot, and each block carries the generation that
// created it. If both are equal, no snapshot contains the block yet. There are no
// reference counts: blocks that only old snapshots use become garbage when those are
// dropped.
//
// Changing one row therefore copies leafSize rows + dirSize pointers + one pointer per
// leafSize*dirSize rows: some 5 KB with a million rows. Batches share the copies, and rows
// are numbered in order of arrival, so a batch of inserts changes few pages.
const (
	leafSize = 64
	dirSize  = 256
)

type page[T any] struct {
	gen  uint64
	rows [leafSize]T
}

type directory[T any] struct {
	gen   uint64
	pages [dirSize]*page[T]
}

// pages is a copy-on-write array that grows as needed.
type pages[T any] struct {
	gen  uint64 // generation of the slice dirs
	dirs []*directory[T]
}

// at returns the row for reading, nil if its page was never written.
func (p *pages[T]) at(slot uint32) *T {
	d := int(slot / (leafSize * dirSize))
	if d >= len(p.dirs) || p.dirs[d] == nil {
		return nil
	}
	pg := p.dirs[d].pages[slot/leafSize%dirSize]
	if pg == nil {
		return nil
	}
	return &pg.rows[slot%leafSize]
}

// edit returns the row for writing in generation gen.
func (p *pages[T]) edit(gen uint64, slot uint32) *T {
	d := int(slot / (leafSize * dirSize))
	if p.gen != gen || d >= len(p.dirs) {
		dirs := make([]*directory[T], max(len(p.dirs), d+1))
		copy(dirs, p.dirs)
		p.dirs, p.gen = dirs, gen
	}
	dir := p.dirs[d]
	switch {
	case dir == nil:
		dir = &directory[T]{gen: gen}
		p.dirs[d] = dir
	case dir.gen != gen:
		dir = &directory[T]{gen: gen, pages: dir.pages}
		p.dirs[d] = dir
	}
	i := slot / leafSize % dirSize
	pg := dir.pages[i]
	switch {
	case pg == nil:
		pg = &page[T]{gen: gen}
		dir.pages[i] = pg
	case pg.gen != gen:
		pg = &page[T]{gen: gen, rows: pg.rows}
		dir.pages[i] = pg
	}
	return &pg.rows[slot%leafSize]
}
