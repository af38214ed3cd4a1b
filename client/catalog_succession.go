// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package client

import (
	"slices"
	"time"

	"github.com/reeve-run/reeve/api"
)

// A succession keeps traffic in place while servers with less knowledge take over. Servers
// that lost all state are a new cluster without routable allocations, and learn of these
// from one node after another. Until they have heard of a node, its entries from the previous
// cluster stay valid. Servers with an older copy of their data believe that they have heard
// of all nodes; entries that they lack stay valid for a shorter time.
type succession struct {
	cluster  string
	position api.Position                 // of the last update
	known    map[string]*api.CatalogEntry // the servers' entries, by allocation
	held     map[string]*api.CatalogEntry // valid entries of the previous servers
	until    time.Time                    // end of their validity
	rewound  bool                         // reports whether the nodes were heard on another timeline
	stacks   heritage
}

// heldFor bounds the validity of entries that a new cluster lacks: live nodes reconnect
// within seconds.
const heldFor = 5 * time.Minute

// heldRewound bounds the validity of entries that servers with an older copy of their data
// lack: live agents reconnect within seconds, and report their allocations.
const heldRewound = 30 * time.Second

// next applies the servers' update, and returns the resulting update for the receiver; nil
// if nothing changes. An update without an index is a heartbeat.
func (s *succession) next(u *api.CatalogUpdate, now time.Time) *api.CatalogUpdate {
	if u.Index != 0 {
		s.position.Index = u.Index
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
	dropped := append(s.stacks.learn(u.Stacks), s.stacks.prune(s.known, s.held)...)
	stacks := slices.Concat(u.Stacks, removed(dropped))
	if len(u.Entries)+len(u.Removed)+len(gone)+len(stacks) == 0 {
		return nil
	}
	return &api.CatalogUpdate{Index: s.position.Index, Entries: u.Entries, Removed: slices.Concat(u.Removed, gone), Stacks: stacks}
}

// begin applies a complete update.
func (s *succession) begin(u *api.CatalogUpdate, now time.Time) *api.CatalogUpdate {
	another := u.Cluster != s.cluster
	succeeds := s.cluster != "" && (another || u.Rewound)
	s.stacks.begin(u.Stacks, succeeds)
	if succeeds {
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
	s.position.Timeline = u.Timeline
	if u.Cluster != "" {
		s.cluster = u.Cluster
	}
	s.known = make(map[string]*api.CatalogEntry, len(u.Entries))
	for _, e := range u.Entries {
		s.known[e.AllocID] = e
		delete(s.held, e.AllocID)
	}
	s.release(u.Nodes, now)
	s.stacks.prune(s.known, s.held)
	if len(s.held)+len(s.stacks.inherited) == 0 {
		return u
	}
	all := *u
	all.Stacks = slices.Concat(u.Stacks, s.stacks.all())
	all.Entries = slices.Clip(u.Entries)
	for _, e := range s.held {
		all.Entries = append(all.Entries, e)
	}
	return &all
}

// release drops the held entries of nodes that the servers have heard of, and all of them
// after the end of their validity.
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
