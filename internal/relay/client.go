// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package relay

import (
	"context"
	"errors"
	"net"
	"net/http"
	"sync"
	"time"
)

var (
	// ErrNoLink means that no connection to a server is ready, and that nothing was sent.
	ErrNoLink = errors.New("there is no connection for writes to the server yet")
	// ErrUnsupported is wrapped by the errors of Dial about a server that does not know this
	// protocol.
	ErrUnsupported = errors.New("the server does not support connections for writes")
)

const (
	dialTimeout = 3 * time.Second
	// Pauses before another attempt to connect.
	retryAfter       = time.Second
	unsupportedAfter = time.Minute // a server may be upgraded
	// maxTargets bounds the servers that a client remembers.
	maxTargets = 64
)

// A Client sends writes to other servers. It keeps one connection to each server to which it
// sends. Make one with NewClient.
type Client struct {
	dial    func(ctx context.Context, address string) (net.Conn, error)
	ctx     context.Context // of dials
	stop    context.CancelFunc
	running sync.WaitGroup

	mu      sync.Mutex
	targets map[string]*target // by address
	closed  bool
}

// A target is a server.
type target struct {
	link    *link // nil without a connection
	dialing bool
	retry   time.Time // of the next attempt to connect
}

// NewClient returns a client without connections. dial connects to a server, and verifies that
// it is a server of the cluster.
func NewClient(dial func(ctx context.Context, address string) (net.Conn, error)) *Client {
	ctx, stop := context.WithCancel(context.Background())
	return &Client{dial: dial, ctx: ctx, stop: stop, targets: map[string]*target{}}
}

// RoundTrip sends a request with its whole body to a server, and returns the answer. sent reports
// whether the server may have received a part of it. Without a connection that is ready, it
// returns ErrNoLink immediately. The body has at most MaxBody bytes.
func (c *Client) RoundTrip(r *http.Request, address string, body []byte) (resp *http.Response, sent bool, err error) {
	l := c.link(address)
	if l == nil || len(body) > MaxBody {
		return nil, false, ErrNoLink
	}
	return l.roundTrip(r, body)
}

// link returns a connection that is ready; nil if it has yet to be made.
func (c *Client) link(address string) *link {
	c.mu.Lock()
	defer c.mu.Unlock()
	t := c.targets[address]
	switch {
	case t != nil && t.link != nil && t.link.isOpen():
		return t.link
	case c.closed:
		return nil
	case t == nil:
		c.forgetSome()
		t = &target{}
		c.targets[address] = t
	}
	if now := time.Now(); !t.dialing && now.After(t.retry) {
		t.dialing = true
		c.running.Go(func() { c.connect(address, t) })
	}
	return nil
}

// connect makes the connection to a server.
func (c *Client) connect(address string, t *target) {
	ctx, cancel := context.WithTimeout(c.ctx, dialTimeout)
	conn, err := c.dial(ctx, address)
	cancel()
	c.mu.Lock()
	defer c.mu.Unlock()
	t.dialing, t.link = false, nil
	switch {
	case err == nil && c.closed:
		conn.Close()
	case err == nil:
		t.link = newLink(conn)
		c.running.Go(t.link.run)
	case errors.Is(err, ErrUnsupported):
		t.retry = time.Now().Add(unsupportedAfter)
	default:
		t.retry = time.Now().Add(retryAfter)
	}
}

// forgetSome makes room for another target.
func (c *Client) forgetSome() {
	if len(c.targets) < maxTargets {
		return
	}
	for address, t := range c.targets {
		if !t.dialing && (t.link == nil || !t.link.isOpen()) {
			delete(c.targets, address)
		}
	}
}

// Close breaks all connections off, and waits for the client's goroutines.
func (c *Client) Close() {
	c.mu.Lock()
	c.closed = true
	for _, t := range c.targets {
		if t.link != nil {
			t.link.fail(net.ErrClosed)
		}
	}
	c.mu.Unlock()
	c.stop()
	c.running.Wait()
}
