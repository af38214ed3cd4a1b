// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package relay

import (
	"net"
	"runtime"
	"sync"
	"time"
)

// writeTimeout bounds the time in which the other side must take what is written.
const writeTimeout = 10 * time.Second

// maxPending is the number of unwritten bytes above which a server reads no further requests.
const maxPending = 8 << 20

// A writer writes frames in the background: all that are ready, at once.
type writer struct {
	conn net.Conn
	wake chan struct{}

	mu      sync.Mutex
	room    *sync.Cond // signals that pending shrank
	pending []byte
	spare   []byte // the previous pending, to be reused
	added   uint64 // bytes ever added
	taken   uint64 // bytes of them that were, or may be, written
	closed  bool
}

func newWriter(conn net.Conn) *writer {
	w := &writer{conn: conn, wake: make(chan struct{}, 1)}
	w.room = sync.NewCond(&w.mu)
	return w
}

// add appends frames, and returns the position of their first byte. It reports false if the
// writer is closed.
func (w *writer) add(fill func([]byte) []byte) (at uint64, ok bool) {
	w.mu.Lock()
	if w.closed {
		w.mu.Unlock()
		return 0, false
	}
	at = w.added
	before := len(w.pending)
	w.pending = fill(w.pending)
	w.added += uint64(len(w.pending) - before)
	select {
	case w.wake <- struct{}{}: // not closed: this holds the lock
	default:
	}
	w.mu.Unlock()
	return at, true
}

// mayHaveSent reports whether the byte at a position may have been sent.
func (w *writer) mayHaveSent(at uint64) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return at < w.taken
}

// keepBuffer is the largest buffer that is reused, in bytes.
const keepBuffer = 1 << 20

// run writes until close, or until the connection fails, which closes the writer too:
// otherwise a session would wait for room forever.
func (w *writer) run() error {
	defer w.close()
	for range w.wake {
		// Other goroutines that are ready to run may be about to add frames. They go first, so
		// that one record carries all of them.
		runtime.Gosched()
		w.mu.Lock()
		if w.closed {
			w.mu.Unlock()
			return nil
		}
		batch := w.pending
		w.pending, w.spare = w.spare[:0], nil
		w.taken = w.added
		w.mu.Unlock()
		if len(batch) > 0 {
			w.conn.SetWriteDeadline(time.Now().Add(writeTimeout))
			if _, err := w.conn.Write(batch); err != nil {
				return err
			}
		}
		w.mu.Lock()
		if cap(batch) <= keepBuffer {
			w.spare = batch[:0]
		}
		w.room.Broadcast()
		w.mu.Unlock()
	}
	return nil
}

// awaitRoom returns when few bytes are pending, or after close.
func (w *writer) awaitRoom() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for len(w.pending) > maxPending && !w.closed {
		w.room.Wait()
	}
}

// close discards what is pending, and refuses further frames.
func (w *writer) close() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		return
	}
	w.closed, w.pending = true, nil
	close(w.wake)
	w.room.Broadcast()
}
