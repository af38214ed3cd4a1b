// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package client

import (
	"slices"
	"time"

	"github.com/reeve-run/reeve/api"
)

// succession keeps traffic where it is while a cluster takes over from another
// one. Servers that lost everything begin as another cluster, and say that
// nothing is routable, because they have not heard of anything. They hear of it
// from its nodes, one after another. Until they have heard a node, what the
// cluster before said of it holds. Servers on an older copy of their data believe
// that they have heard all nodes: what they do not know holds for a shorter time.
type succession struct {
	cluster string
	told    api.Position                 // up to the last update
	known   map[string]*api.CatalogEntry // what the servers say, by allocation
	held    map[string]*api.CatalogEntry // what those before them said, and holds
	until   time.Time                    // when that ends
	rewound bool                         // nodes that were heard were heard on another timeline
}

// heldFor is for how long at most what the servers do not know holds: a node
// that lives comes back within seconds.
const heldFor = 5 * time.Minute

// heldRewound is for how long at most what servers on an older copy do not know
// holds: agents that live connect again within seconds, and say what they run.
const heldRewound = 30 * time.Second

// next takes in what the servers say, and returns what that means for traffic;
// nil is nothing. An update without an index is a sign of life.
func (s *succession) next(u *api.CatalogUpdate, now time.Time) *api.CatalogUpdate {
	if u.Index != 0 {
		s.told.Index = u.Index
	}
	if u.Complete {
		return s.begin(u, now)
	}
	for _, e := range u.Entries {
		s.known[e.AllocID] = e
		delete(s.held, e.AllocID)
	}
	for _, id := range u.Removed {
		delete(s.known, id)
		delete(s.held, id)
	}
	gone := s.release(u.Nodes, now)
	if len(u.Entries)+len(u.Removed)+len(gone) == 0 {
		return nil
	}
	return &api.CatalogUpdate{Index: s.told.Index, Entries: u.Entries, Removed: slices.Concat(u.Removed, gone)}
}

// begin takes in an update that is complete.
func (s *succession) begin(u *api.CatalogUpdate, now time.Time) *api.CatalogUpdate {
	if another := u.Cluster != s.cluster; s.cluster != "" && (another || u.Rewound) {
		if len(s.held) == 0 {
			s.held = map[string]*api.CatalogEntry{}
		}
		for id, e := range s.known {
			s.held[id] = e
		}
		s.until, s.rewound = now.Add(heldFor), false
		if !another {
			s.until, s.rewound = now.Add(heldRewound), true
		}
	}
	s.told.Timeline = u.Timeline
	if u.Cluster != "" {
		s.cluster = u.Cluster
	}
	s.known = make(map[string]*api.CatalogEntry, len(u.Entries))
	for _, e := range u.Entries {
		s.known[e.AllocID] = e
		delete(s.held, e.AllocID)
	}
	s.release(u.Nodes, now)
	if len(s.held) == 0 {
		return u
	}
	all := *u
	all.Entries = slices.Clip(u.Entries)
	for _, e := range s.held {
		all.Entries = append(all.Entries, e)
	}
	return &all
}

// release lets go of what is held of nodes that the servers have heard, and of
// everything when its time is over.
func (s *succession) release(nodes []string, now time.Time) (gone []string) {
	if len(s.held) == 0 {
		return nil
	}
	over := !now.Before(s.until)
	heard := make(map[string]bool, len(nodes))
	for _, n := range nodes {
		heard[n] = !s.rewound
	}
	for id, e := range s.held {
		if over || heard[e.NodeID] {
			gone = append(gone, id)
			delete(s.held, id)
		}
	}
	slices.Sort(gone)
	return gone
}
