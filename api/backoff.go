// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package api

import "time"

// DelayBefore returns the delay before the nth consecutive restart, counted from 1,
// without jitter. It is zero for the immediate restarts, then Delay, which grows by
// DelayFunction up to MaxDelay.
func (r *Restart) DelayBefore(n int) time.Duration {
	if r == nil || r.Delay == nil || r.Immediate != nil && n <= *r.Immediate {
		return 0
	}
	if r.Immediate != nil {
		n -= *r.Immediate
	}
	delay, before := *r.Delay, time.Duration(0)
	if delay <= 0 || !r.grows() {
		return delay
	}
	limit := longestDelay
	if r.MaxDelay != nil {
		limit = *r.MaxDelay
	}
	for i := 1; i < n && delay < limit; i++ {
		more := delay
		if *r.DelayFunction == DelayFibonacci {
			more, before = before, delay
		}
		if delay > limit-more {
			return limit
		}
		delay += more
	}
	return min(delay, limit)
}

// longestDelay is the maximum delay between restarts if the policy has no max_delay.
const longestDelay = time.Hour

func (r *Restart) grows() bool {
	return r.DelayFunction != nil && (*r.DelayFunction == DelayExponential || *r.DelayFunction == DelayFibonacci)
}

// fits reports whether the delays of all attempts fit into the interval.
func (r *Restart) fits() bool {
	if r.Delay == nil || *r.Delay <= 0 || r.Interval == nil || r.Attempts == nil {
		return true
	}
	first := 1
	if r.Immediate != nil {
		first += max(*r.Immediate, 0)
	}
	left, last := *r.Interval, *r.Delay
	n := first
	for ; n <= *r.Attempts && n < first+steps; n++ {
		last = r.DelayBefore(n)
		if left -= last; left < 0 {
			return false
		}
	}
	return n > *r.Attempts || int64(*r.Attempts-n+1) <= int64(left/max(last, 1))
}

// steps is the number of restarts after which the delay no longer grows. From a nanosecond
// to an hour, or to a practically unlimited delay, takes fewer steps.
const steps = 100
