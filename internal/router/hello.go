// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package router

import (
	"container/list"
	"errors"
	"sync"
)

// maxHello bounds the bytes of a TLS client's first message that the router keeps, because an
// instance may have to receive them.
const maxHello = 32 << 10

var errHelloTooLarge = errors.New("the client's first message is too large")

// A helloConn is a client's connection during its TLS handshake. Until the router has decided,
// it keeps the bytes that it read, and sends nothing.
type helloConn struct {
	*handedConn
	undecided bool
	hello     []byte
	name      string        // that the client asked for
	pool      *pool         // of the instances that receive the connection; nil: the router decrypts
	unknown   bool          // reports whether the router has no certificate for the name
	place     *list.Element // in handshakes
}

func (c *helloConn) Read(p []byte) (int, error) {
	n, err := c.handedConn.Read(p)
	if c.undecided && n > 0 {
		if len(c.hello)+n > maxHello {
			return 0, errHelloTooLarge
		}
		c.hello = append(c.hello, p[:n]...)
	}
	return n, err
}

// Write discards the alert of a handshake that an instance continues.
func (c *helloConn) Write(p []byte) (int, error) {
	if c.pool != nil {
		return len(p), nil
	}
	return c.handedConn.Write(p)
}

// decide ends the recording: the instances of a pool receive the connection, or none.
func (c *helloConn) decide(p *pool) {
	c.undecided, c.pool = false, p
	if p == nil {
		c.hello = nil
	}
}

// handshakes holds the connections whose handshake is not complete. If it is full, a new one
// replaces the oldest: clients that complete theirs in time are served while others hold
// theirs open.
type handshakes struct {
	mu     sync.Mutex
	limit  int
	open   list.List // of *helloConn, oldest first
	closed bool
}

// add returns false if the router has stopped. It reports whether it closed another handshake.
func (h *handshakes) add(c *helloConn) (ok, dropped bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed {
		return false, false
	}
	if h.open.Len() >= h.limit {
		oldest := h.open.Front()
		h.open.Remove(oldest)
		oldest.Value.(*helloConn).Close()
		dropped = true
	}
	c.place = h.open.PushBack(c)
	return true, dropped
}

func (h *handshakes) remove(c *helloConn) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.open.Remove(c.place) // has no effect if it was dropped
}

func (h *handshakes) len() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.open.Len()
}

// close ends all handshakes.
func (h *handshakes) close() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.closed = true
	for e := h.open.Front(); e != nil; e = e.Next() {
		e.Value.(*helloConn).Close()
	}
}
