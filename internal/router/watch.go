// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package router

import (
	"sync"
	"time"
)

// A watch ends a wait that takes longer than a limit. One timer serves all waits
// of a stream: it fires once per limit and looks how old the present wait is, so
// that a wait costs neither a timer nor a message to the connection's loop.
type watch struct {
	limit time.Duration // 0 or less: waits may take for ever
	over  func()        // interrupts the wait; it is not called after stop
	other *watch        // while it waits, this one's time does not run; may be nil

	mu      sync.Mutex
	since   time.Time // when the present wait began; zero: nobody waits
	last    time.Time // when the last wait ended
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

// look interrupts the present wait if it is too old, or looks again when it
// would be.
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

// moved returns the end of the last wait, which is now during a wait.
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

// stop ends the watch: what over refers to may go.
func (w *watch) stop() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.stopped = true
	if w.timer != nil {
		w.timer.Stop()
	}
}
