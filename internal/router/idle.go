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
	maxIdle      = 256              // connections kept to one instance
	longestIdle  = 30 * time.Second // what is unused for longer is closed
	upstreamRoom = 4 << 10          // bytes of an answer read at once, as long as they suffice
)

// idleConns are kept connections to one instance, the one used last on top: the
// others grow old and are closed.
type idleConns struct {
	mu     sync.Mutex
	stack  []*upstream
	closed bool
}

// An upstream is a connection to an instance. One goroutine has it at a time.
type upstream struct {
	wire
	reused bool
	age    int64 // Unix nanoseconds when it was parked
}

// take returns the connection used last that is still alive, or nil. It looks
// at each: what an instance sent after its answer, because it counted wrong or
// because somebody made it, would be taken for the answer to the next request.
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

// sweep closes connections that are unused for too long.
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

// close closes all, and whatever is parked later.
func (c *idleConns) close() {
	c.mu.Lock()
	closing := c.stack
	c.stack, c.closed = nil, true
	c.mu.Unlock()
	for _, u := range closing {
		u.close()
	}
}

// dial connects to an instance. Its limits are the instance's to keep, and a
// connection is known dead within a minute when its machine is gone.
func dial(ctx context.Context, address string, timeout time.Duration) (*net.TCPConn, error) {
	d := net.Dialer{Timeout: timeout, KeepAliveConfig: keepAlive}
	nc, err := d.DialContext(ctx, "tcp", address)
	if err != nil {
		return nil, err
	}
	return nc.(*net.TCPConn), nil
}

var keepAlive = net.KeepAliveConfig{Enable: true, Idle: 15 * time.Second, Interval: 15 * time.Second, Count: 3}
