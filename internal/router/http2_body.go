// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package router

import (
	"io"
	"net/http"
	"sync"
	"sync/atomic"
	"time"
)

// countedBody is a request's body that counts, and is bounded. While the client
// is waited for, the time for the answer does not run, and it begins anew with
// each piece.
type countedBody struct {
	io.ReadCloser
	n, bound int64
	wait     atomic.Pointer[countdown]
	limit    func() // that the next piece has; nil if it may take for ever
}

func (b *countedBody) Read(p []byte) (int, error) {
	if b.limit != nil {
		b.limit()
	}
	wait := b.wait.Load()
	wait.pause()
	n, err := b.ReadCloser.Read(p)
	wait.again()
	if isTimeout(err) {
		return n, &refusal{http.StatusRequestTimeout, "the request's body did not come in time"}
	}
	b.n += int64(n)
	if b.bound > 0 && b.n > b.bound {
		return 0, tooLarge(b.bound)
	}
	return n, err
}

// A countdown is the time for an answer; none if its limit is 0.
type countdown struct {
	limit time.Duration
	mu    sync.Mutex
	timer *time.Timer // nil when nobody waits
}

func (c *countdown) start(over func()) {
	if c.limit > 0 {
		c.timer = time.AfterFunc(c.limit, over)
	}
}

func (c *countdown) pause() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.timer != nil {
		c.timer.Stop()
	}
}

func (c *countdown) again() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.timer != nil {
		c.timer.Reset(c.limit)
	}
}

func (c *countdown) stop() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.timer != nil {
		c.timer.Stop()
		c.timer = nil
	}
}

// countedWriter counts what an answer's body has.
type countedWriter struct {
	http.ResponseWriter
	n     *int64
	limit func() // that the next piece has; nil if it may take for ever
}

func (w *countedWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

func (w *countedWriter) Write(p []byte) (int, error) {
	if w.limit != nil {
		w.limit()
	}
	n, err := w.ResponseWriter.Write(p)
	*w.n += int64(n)
	return n, err
}

// answerBody says when an answer has ended.
type answerBody struct {
	io.ReadCloser
	once sync.Once
	end  func()
}

func (b *answerBody) Close() error {
	err := b.ReadCloser.Close()
	b.once.Do(b.end)
	return err
}

// pieces lends buffers.
type pieces struct{}

func (pieces) Get() []byte  { return bodyRoom.Get().(*[32 << 10]byte)[:] }
func (pieces) Put(b []byte) { bodyRoom.Put((*[32 << 10]byte)(b)) }
