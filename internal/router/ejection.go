// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package router

import (
	"sync"
	"sync/atomic"
	"time"
)

// An ejection withholds traffic from an instance that failed repeatedly, for longer
// each time. It reflects only what the router observes between two results of the
// instance's checks; the catalog decides everything else.
type ejection struct {
	until atomic.Int64 // end in ticks; 0 if not ejected since the last success
	row   atomic.Int32 // consecutive failures

	mu     sync.Mutex
	times  int // consecutive ejections, each twice as long as the one before
	count  uint64
	reason string
}

const (
	failuresToConnect = 2 // consecutive failed connections before an ejection
	failuresToAnswer  = 5 // consecutive failed responses before an ejection
	firstEjection     = time.Second
	longestEjection   = 30 * time.Second
)

// isOut reports whether the instance is ejected at a time.
func (e *ejection) isOut(now int64) bool {
	until := e.until.Load()
	return until != 0 && until > now
}

// succeeded resets the failures, and after an ejection has expired, the number of
// ejections too.
func (e *ejection) succeeded(now int64) {
	if e.row.Load() != 0 {
		e.row.Store(0)
	}
	if until := e.until.Load(); until != 0 && until <= now {
		e.mu.Lock()
		e.times, e.reason = 0, ""
		e.until.CompareAndSwap(until, 0)
		e.mu.Unlock()
	}
}

// failed counts a failure, and ejects the instance at the limit if the pool can
// spare it. An instance that fails right after an ejection is ejected again
// immediately.
func (e *ejection) failed(limit int32, why string, now int64, spare func() bool) {
	row := e.row.Add(1)
	if until := e.until.Load(); until > now || until == 0 && row < limit || !spare() {
		return
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.until.Load() > now {
		return
	}
	d := min(firstEjection<<min(e.times, 10), longestEjection)
	e.times++
	e.count++
	e.reason = why
	e.row.Store(0)
	e.until.Store(now + int64(d))
}

// state returns the ejection's state for the router's status.
func (e *ejection) state(now int64) (until int64, reason string, count uint64) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if u := e.until.Load(); u > now {
		return u, e.reason, e.count
	}
	return 0, "", e.count
}
