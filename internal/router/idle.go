// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package router

import (
	"context"
	"net"
	"sync"
	"time"
)

const (
	maxIdle      = 256              // idle connections to one instance
	longestIdle  = 30 * time.Second // age at which an idle connection is closed
	upstreamRoom = 4 << 10          // initial size of an instance's read buffer
)

// idleConns is a stack of idle connections to one instance, with the most recently
// used one on top, so that unneeded ones age and are closed.
type idleConns struct {
	mu     sync.Mutex
	stack  []*upstream
	closed bool
}

// An upstream is a connection to an instance. One goroutine at a time uses it.
type upstream struct {
	wire
	reused bool
	age    int64 // ticks when it was parked
}

// take returns the most recently used connection that is still usable, or nil. It
// checks each for unread bytes: the router would mistake bytes that an instance
// sent after a response for the response to the next request.
func (c *idleConns) take(now int64) *upstream {
	for {
		c.mu.Lock()
		n := len(c.stack)
		if n == 0 {
			c.mu.Unlock()
			return nil
		}
		u := c.stack[n-1]
		c.stack[n-1] = nil
		c.stack = c.stack[:n-1]
		c.mu.Unlock()
		if now-u.age < int64(longestIdle) && u.isQuiet() {
			u.reused = true
			return u
		}
		u.close()
	}
}

// park keeps a connection for the next request, or closes it.
func (c *idleConns) park(u *upstream, now int64) {
	u.age = now
	c.mu.Lock()
	if c.closed || len(c.stack) >= maxIdle {
		c.mu.Unlock()
		u.close()
		return
	}
	c.stack = append(c.stack, u)
	c.mu.Unlock()
}

// sweep closes connections that have been unused for too long.
func (c *idleConns) sweep(now int64) {
	c.mu.Lock()
	old := 0
	for old < len(c.stack) && now-c.stack[old].age >= int64(longestIdle) {
		old++
	}
	closing := append([]*upstream(nil), c.stack[:old]...)
	c.stack = append(c.stack[:0], c.stack[old:]...)
	c.mu.Unlock()
	for _, u := range closing {
		u.close()
	}
}

// close closes all connections, and those parked later.
func (c *idleConns) close() {
	c.mu.Lock()
	closing := c.stack
	c.stack, c.closed = nil, true
	c.mu.Unlock()
	for _, u := range closing {
		u.close()
	}
}

// dial connects to an instance. Keep-alive probes detect a lost machine within a
// minute.
func dial(ctx context.Context, address string, timeout time.Duration) (*net.TCPConn, error) {
	d := net.Dialer{Timeout: timeout, KeepAliveConfig: keepAlive}
	nc, err := d.DialContext(ctx, "tcp", address)
	if err != nil {
		return nil, err
	}
	return nc.(*net.TCPConn), nil
}

var keepAlive = net.KeepAliveConfig{Enable: true, Idle: 15 * time.Second, Interval: 15 * time.Second, Count: 3}
