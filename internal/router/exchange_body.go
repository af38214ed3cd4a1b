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
// each piece. The transport may still read it when the handler has
// returned.
type countedBody struct {
	io.ReadCloser
	n     atomic.Int64
	bound int64
	wait  atomic.Pointer[countdown]
	watch watch
	bad   atomic.Bool // it was refused: the client's fault
}

func (b *countedBody) Read(p []byte) (int, error) {
	wait := b.wait.Load()
	wait.pause()
	b.watch.begin()
	n, err := b.ReadCloser.Read(p)
	b.watch.end()
	wait.again()
	if isTimeout(err) {
		b.bad.Store(true)
		return n, &refusal{http.StatusRequestTimeout, "the request's body did not come in time"}
	}
	if total := b.n.Add(int64(n)); b.bound > 0 && total > b.bound {
		b.bad.Store(true)
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

// countedWriter counts what an answer's body has. A client that takes nothing of
// it is waited for only as long as the watch allows.
type countedWriter struct {
	http.ResponseWriter
	n     *int64
	watch watch
}

func (w *countedWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

func (w *countedWriter) Write(p []byte) (int, error) {
	w.watch.begin()
	n, err := w.ResponseWriter.Write(p)
	w.watch.end()
	*w.n += int64(n)
	return n, err
}

// FlushError is what http.ResponseController's Flush calls.
func (w *countedWriter) FlushError() error {
	w.watch.begin()
	defer w.watch.end()
	return http.NewResponseController(w.ResponseWriter).Flush()
}

// answerBody is an answer's body, which says when and how it has ended. Only the
// handler's goroutine uses it.
type answerBody struct {
	io.ReadCloser
	watch *watch
	ended func(error) // called once, with nil if the end was not reached
	over  bool
}

func (b *answerBody) Read(p []byte) (int, error) {
	b.watch.begin()
	n, err := b.ReadCloser.Read(p)
	b.watch.end()
	if err != nil {
		b.end(err)
	}
	return n, err
}

func (b *answerBody) end(err error) {
	if !b.over {
		b.over = true
		b.ended(err)
	}
}

func (b *answerBody) Close() error {
	err := b.ReadCloser.Close()
	b.end(nil)
	return err
}

// pieces lends buffers.
type pieces struct{}

func (pieces) Get() []byte  { return bodyRoom.Get().(*[32 << 10]byte)[:] }
func (pieces) Put(b []byte) { bodyRoom.Put((*[32 << 10]byte)(b)) }
