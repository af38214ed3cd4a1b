// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package control

import (
	"context"
	"time"
)

// A Clock returns the machine's wall clock, which may be set, and its monotonic clock, each
// since an arbitrary time.
type Clock func() (wall, steady time.Duration)

// MachineClock is the machine's.
func MachineClock() (wall, steady time.Duration) {
	now := time.Now()
	return time.Duration(now.UnixNano()), now.Sub(processStart)
}

var processStart = time.Now()

const (
	clockEvery = time.Second
	clockSlack = 500 * time.Millisecond // less than that nobody minds
)

// WatchClock calls back, until ctx ends, when the wall clock was set back, because deadlines
// on it would be late. A clock that is set forward makes them early, which is safe.
func WatchClock(ctx context.Context, clock Clock, back func(by time.Duration)) {
	tick := time.NewTicker(clockEvery)
	defer tick.Stop()
	wall, steady := clock()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		w, s := clock()
		if by := (s - steady) - (w - wall); by > clockSlack {
			back(by)
		}
		wall, steady = w, s
	}
}
