// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package state

import (
	"slices"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/state/wire"
)

// A timeline is what one leader added to the history. Servers that are started
// on an older copy of their data go on from there on a timeline of their own, so
// whoever was told something on another one can find out that it never was.
// PostgreSQL tells by its timelines where a restored database left the history.
type timeline struct {
	ID   string
	From uint64 // log index
}

// keepTimelines is how many are kept. Whoever was told something on an older one
// is taken for a stranger.
const keepTimelines = 1024

// Timeline names the one that is being written; "" before the first one.
func (c *content) Timeline() string {
	if n := len(c.cluster.timelines); n > 0 {
		return c.cluster.timelines[n-1].ID
	}
	return ""
}

// Lacks reports whether somebody was told up to a position that the state's history
// does not have: it went back to an older copy, or is another one. Who does not
// say on which timeline that was is believed.
func (c *content) Lacks(told api.Position) bool { return told.Timeline != "" && !c.holds(told) }

// holds reports whether the history has the position. The timeline that is being
// written has all that comes.
func (c *content) holds(p api.Position) bool {
	all := c.cluster.timelines
	i := slices.IndexFunc(all, func(t timeline) bool { return t.ID == p.Timeline })
	return i >= 0 && (i == len(all)-1 || p.Index < all[i+1].From)
}

// BeginTimeline is the first thing that a leader writes.
type BeginTimeline struct {
	ID string // of no other one, ever
}

// Name implements Command.
func (c *BeginTimeline) Name() string { return "BeginTimeline" }

func (c *BeginTimeline) apply(t *txn) error {
	switch {
	case c.ID == "":
		return api.Errorf(api.CodeInvalid, "a timeline needs an ID")
	case t.cluster.id == "":
		return api.Errorf(api.CodeConflict, "the cluster has not begun")
	}
	old := t.cluster.timelines
	old = old[max(len(old)-keepTimelines+1, 0):]
	t.cluster.timelines = append(slices.Clone(old), timeline{c.ID, t.index})
	return nil
}

func (c *BeginTimeline) encode() *wire.Command {
	return &wire.Command{Kind: &wire.Command_BeginTimeline{BeginTimeline: &wire.BeginTimeline{Id: c.ID}}}
}
