// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package heap_test

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/reeve-run/reeve/internal/heap"
)

func TestPopReturnsItemsInOrder(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		numbers := rapid.SliceOf(rapid.IntRange(0, 20)).Draw(r, "numbers")
		h := heap.New(func(a, b *int) bool { return *a < *b })
		if rapid.Bool().Draw(r, "fill at once") {
			h.Items = slices.Clone(numbers)
			h.Init()
		} else {
			for _, n := range numbers {
				h.Push(n)
			}
		}
		var got []int
		for h.Len() > 0 {
			got = append(got, h.Pop())
		}
		want := slices.Clone(numbers)
		slices.Sort(want)
		if !slices.Equal(got, want) {
			r.Errorf("popped %v, want %v", got, want)
		}
	})
}

// A job is an item that stores its index.
type job struct{ due, index int }

func TestIndexedItemsKnowTheirIndex(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		h := heap.NewIndexed(func(a, b *job) bool { return a.due < b.due }, func(j *job) *int { return &j.index })
		var all []*job
		any := func() *job { return rapid.SampledFrom(all).Draw(r, "job") }
		for range rapid.IntRange(1, 60).Draw(r, "steps") {
			switch step := rapid.IntRange(0, 3).Draw(r, "step"); {
			case step == 0 || len(all) == 0:
				j := &job{due: rapid.IntRange(0, 9).Draw(r, "due"), index: -1}
				all = append(all, j)
				h.Put(j)
			case step == 1:
				j := any()
				h.Remove(j)
				if j.index != -1 {
					r.Fatalf("a removed job has index %d", j.index)
				}
			default:
				j := any()
				j.due = rapid.IntRange(0, 9).Draw(r, "due")
				h.Put(j)
			}
			held := 0
			for _, j := range all {
				if j.index >= 0 {
					held++
					if h.Items()[j.index] != j {
						r.Fatalf("%+v is not where it says", j)
					}
				}
			}
			if held != h.Len() {
				r.Fatalf("%d jobs say that they are in the heap, which has %d", held, h.Len())
			}
			first, ok := h.First()
			if ok != (held > 0) {
				r.Fatalf("First reports %v for %d jobs", ok, held)
			}
			if ok && slices.ContainsFunc(h.Items(), func(j *job) bool { return j.due < first.due }) {
				r.Fatalf("the first job is due at %d, and another one earlier", first.due)
			}
		}
	})
}

func TestClearKeepsTheMemory(t *testing.T) {
	h := heap.New(func(a, b *int) bool { return *a < *b })
	h.Push(2)
	h.Push(1)
	h.Clear()
	if h.Len() != 0 {
		t.Fatalf("%d items are left", h.Len())
	}
	if n := testing.AllocsPerRun(10, func() { h.Push(3); h.Push(4); h.Clear() }); n != 0 {
		t.Errorf("pushing again allocates %v times", n)
	}
}
