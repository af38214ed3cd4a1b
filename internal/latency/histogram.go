// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package latency

import (
	"sync/atomic"
	"time"
)

// A Histogram counts durations, from any goroutine. The zero value is empty, and a nil histogram
// counts nothing.
type Histogram struct {
	buckets [Buckets]atomic.Uint64
	sum     atomic.Int64 // nanoseconds
}

// Observe counts a duration.
func (h *Histogram) Observe(d time.Duration) {
	if h == nil {
		return
	}
	h.buckets[Bucket(d)].Add(1)
	h.sum.Add(int64(max(d, 0)))
}

// Summary returns the durations counted so far.
func (h *Histogram) Summary() (s Summary) {
	if h == nil {
		return s
	}
	s.Sum = time.Duration(h.sum.Load())
	for i := range h.buckets {
		s.Counts[i] = h.buckets[i].Load()
	}
	return s
}

// A Summary is a copy of a histogram.
type Summary struct {
	Counts Counts
	Sum    time.Duration // of all durations
}
