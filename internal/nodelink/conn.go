// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package nodelink

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/nodeproto"
)

// Bounds of the messages of a node, in bytes.
const (
	maxMessage = 32 << 20 // a batch of reports
	maxMark    = 256      // the mark of an agent
)

// writeTimeout is the least time in which a node must receive what is pending. The most is twice
// as long: a deadline costs as much as a tenth of a write, so it is set once for many of them.
const writeTimeout = time.Minute

// flushSize is the number of bytes after which pending messages are written.
const flushSize = 64 << 10

// A conn is one connection. An ordinary one has a single link.
type conn struct {
	server *Server
	raw    net.Conn
	peer   Peer
	ctx    context.Context // of the server; nothing of a connection outlives it
	links  []*link         // by slot; only its own goroutine adds to it

	mu        sync.Mutex
	lastHeard time.Time
	pending   []*link // links with something to send
	writing   bool
	closed    bool

	deadline time.Time // of writes; only the goroutine that writes uses it
}

// serve reads messages until the connection ends.
func (c *conn) serve() {
	err := c.read()
	c.mu.Lock()
	c.closed = true
	c.mu.Unlock()
	if errors.Is(err, errProtocol) {
		refuse(c.raw, err)
	}
	c.raw.Close()
	if errors.Is(err, errProtocol) {
		c.server.Logger.Warn("a connection of a node was closed", "node", c.peer.Node, "peer", c.raw.RemoteAddr(), "error", err)
	}
	c.server.forget(c)
}

func (c *conn) read() error {
	var m nodeproto.FromNode
	r := nodeproto.NewReader(c.raw, maxMessage)
	for {
		m.Reset()
		if err := r.Next(&m); err != nil {
			var broken net.Error
			if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, net.ErrClosed) || errors.As(err, &broken) {
				return err
			}
			return fmt.Errorf("%w: %w", errProtocol, err)
		}
		c.mu.Lock()
		c.lastHeard = time.Now()
		c.mu.Unlock()
		if err := c.receive(&m); err != nil {
			return err
		}
	}
}

func (c *conn) heardAt() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.lastHeard
}

// receive handles one message of the node.
func (c *conn) receive(m *nodeproto.FromNode) error {
	if m.Hello != nil {
		return c.greet(m.Slot, m.Hello)
	}
	if int(m.Slot) >= len(c.links) {
		return fmt.Errorf("%w: its first message is no greeting", errProtocol)
	}
	l := c.links[m.Slot]
	if c.peer.Any && l.isEnded() {
		return nil // it was sent before the node knew
	}
	if m.Beat {
		c.server.wait(l)
	}
	if m.Report != nil {
		return c.server.reports.take(l, m.Report)
	}
	return nil
}

// greet adds the link of a node. Slots are numbered in the order of their first messages.
func (c *conn) greet(slot uint32, hello *nodeproto.Hello) error {
	node := nodeproto.UnpackID(hello.Node)
	switch {
	case int(slot) != len(c.links):
		return fmt.Errorf("%w: it greets twice, or skips slots", errProtocol)
	case !c.peer.Any && slot > 0:
		return fmt.Errorf("%w: %w", errProtocol, api.Errorf(api.CodeForbidden, "the certificate of node %s speaks for one node, and its agent greets for several: each agent joins with a certificate of its own", c.peer.Node))
	case !c.peer.Any && node != c.peer.Node:
		return fmt.Errorf("%w: %w", errProtocol, api.Errorf(api.CodeForbidden, "the certificate of node %s does not speak for node %.64q: each agent joins with a certificate of its own", c.peer.Node, node))
	case len(hello.Agent) > maxMark:
		return fmt.Errorf("%w: the mark of its agent has %d bytes", errProtocol, len(hello.Agent))
	}
	l := &link{conn: c, slot: slot, node: node, agent: nodeproto.AgentDigest(hello.Agent), told: api.Position{Timeline: hello.Timeline, Index: hello.Index}}
	c.links = append(c.links, l)
	c.server.wait(l)
	return nil
}

// wake has pending messages of a link written.
func (c *conn) wake(l *link) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return
	}
	if !l.pending {
		l.pending = true
		c.pending = append(c.pending, l)
	}
	if !c.writing {
		c.writing = true
		c.server.writers.do(c.write)
	}
}

// write writes what is pending. One goroutine at a time runs it.
func (c *conn) write() {
	b := buffers.Get().(*[]byte)
	defer func() {
		if cap(*b) <= keepBuffer {
			buffers.Put(b)
		}
	}()
	for {
		c.mu.Lock()
		links := c.pending
		c.pending = nil
		for _, l := range links {
			l.pending = false
		}
		if len(links) == 0 || c.closed {
			c.writing = false
			c.mu.Unlock()
			return
		}
		c.mu.Unlock()
		if err := c.send(links, b); err != nil {
			c.raw.Close() // its reader notices
			c.mu.Lock()
			c.closed, c.writing = true, false
			c.mu.Unlock()
			return
		}
	}
}

// send writes what links have to say.
func (c *conn) send(links []*link, b *[]byte) (err error) {
	out := (*b)[:0]
	defer func() { *b = out[:0] }()
	flush := func() error {
		if len(out) == 0 {
			return nil
		}
		if now := time.Now(); c.deadline.Sub(now) < writeTimeout {
			c.deadline = now.Add(2 * writeTimeout)
			c.raw.SetWriteDeadline(c.deadline)
		}
		_, err := c.raw.Write(out)
		out = out[:0]
		return err
	}
	for _, l := range links {
		for more := true; more; {
			if out, more, err = l.appendNext(out); errors.Is(err, errEnded) && c.peer.Any {
				c.server.drop(l)
				break
			} else if err != nil {
				flush()
				return err
			}
			if len(out) >= flushSize {
				if err := flush(); err != nil {
					return err
				}
			}
		}
	}
	return flush()
}

// keepBuffer is the largest pooled buffer, in bytes.
const keepBuffer = 1 << 20

// buffers pools the buffers of writers, because most connections are idle.
var buffers = sync.Pool{New: func() any { return new([]byte) }}
