// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package state

import (
	"slices"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/state/wire"
)

// A timeline is the part of the history that one leader wrote. Servers that start from an
// older copy of their data continue on a timeline of their own. A client with a position
// on another timeline can thus detect that this position is no longer part of the history.
// PostgreSQL uses timelines in the same way for restored databases.
type timeline struct {
	ID   string
	From uint64 // log index
}

// keepTimelines is the number of timelines kept. The state considers positions on older
// timelines unknown.
const keepTimelines = 1024

// Timeline returns the id of the current timeline; "" before the first one.
func (c *content) Timeline() string {
	if n := len(c.cluster.timelines); n > 0 {
		return c.cluster.timelines[n-1].ID
	}
	return ""
}

// Lacks reports whether the state's history lacks a position that was reported earlier:
// the state went back to an older copy, or has another history. Lacks accepts positions
// without a timeline.
func (c *content) Lacks(told api.Position) bool { return told.Timeline != "" && !c.holds(told) }

// holds reports whether the history contains the position. The current timeline contains
// all later positions.
func (c *content) holds(p api.Position) bool {
	all := c.cluster.timelines
	i := slices.IndexFunc(all, func(t timeline) bool { return t.ID == p.Timeline })
	return i >= 0 && (i == len(all)-1 || p.Index < all[i+1].From)
}

// BeginTimeline is the first command that a leader writes.
type BeginTimeline struct {
	ID string // globally unique
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
