// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

// Package latency divides durations into the buckets of a histogram. Routers count
// requests in these buckets, and servers compute percentiles from them, so both must
// use the same ones.
package latency

import (
	"math/bits"
	"time"
)

// Buckets is the number of buckets. They are a quarter of a power of two wide, from a
// microsecond to minutes, so percentiles are accurate to a tenth.
const Buckets = 28 * 4

// Bucket returns the bucket of a duration, by the highest three bits of its
// microseconds.
func Bucket(d time.Duration) int {
	us := uint64(max(d, 0) / time.Microsecond)
	if us < 4 {
		return int(us)
	}
	exp := bits.Len64(us) - 3 // at least 0
	return min((exp+1)*4+int(us>>exp)&3, Buckets-1)
}

// Below returns the lowest duration above a bucket.
func Below(i int) time.Duration {
	if i < 4 {
		return time.Duration(i+1) * time.Microsecond
	}
	exp := i/4 - 1
	return time.Duration(uint64(4+i%4+1)<<exp) * time.Microsecond
}

// Counts holds a number of durations per bucket.
type Counts [Buckets]uint64

// Total returns the number of all durations.
func (c *Counts) Total() (total uint64) {
	for _, n := range c {
		total += n
	}
	return total
}

// Percentile returns the duration below which a fraction p of the durations is, with p below 1. It
// assumes that durations are spread evenly within a bucket. It is 0 if the counts are empty.
func (c *Counts) Percentile(p float64) time.Duration {
	want, seen := p*float64(c.Total()), 0.0
	for i, n := range c {
		if n == 0 {
			continue
		}
		if seen+float64(n) > want {
			least := time.Duration(0)
			if i > 0 {
				least = Below(i - 1)
			}
			return least + time.Duration((want-seen)/float64(n)*float64(Below(i)-least))
		}
		seen += float64(n)
	}
	return 0
}
