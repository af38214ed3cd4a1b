// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package router

import (
	"sync/atomic"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/latency"
)

// A histogram counts durations in the buckets of package latency.
type histogram struct {
	buckets [latency.Buckets]atomic.Uint64
	sum     atomic.Int64 // ns
	max     atomic.Int64 // ns
}

func (h *histogram) add(d time.Duration) {
	h.buckets[latency.Bucket(d)].Add(1)
	h.sum.Add(int64(d))
	for {
		before := h.max.Load()
		if int64(d) <= before || h.max.CompareAndSwap(before, int64(d)) {
			return
		}
	}
}

func (h *histogram) summary() *api.RouterLatency {
	var counts latency.Counts
	for i := range counts {
		counts[i] = h.buckets[i].Load()
	}
	total := counts.Total()
	if total == 0 {
		return nil
	}
	s := &api.RouterLatency{Count: total, Mean: time.Duration(h.sum.Load() / int64(total)), Max: time.Duration(h.max.Load())}
	at := func(p float64) time.Duration { return min(counts.Percentile(p), s.Max) }
	s.P50, s.P90, s.P99 = at(0.50), at(0.90), at(0.99)
	return s
}
