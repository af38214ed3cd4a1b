// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package replica

import (
	"sync"
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
	mu sync.Mutex
	by map[raft.ServerID]contact

	gaps latency.Histogram // between two answers of a follower
}

type contact struct {
	at          time.Time
	term, index uint64
}

func (c *contacts) note(id raft.ServerID, resp *raft.AppendEntriesResponse) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.by == nil {
		c.by = map[raft.ServerID]contact{}
	}
	now := time.Now()
	if last, ok := c.by[id]; ok {
		c.gaps.Observe(now.Sub(last.at))
	}
	c.by[id] = contact{now, resp.Term, resp.LastLog}
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

// ledSince returns the time at which this server's newest leadership began.
func (r *Replica) ledSince() time.Time { return time.Unix(0, r.electedAt.Load()) }
