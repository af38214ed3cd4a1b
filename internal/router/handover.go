// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package router

import (
	"net"
	"sync"
)

// handOver gives a connection that begins with HTTP/2's preface to the server
// for it.
func (r *Router) handOver(c *conn, head []byte) {
	c.forever()
	rest := append(append([]byte(nil), head...), c.unread()...)
	nc := &begunConn{TCPConn: c.nc, rest: rest, closed: make(chan struct{})}
	select {
	case r.handed <- nc:
		<-nc.closed // it stays among the router's connections until then
	case <-r.stopped:
		c.close()
	}
}

// A begunConn is a connection of which something was read.
type begunConn struct {
	*net.TCPConn
	rest   []byte
	once   sync.Once
	closed chan struct{}
}

func (c *begunConn) Read(p []byte) (int, error) {
	if len(c.rest) > 0 {
		n := copy(p, c.rest)
		c.rest = c.rest[n:]
		return n, nil
	}
	return c.TCPConn.Read(p)
}

func (c *begunConn) Close() error {
	defer c.once.Do(func() { close(c.closed) })
	return c.TCPConn.Close()
}

// handedConns is a listener for connections that were handed over.
type handedConns struct{ router *Router }

func (l handedConns) Accept() (net.Conn, error) {
	select {
	case nc := <-l.router.handed:
		return nc, nil
	case <-l.router.stopped:
		return nil, net.ErrClosed
	}
}

func (l handedConns) Close() error   { return nil }
func (l handedConns) Addr() net.Addr { return l.router.listener.Addr() }
