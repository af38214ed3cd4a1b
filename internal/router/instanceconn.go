// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package router

import (
	"io"
	"net"
	"os"
	"sync"
	"syscall"
)

// An instanceConn is a transport's connection to an instance. It does not write to
// a connection that the instance has closed, so that the transport knows that the
// instance received nothing, and sends the request on another connection.
//
// The transport returns a connection to its pool before it notices that the instance
// sent more than the response. A request that takes the connection in between would
// get these bytes as its response, and the next request the response of this one.
// So each request waits until the transport's reader has nothing left to read: then
// the reader is in Read, or it has found unexpected bytes and closed the connection.
type instanceConn struct {
	*net.TCPConn
	peeking wire

	mu      sync.Mutex
	changed sync.Cond // of waiting and closed
	waiting bool      // reports whether the reader has consumed all bytes and waits for more
	closed  bool
}

func newInstanceConn(nc *net.TCPConn) (net.Conn, error) {
	w, err := newWire(nc, 0)
	if err != nil {
		nc.Close()
		return nil, &dialError{err}
	}
	c := &instanceConn{TCPConn: nc, peeking: w}
	c.changed.L = &c.mu
	return c, nil
}

// settle waits for the transport's reader to finish with earlier responses. It
// returns false if the connection is closed.
func (c *instanceConn) settle() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	for !c.closed && !(c.waiting && c.peeking.isQuiet()) {
		c.changed.Wait()
	}
	return !c.closed
}

// Read reads under the lock, so that settle finds each byte either with the kernel
// or counted as read.
func (c *instanceConn) Read(p []byte) (n int, err error) {
	if len(p) == 0 {
		return 0, nil
	}
	var failed error
	err = c.peeking.raw.Read(func(fd uintptr) bool {
		c.mu.Lock()
		defer c.mu.Unlock()
		n, failed = syscall.Read(int(fd), p)
		for failed == syscall.EINTR {
			n, failed = syscall.Read(int(fd), p)
		}
		if c.waiting = failed == syscall.EAGAIN; c.waiting {
			c.changed.Broadcast()
		}
		return !c.waiting
	})
	switch {
	case err != nil:
		return 0, err
	case failed != nil:
		return 0, &net.OpError{Op: "read", Net: "tcp", Source: c.LocalAddr(), Addr: c.RemoteAddr(), Err: os.NewSyscallError("read", failed)}
	case n == 0:
		return 0, io.EOF
	}
	return n, nil
}

func (c *instanceConn) Write(p []byte) (int, error) {
	if c.peeking.isGone() {
		return 0, net.ErrClosed
	}
	return c.TCPConn.Write(p)
}

func (c *instanceConn) Close() error {
	err := c.TCPConn.Close()
	c.mu.Lock()
	defer c.mu.Unlock()
	c.closed = true
	c.changed.Broadcast()
	return err
}
