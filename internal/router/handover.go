// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package router

import (
	"net"
	"sync"
	"sync/atomic"
)

// handOver passes a connection to a server of net/http, and returns when it is
// closed. The server receives nc, which is c or TLS over it.
func (r *Router) handOver(to chan<- net.Conn, nc net.Conn, c *handedConn) {
	select {
	case to <- nc:
		<-c.closed
	case <-r.stopped:
		c.Close()
	}
}

// A handedConn is a client's connection that the server of net/http serves. It
// reads the rest first, which the router has already read.
type handedConn struct {
	*net.TCPConn
	rest   []byte
	silent atomic.Bool // reports whether the client has not sent anything
	once   sync.Once
	closed chan struct{}
	caller peer // of a client that calls stacks
}

func newHandedConn(nc *net.TCPConn, rest []byte) *handedConn {
	return &handedConn{TCPConn: nc, rest: rest, closed: make(chan struct{})}
}

func (c *handedConn) Read(p []byte) (int, error) {
	if len(c.rest) > 0 {
		n := copy(p, c.rest)
		c.rest = c.rest[n:]
		return n, nil
	}
	n, err := c.TCPConn.Read(p)
	if n > 0 && c.silent.Load() {
		c.silent.Store(false)
	}
	return n, err
}

func (c *handedConn) Close() error {
	defer c.once.Do(func() { close(c.closed) })
	return c.TCPConn.Close()
}

// isIdle reports whether the router may close the connection when it stops. The
// server of net/http closes connections between two requests, but waits for a
// client that has not sent anything yet.
func (c *handedConn) isIdle() bool { return c.silent.Load() }

func (c *handedConn) close() { c.Close() }

// handedConns is the listener of a server of net/http.
type handedConns struct {
	router *Router
	handed <-chan net.Conn
}

func (l handedConns) Accept() (net.Conn, error) {
	select {
	case nc := <-l.handed:
		return nc, nil
	case <-l.router.stopped:
		return nil, net.ErrClosed
	}
}

func (l handedConns) Close() error   { return nil }
func (l handedConns) Addr() net.Addr { return l.router.listener.Addr() }
