// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package nodelink

import (
	"errors"
	"sync"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/nodeproto"
)

// errEnded ends the connection of a link after its last message.
var errEnded = errors.New("the link has ended")

// A link is the part of a connection for one node.
type link struct {
	conn  *conn
	slot  uint32
	node  string
	agent string // digest of the mark of its agent
	told  api.Position

	pending bool // reports whether conn.pending contains it; guarded by conn.mu
	waits   bool // reports whether Server.waiting contains it; guarded by Server.mu
	open    bool // reports whether the node was accepted; guarded by Server.mu

	mu       sync.Mutex
	feed     Feed // nil before the node is accepted, and at the end
	welcome  bool
	heard    bool // reports whether an acknowledgement is to be sent
	results  []*nodeproto.ReportResult
	failure  error // the last message
	ended    bool
	inFlight int // number of reports
}

// appendNext appends the next message for the node, and reports whether there was one.
func (l *link) appendNext(b []byte) (_ []byte, more bool, err error) {
	l.mu.Lock()
	m := nodeproto.ToNode{Slot: l.slot, Heard: l.heard}
	failure, feed := l.failure, l.feed
	if l.welcome {
		m.Welcome = &nodeproto.Welcome{TtlMs: uint64(l.conn.server.TTL.Milliseconds())}
	}
	if len(l.results) > 0 {
		m.Result, l.results = l.results[0], l.results[1:]
	}
	l.heard, l.welcome = false, false
	l.mu.Unlock()
	m.Failure = nodeproto.FailureOf(failure)
	if m.Heard || m.Welcome != nil || m.Result != nil || m.Failure != nil {
		b, err = nodeproto.AppendMessage(b, &m)
		if err == nil && failure != nil {
			err = errEnded
		}
		return b, true, err
	}
	if feed == nil {
		return b, false, nil
	}
	return feed.AppendNext(b, l.slot)
}

// say changes what is to be sent, and has it sent.
func (l *link) say(change func()) {
	l.mu.Lock()
	change()
	l.mu.Unlock()
	l.conn.wake(l)
}

// isEnded reports whether the link has ended, while its connection serves other nodes.
func (l *link) isEnded() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.ended
}

// fail tells the node why its connection ends, and ends it.
func (l *link) fail(err error) { l.say(func() { l.failure = err }) }

// acknowledge tells the node that the leader knows of its last heartbeat.
func (l *link) acknowledge() { l.say(func() { l.heard = true }) }

// begin sends the node its allocations.
func (l *link) begin(feed Feed) {
	l.mu.Lock()
	ended := l.ended
	if !ended {
		l.feed, l.welcome, l.heard = feed, true, true
	}
	l.mu.Unlock()
	if ended {
		feed.Close()
		return
	}
	l.conn.wake(l)
}

// end releases what the link holds.
func (l *link) end() {
	l.mu.Lock()
	feed := l.feed
	l.feed, l.ended, l.results, l.failure = nil, true, nil, nil
	l.mu.Unlock()
	if feed != nil {
		feed.Close()
	}
}
