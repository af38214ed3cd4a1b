// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package catalog

import (
	"fmt"
	"runtime"
	"testing"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/state"
)

// benchEntries is as many instances as the largest fleet that the design is
// measured with has.
const benchEntries = 250_000

// filled is a catalog of that many entries, of 100 instances a service.
func filled() *world {
	w := newWorld()
	changes := map[string]*api.Allocation{}
	for i := range benchEntries {
		id := fmt.Sprintf("%08x-0000-0000-0000-000000000000", i)
		changes[id] = instance(id, 11, fmt.Sprintf("service-%d+http", i/100))
	}
	w.put(changes)
	return w
}

func BenchmarkFlip(b *testing.B) {
	for _, followers := range []int{0, 1000} {
		b.Run(fmt.Sprintf("followers=%d", followers), func(b *testing.B) {
			w := filled()
			for range followers {
				sub := w.c.Subscribe()
				if _, err := sub.Next(b.Context()); err != nil {
					b.Fatal(err)
				}
			}
			batches := make([]*state.Batch, 2*1000)
			for i := range 1000 {
				id := fmt.Sprintf("%08x-0000-0000-0000-000000000000", i*200)
				up := w.now[id]
				down := up.Copy()
				down.Serving = &api.Serving{Up: true, Services: up.Serving.Services}
				batches[2*i] = &state.Batch{Changes: []state.Change{{Table: state.TableAllocations, Op: state.Put, Old: up, New: down}}}
				batches[2*i+1] = &state.Batch{Changes: []state.Change{{Table: state.TableAllocations, Op: state.Put, Old: down, New: up}}}
			}
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				batch := batches[i%len(batches)]
				batch.Index = w.index + uint64(i) + 1
				w.c.apply(batch)
			}
		})
	}
}

func BenchmarkUntouched(b *testing.B) {
	w := filled()
	id := fmt.Sprintf("%08x-0000-0000-0000-000000000000", 77)
	old := w.now[id]
	batch := &state.Batch{Index: w.index + 1, Changes: []state.Change{{Table: state.TableAllocations, Op: state.Put, Old: old, New: old.Copy()}}}
	b.ReportAllocs()
	for b.Loop() {
		w.c.apply(batch)
	}
}

func BenchmarkMemory(b *testing.B) {
	w := filled()
	var with, without runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&with)
	c := w.c
	w.c = New()
	c.past.reset()
	entries := c.entries.Len()
	c = nil
	runtime.GC()
	runtime.ReadMemStats(&without)
	for b.Loop() {
	}
	b.ReportMetric(float64(with.HeapAlloc-without.HeapAlloc)/float64(entries), "B/entry")
	runtime.KeepAlive(w)
}
