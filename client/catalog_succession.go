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
// cluster before said of it holds.
type succession struct {
	cluster string
	index   uint64                       // of the last update
	known   map[string]*api.CatalogEntry // what the servers say, by allocation
	held    map[string]*api.CatalogEntry // what those before them said, and holds
	until   time.Time                    // when that ends
}

// heldFor is for how long at most what the servers do not know holds: a node
// that lives comes back within seconds.
const heldFor = 5 * time.Minute

// next takes in what the servers say, and returns what that means for traffic;
// nil is nothing. An update without an index is a sign of life.
func (s *succession) next(u *api.CatalogUpdate, now time.Time) *api.CatalogUpdate {
	if u.Index != 0 {
		s.index = u.Index
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
	return &api.CatalogUpdate{Index: s.index, Entries: u.Entries, Removed: slices.Concat(u.Removed, gone)}
}

// begin takes in an update that is complete.
func (s *succession) begin(u *api.CatalogUpdate, now time.Time) *api.CatalogUpdate {
	if s.cluster != "" && u.Cluster != s.cluster {
		if len(s.held) == 0 {
			s.held = map[string]*api.CatalogEntry{}
		}
		for id, e := range s.known {
			s.held[id] = e
		}
		s.until = now.Add(heldFor)
	}
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
		heard[n] = true
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
