// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package control

import (
	"context"
	"time"
)

// A Clock tells the time of the machine's wall clock, which may be set, and of one
// that nobody sets, each since a moment of its own.
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

// WatchClock calls back, until ctx ends, when the wall clock was set back: what
// was to end at a time of it would go on for longer by that. One that is set
// forward ends things early, which is the safe side.
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
