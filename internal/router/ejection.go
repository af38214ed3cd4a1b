// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package router

import (
	"sync"
	"sync/atomic"
	"time"
)

// An ejection keeps traffic from an instance that failed again and again, for
// longer each time. It is what the router sees by itself, between two results
// of the instance's checks; the catalog has the last word on everything else.
type ejection struct {
	until atomic.Int64 // in ticks; 0: never ejected, or well since
	row   atomic.Int32 // failures without an answer below 500 between them

	mu     sync.Mutex
	times  int // in a row: each is twice as long as the one before
	count  uint64
	reason string
}

const (
	failuresToConnect = 2 // in a row: nobody listens, or the machine is gone
	failuresToAnswer  = 5 // in a row: it answers, but with errors
	firstEjection     = time.Second
	longestEjection   = 30 * time.Second
)

// isOut reports whether traffic is kept away at a time.
func (e *ejection) isOut(now int64) bool {
	until := e.until.Load()
	return until != 0 && until > now
}

// succeeded forgets failures. An instance whose ejection has run out and that
// answers well starts from nothing.
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

// failed counts a failure, and ejects when there were too many and the pool can
// do without the instance. One that comes back from an ejection and fails is
// out again at once.
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

// state is what there is to show.
func (e *ejection) state(now int64) (until int64, reason string, count uint64) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if u := e.until.Load(); u > now {
		return u, e.reason, e.count
	}
	return 0, "", e.count
}
