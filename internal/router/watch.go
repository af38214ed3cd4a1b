// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package router

import (
	"sync"
	"time"
)

// A watch interrupts a wait that takes longer than a limit. One timer serves all
// waits of a stream: it fires once per limit and checks the age of the current
// wait, so that a wait costs neither a timer nor a deadline.
type watch struct {
	limit time.Duration // 0 or less for no limit
	over  func()        // interrupts the wait; never called after stop
	other *watch        // suspends this watch while it waits; may be nil

	mu      sync.Mutex
	since   time.Time // beginning of the current wait; zero outside of a wait
	last    time.Time // end of the last wait
	timer   *time.Timer
	stopped bool
}

func (w *watch) begin() {
	if w.limit <= 0 {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.since = time.Now()
	if w.timer == nil && !w.stopped {
		w.timer = time.AfterFunc(w.limit, w.look)
	}
}

func (w *watch) end() {
	if w.limit <= 0 {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.since, w.last = time.Time{}, time.Now()
}

// look interrupts the current wait if it is too old. Otherwise it sets the timer to
// the time when it will be.
func (w *watch) look() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.stopped {
		return
	}
	now, left := time.Now(), w.limit
	if !w.since.IsZero() {
		since := w.since
		if moved := w.other.moved(now); moved.After(since) {
			since = moved
		}
		left -= now.Sub(since)
	}
	if left <= 0 {
		w.over()
		return
	}
	w.timer.Reset(left)
}

// moved returns the end of the last wait, or now during a wait.
func (w *watch) moved(now time.Time) time.Time {
	if w == nil {
		return time.Time{}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.since.IsZero() {
		return now
	}
	return w.last
}

// stop ends the watch. It never calls over afterwards.
func (w *watch) stop() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.stopped = true
	if w.timer != nil {
		w.timer.Stop()
	}
}
