// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package placement

import (
	"maps"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// entries lists what the index holds, in order, and fails if a branch does not
// know what is below it.
func (x *index) check(t *rapid.T) []entry {
	t.Helper()
	var all []entry
	var walk func(b *branch, height int) summary
	walk = func(b *branch, height int) summary {
		if b.n == 0 {
			t.Fatal("there is a branch with nothing below it")
		}
		for i := range b.n {
			first := len(all)
			var is summary
			if height > 1 {
				is = walk(b.kids[i], height-1)
			} else {
				l := b.leaves[i]
				if l.n == 0 {
					t.Fatal("there is an empty leaf")
				}
				all = append(all, l.entries[:l.n]...)
				is = l.sum()
			}
			if is != b.sums[i] {
				t.Fatalf("a branch says %+v of a child that has %+v", b.sums[i], is)
			}
			if all[first].key < b.keys[i] {
				t.Fatalf("a child of keys from %x has %x", b.keys[i], all[first].key)
			}
		}
		return b.sum()
	}
	if x.root != nil {
		walk(x.root, x.height)
	}
	return all
}

// TestIndexHoldsWhatWasPut puts and removes at random, and compares with a map;
// what is shared with a view must stay as it was.
func TestIndexHoldsWhatWasPut(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x, model := index{}, map[uint64]entry{}
		type shared struct {
			index
			entries []entry
		}
		var views []shared
		content := func() []entry {
			return slices.SortedFunc(maps.Values(model), func(a, b entry) int {
				if a.key < b.key {
					return -1
				}
				return 1
			})
		}
		many := rapid.SampledFrom([]uint64{40, 1000, 1 << 62}).Draw(t, "keys")
		for range rapid.IntRange(1, 15).Draw(t, "rounds") {
			for range rapid.IntRange(1, 200).Draw(t, "puts") {
				e := entry{
					key: rapid.Uint64Range(0, many).Draw(t, "key"), class: rapid.Int32Range(0, 100).Draw(t, "class"),
					freeCPU: rapid.Uint32().Draw(t, "cpu"), freeMem: rapid.Uint32().Draw(t, "mem"),
				}
				x.put(e)
				model[e.key] = e
			}
			keys := slices.Sorted(maps.Keys(model))
			for range rapid.IntRange(0, len(keys)).Draw(t, "removals") {
				key := keys[rapid.IntRange(0, len(keys)-1).Draw(t, "which")]
				x.remove(key)
				delete(model, key)
			}
			if got := x.check(t); !slices.Equal(got, content()) {
				t.Fatalf("the index holds %d entries, want %d", len(got), len(model))
			}
			if rapid.Bool().Draw(t, "view") {
				views = append(views, shared{x, content()})
				x.epoch++
			}
		}
		for _, v := range views {
			if !slices.Equal(v.check(t), v.entries) {
				t.Fatal("what a view shares was changed")
			}
		}
		for key := range model {
			x.remove(key)
		}
		if x.root != nil {
			t.Fatalf("an empty index has %d children", x.root.n)
		}
	})
}
