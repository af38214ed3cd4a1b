// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

// Package gcpace tunes the pace of Go's garbage collector for a server: how many
// bytes the process may allocate between two collections. A server holds a large
// live heap, the state, and allocates much short-lived memory under load. The
// runtime's default, a fixed share of the live heap, fits neither: a small state is
// collected all the time, and a state of gigabytes doubles the process.
package gcpace

import (
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"sync/atomic"
)

// Bounds of the allocation between two collections. A collection costs about
// 0.36 s of processor time per million allocations in the state.
const (
	defaultPercent = 200 // of the live heap, as long as that is within maxBytes
	maxBytes       = 512 << 20
	minPercent     = 25 // of the live heap, even if that exceeds maxBytes
)

// percentOf returns the share of live bytes that the process may allocate before the
// next collection, for debug.SetGCPercent.
func percentOf(live uint64) int {
	if live == 0 {
		return defaultPercent
	}
	return max(minPercent, int(min(defaultPercent, maxBytes*100/live)))
}

// Bound applies percentOf after every collection until stop is called. Call it once:
// the setting belongs to the whole process.
func Bound() (stop func()) {
	before := debug.SetGCPercent(percentOf(live()))
	var stopped atomic.Bool
	var set atomic.Int64
	afterCollection(func() (again bool) {
		if stopped.Load() {
			return false
		}
		if p := percentOf(live()); p != int(set.Swap(int64(p))) {
			debug.SetGCPercent(p) // stops the world for a moment
		}
		return true
	})
	return func() {
		if !stopped.Swap(true) {
			debug.SetGCPercent(before)
		}
	}
}

// live returns the number of bytes that the last collection found in use.
func live() uint64 {
	sample := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}

// afterCollection calls f after each collection until f returns false.
func afterCollection(f func() (again bool)) {
	type mark struct{ _ [16]byte } // unreferenced, so the next collection frees it
	runtime.AddCleanup(new(mark), func(struct{}) {
		if f() {
			afterCollection(f)
		}
	}, struct{}{})
}
