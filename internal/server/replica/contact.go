// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package replica

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/hashicorp/raft"

	"github.com/reeve-run/reeve/internal/latency"
)

// Health describes a server as the leader sees it.
type Health struct {
	LastContact time.Duration // since its last answer; 0 for the leader itself
	Contacted   bool          // reports whether it answered since this server leads
	LastTerm    uint64        // of its last answer
	LastIndex   uint64        // the end of its log
	Trailing    uint64        // entries that its log lacks
}

// contacts records the answers of followers.
type contacts struct {
	clock atomic.Uint64 // counts confirmations; see stamp

	mu sync.Mutex
	by map[raft.ServerID]contact

	gaps latency.Histogram // between two answers of a follower
}

type contact struct {
	at          time.Time
	term, index uint64
	accepted    acceptance
}

// An acceptance is a request that a follower answered as the leader's.
type acceptance struct{ term, sent uint64 }

// stamp returns the time of a request that is about to be sent, on the clock of confirmations.
func (c *contacts) stamp() uint64 { return c.clock.Load() }

// note records the answer to a request of a term that was sent at a time.
func (c *contacts) note(id raft.ServerID, term, sent uint64, resp *raft.AppendEntriesResponse) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.by == nil {
		c.by = map[raft.ServerID]contact{}
	}
	now := time.Now()
	last, ok := c.by[id]
	if ok {
		c.gaps.Observe(now.Sub(last.at))
	}
	accepted := last.accepted
	if resp.Term == term && (term > accepted.term || term == accepted.term && sent > accepted.sent) {
		accepted = acceptance{term, sent}
	}
	c.by[id] = contact{now, resp.Term, resp.LastLog, accepted}
}

// hasAccepted reports whether a follower accepted a request of a term that was sent at a time, or
// later.
func (c *contacts) hasAccepted(id raft.ServerID, term, since uint64) bool {
	k, _ := c.get(id)
	return k.accepted.term == term && k.accepted.sent >= since
}

// clear forgets the answers of an earlier leadership.
func (c *contacts) clear() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.by = nil
}

func (c *contacts) get(id raft.ServerID) (contact, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	k, ok := c.by[id]
	return k, ok
}

// PeerHealth returns the health of each configured server by id, this one included. It
// returns nil if this server does not lead.
func (r *Replica) PeerHealth() map[string]Health {
	if !r.leading.Load() {
		return nil
	}
	peers, err := r.Servers()
	if err != nil {
		return nil
	}
	now, last, health := time.Now(), r.raft.LastIndex(), make(map[string]Health, len(peers))
	for _, p := range peers {
		if p.ID == r.ServerID() {
			health[p.ID] = Health{Contacted: true, LastTerm: r.raft.CurrentTerm(), LastIndex: last}
			continue
		}
		k, ok := r.contacts.get(raft.ServerID(p.ID))
		if !ok {
			health[p.ID] = Health{LastContact: now.Sub(r.ledSince()), Trailing: last}
			continue
		}
		h := Health{Contacted: true, LastContact: now.Sub(k.at), LastTerm: k.term, LastIndex: k.index}
		if last > k.index {
			h.Trailing = last - k.index
		}
		health[p.ID] = h
	}
	return health
}

// ledSince returns the time at which this server's newest leadership began. It has a monotonic
// reading: a clock that is set must not make servers look silent.
func (r *Replica) ledSince() time.Time {
	if at := r.electedAt.Load(); at != nil {
		return *at
	}
	return time.Time{}
}
