// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

// Package garbage decides how much a server may allocate before it collects
// garbage. A server is a state that stays and, under load, much garbage beside
// it. The runtime's rule, a fixed share of what stays, serves neither end: with
// little state it collects all the time, and with gigabytes of it, it asks for
// as many again.
package garbage

import (
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"sync/atomic"
)

// Bounds of what may be allocated between two collections. A collection costs
// about 0.36 s of processor per million allocations in the state.
const (
	share    = 200       // percent of what stays, while that is within most
	most     = 512 << 20 // bytes
	leastPer = 25        // percent of what stays, whatever that is
)

// Percent is the share of live bytes that may be allocated before the next
// collection, as debug.SetGCPercent takes it.
func Percent(live uint64) int {
	if live == 0 {
		return share
	}
	return max(leastPer, int(min(share, most*100/live)))
}

// Bound keeps the bounds until stop is called. One at a time is enough: they
// are the whole process's.
func Bound() (stop func()) {
	before := debug.SetGCPercent(Percent(live()))
	var stopped atomic.Bool
	var set atomic.Int64
	afterCollection(func() (again bool) {
		if stopped.Load() {
			return false
		}
		if p := Percent(live()); p != int(set.Swap(int64(p))) {
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

// live is how many bytes the last collection found in use.
func live() uint64 {
	sample := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}

// afterCollection calls f after the next collection, and again after each later
// one for as long as f says so.
func afterCollection(f func() (again bool)) {
	type mark struct{ _ [16]byte } // nothing refers to it: each collection finds it
	runtime.AddCleanup(new(mark), func(struct{}) {
		if f() {
			afterCollection(f)
		}
	}, struct{}{})
}
