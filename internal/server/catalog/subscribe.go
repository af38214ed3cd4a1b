// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package catalog

import (
	"context"
	"encoding/json"
	"sync"

	"github.com/reeve-run/reeve/api"
)

// How much of the past is held for those who follow: one that is further behind
// gets everything anew, which is then less.
const (
	pastMessages = 4096
	pastChanges  = 1 << 16
)

// A Message is an update, shared by all who follow.
type Message struct {
	*api.CatalogUpdate
	once sync.Once
	line []byte
	err  error
}

// Line is the message as a line of JSON. It is written once for all.
func (m *Message) Line() ([]byte, error) {
	m.once.Do(func() {
		if m.line, m.err = json.Marshal(m.CatalogUpdate); m.err == nil {
			m.line = append(m.line, '\n')
		}
	})
	return m.line, m.err
}

func (m *Message) changes() int {
	return 1 + len(m.Entries) + len(m.Removed) + len(m.Nodes) + len(m.Stacks)
}

// past is the last messages, numbered from the start of the process. Who follows
// holds a number.
type past struct {
	mu      sync.Mutex
	ring    []*Message
	first   uint64 // number of the oldest message held
	next    uint64 // number that the next message gets
	changes int    // in all messages held
	more    chan struct{}
}

func (p *past) init() { p.ring = make([]*Message, pastMessages) }

func (p *past) at(n uint64) **Message { return &p.ring[n%pastMessages] }

func (p *past) add(m *Message) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for p.next-p.first == pastMessages || p.changes > pastChanges && p.first < p.next {
		p.drop()
	}
	*p.at(p.next) = m
	p.next++
	p.changes += m.changes()
	p.wake()
}

func (p *past) drop() {
	p.changes -= (*p.at(p.first)).changes()
	*p.at(p.first) = nil
	p.first++
}

// reset has all who follow begin anew.
func (p *past) reset() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for p.first < p.next {
		p.drop()
	}
	p.first++ // whoever waits for the next message has missed something
	p.next++
	p.wake()
}

func (p *past) wake() {
	if p.more != nil {
		close(p.more)
		p.more = nil
	}
}

// take returns message n; nil and whether n is behind what is held, or a channel
// that is closed when there is one.
func (p *past) take(n uint64) (m *Message, behind bool, more <-chan struct{}) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case n < p.first:
		return nil, true, nil
	case n < p.next:
		return *p.at(n), false, nil
	}
	if p.more == nil {
		p.more = make(chan struct{})
	}
	return nil, false, p.more
}

// A Subscription follows the catalog. It is for one goroutine at a time, and
// costs nothing while it sleeps.
type Subscription struct {
	c    *Catalog
	next uint64 // number of the next message; 0: everything
}

// Subscribe follows the catalog. The first message is complete.
func (c *Catalog) Subscribe() *Subscription { return &Subscription{c: c} }

// Next returns the next message, waiting for it if need be. To a reader that
// missed some it returns a complete one.
func (s *Subscription) Next(ctx context.Context) (*Message, error) {
	if err := s.c.WaitSeen(ctx, 1); err != nil {
		return nil, err
	}
	for {
		m, behind, more := s.c.past.take(s.next)
		switch {
		case behind:
			m, s.next = s.c.complete()
			return m, nil
		case m != nil:
			s.next++
			return m, nil
		}
		select {
		case <-more:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// complete is everything, and the number of the message that comes after it.
func (c *Catalog) complete() (*Message, uint64) {
	c.mu.Lock()
	all, index, nodes, history, shares := c.entries.Copy(), c.seen.Load(), c.nodes.heard(), c.history, c.shares.all()
	c.past.mu.Lock()
	next := c.past.next
	c.past.mu.Unlock()
	c.mu.Unlock()
	u := &api.CatalogUpdate{Index: index, Complete: true, Nodes: nodes, Entries: all.Values(), Stacks: shares}
	u.Cluster, u.Timeline = history()
	return &Message{CatalogUpdate: u}, next
}
