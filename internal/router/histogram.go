// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package router

import (
	"math/bits"
	"sync/atomic"
	"time"

	"github.com/reeve-run/reeve/api"
)

// A histogram counts durations in buckets that are a quarter of a power of two
// wide, from a microsecond to minutes. Its percentiles are accurate to a tenth.
type histogram struct {
	buckets [buckets]atomic.Uint64
	sum     atomic.Int64 // ns
	max     atomic.Int64 // ns
}

const buckets = 28 * 4

func (h *histogram) add(d time.Duration) {
	h.buckets[bucketOf(d)].Add(1)
	h.sum.Add(int64(d))
	for {
		before := h.max.Load()
		if int64(d) <= before || h.max.CompareAndSwap(before, int64(d)) {
			return
		}
	}
}

// bucketOf returns the bucket of a duration, by the highest three bits of its
// microseconds.
func bucketOf(d time.Duration) int {
	us := uint64(max(d, 0) / time.Microsecond)
	if us < 4 {
		return int(us)
	}
	exp := bits.Len64(us) - 3 // at least 0
	return min((exp+1)*4+int(us>>exp)&3, buckets-1)
}

// bound returns the lowest duration above a bucket.
func bound(i int) time.Duration {
	if i < 4 {
		return time.Duration(i+1) * time.Microsecond
	}
	exp := i/4 - 1
	return time.Duration(uint64(4+i%4+1)<<exp) * time.Microsecond
}

func (h *histogram) summary() *api.RouterLatency {
	var counts [buckets]uint64
	var total uint64
	for i := range counts {
		counts[i] = h.buckets[i].Load()
		total += counts[i]
	}
	if total == 0 {
		return nil
	}
	s := &api.RouterLatency{Count: total, Mean: time.Duration(h.sum.Load() / int64(total)), Max: time.Duration(h.max.Load())}
	at := func(p float64) time.Duration {
		want, seen := uint64(p*float64(total)), uint64(0)
		for i, n := range counts {
			if seen += n; seen > want {
				return min(bound(i), s.Max)
			}
		}
		return s.Max
	}
	s.P50, s.P90, s.P99 = at(0.50), at(0.90), at(0.99)
	return s
}
