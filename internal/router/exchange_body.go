// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package router

import (
	"errors"
	"io"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"
)

// A countedBody is the body of a request: it counts and limits its bytes. While
// the router waits for the client, the time limit of the response does not run,
// and it starts again with each piece. The transport may still read the body
// after the handler has returned.
type countedBody struct {
	io.ReadCloser
	n       atomic.Int64
	bound   int64
	wait    atomic.Pointer[countdown]
	watch   watch
	isHTTP1 bool
	ended   atomic.Bool             // reports whether the router has received the whole body
	refused atomic.Pointer[refusal] // the error that the client caused
}

func (b *countedBody) Read(p []byte) (int, error) {
	wait := b.wait.Load()
	wait.pause()
	b.watch.begin()
	n, err := b.ReadCloser.Read(p)
	b.watch.end()
	wait.again()
	if err == io.EOF {
		b.ended.Store(true)
	}
	refused := b.refusal(err)
	if total := b.n.Add(int64(n)); b.bound > 0 && total > b.bound {
		n, refused = 0, tooLarge(b.bound)
	}
	if refused != nil {
		b.refused.Store(refused)
		return n, refused
	}
	return n, err
}

// refusal returns the refusal for an error that the client caused.
func (b *countedBody) refusal(err error) *refusal {
	var network net.Error
	switch {
	case isTimeout(err):
		return errBodyTimeout
	case err == nil, err == io.EOF, !b.isHTTP1:
		return nil
	case errors.Is(err, io.ErrUnexpectedEOF), errors.As(err, &network):
		return errClientLeft
	case errors.Is(err, http.ErrBodyReadAfterClose): // the response has ended
		return nil
	}
	return bad("the request's body is not valid: " + err.Error())
}

// isRead reports whether the router has received the whole body.
func (b *countedBody) isRead() bool { return b.ended.Load() || b.ReadCloser == http.NoBody }

// A countdown is the time limit of a response. A limit of 0 is none.
type countdown struct {
	limit time.Duration
	mu    sync.Mutex
	timer *time.Timer // nil before start and after stop
}

func (c *countdown) start(over func()) {
	if c.limit > 0 {
		c.timer = time.AfterFunc(c.limit, over)
	}
}

// pause stops the countdown, which may be nil.
func (c *countdown) pause() {
	if c == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.timer != nil {
		c.timer.Stop()
	}
}

// again starts the countdown from its limit. It may be nil.
func (c *countdown) again() {
	if c == nil {
		return
	}
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

// A countedWriter counts the bytes of a response's body. The watch limits the
// time that it waits for a client.
type countedWriter struct {
	http.ResponseWriter
	n     *int64
	plain bool // reports whether the client speaks HTTP/1.0, which has no interim responses
	watch watch
}

func (w *countedWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// WriteHeader prevents net/http from adding fields that the instance did not
// send: a guessed content type could make a browser run a text as a script.
func (w *countedWriter) WriteHeader(status int) {
	if status < 200 && status != http.StatusSwitchingProtocols && w.plain {
		return
	}
	h := w.Header()
	for _, name := range []string{"Content-Type", "Date"} {
		if _, ok := h[name]; !ok && status >= 200 {
			h[name] = nil
		}
	}
	w.ResponseWriter.WriteHeader(status)
}

func (w *countedWriter) Write(p []byte) (int, error) {
	w.watch.begin()
	n, err := w.ResponseWriter.Write(p)
	w.watch.end()
	*w.n += int64(n)
	return n, err
}

// FlushError implements Flush of http.ResponseController.
func (w *countedWriter) FlushError() error {
	w.watch.begin()
	defer w.watch.end()
	return http.NewResponseController(w.ResponseWriter).Flush()
}

// A watchedBody is the body of a response, which reports its end. Only the
// handler's goroutine uses it.
type watchedBody struct {
	io.ReadCloser
	watch *watch
	ended func(error) // called once, with nil if the body was closed before its end
	over  bool
}

func (b *watchedBody) Read(p []byte) (int, error) {
	b.watch.begin()
	n, err := b.ReadCloser.Read(p)
	b.watch.end()
	if err != nil {
		b.end(err)
	}
	return n, err
}

func (b *watchedBody) end(err error) {
	if !b.over {
		b.over = true
		b.ended(err)
	}
}

func (b *watchedBody) Close() error {
	err := b.ReadCloser.Close()
	b.end(nil)
	return err
}

// buffers lends buffers to ReverseProxy.
type buffers struct{}

func (buffers) Get() []byte  { return bodyRoom.Get().(*[32 << 10]byte)[:] }
func (buffers) Put(b []byte) { bodyRoom.Put((*[32 << 10]byte)(b)) }
