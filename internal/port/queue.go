// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package port

import (
	"net"
	"sync"
)

// A queue is the listener of one protocol.
type queue struct {
	port   *Port
	conns  chan net.Conn
	closed chan struct{}
	once   sync.Once
}

func newQueue(p *Port) *queue {
	return &queue{port: p, conns: make(chan net.Conn), closed: make(chan struct{})}
}

// put waits until a connection is accepted. It closes the connection if the listener or the
// port is closed first.
func (q *queue) put(conn net.Conn) {
	select {
	case q.conns <- conn:
	case <-q.closed:
		conn.Close()
	case <-q.port.ctx.Done():
		conn.Close()
	}
}

// Accept implements net.Listener.
func (q *queue) Accept() (net.Conn, error) {
	select {
	case <-q.closed:
	case <-q.port.ctx.Done():
	default:
		select {
		case conn := <-q.conns:
			return conn, nil
		case <-q.closed:
		case <-q.port.ctx.Done():
		}
	}
	return nil, &net.OpError{Op: "accept", Net: "tcp", Addr: q.Addr(), Err: net.ErrClosed}
}

// Close closes this listener; the port keeps serving the others.
func (q *queue) Close() error {
	q.once.Do(func() { close(q.closed) })
	return nil
}

// Addr implements net.Listener.
func (q *queue) Addr() net.Addr { return q.port.listeners[0].Addr() }
