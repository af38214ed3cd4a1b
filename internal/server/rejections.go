// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package server

import (
	"context"
	"fmt"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/placement"
	"github.com/reeve-run/reeve/internal/state"
)

// rejections counts what the applier refuses, by node. Workers and applier
// count alike, so a node that is ready and keeps refusing is a sign of a fault:
// it is reported, and takes no more placements if the scheduler's configuration
// says so.
type rejections struct {
	s       *Server
	refused chan placement.Refusal
	byNode  map[string][]time.Time // the last ones, oldest first
}

// maxRejecting bounds the nodes that are remembered.
const maxRejecting = 1024

func newRejections(s *Server) *rejections {
	return &rejections{s: s, refused: make(chan placement.Refusal, 256), byNode: map[string][]time.Time{}}
}

// add notes a refusal; it never waits.
func (r *rejections) add(refusal placement.Refusal) {
	r.s.meters.refused.Add(1)
	if refusal.NodeID == "" {
		return
	}
	select {
	case r.refused <- refusal:
	default: // there are more than enough to report
	}
}

// run counts until ctx ends.
func (r *rejections) run(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case refusal := <-r.refused:
			if command := r.note(r.s.store.Snapshot(), refusal, time.Now()); command != nil {
				if _, err := r.s.propose(ctx, command); err != nil && ctx.Err() == nil {
					r.s.cfg.Logger.Error("cannot mark the node that rejects placements", "node", refusal.NodeID, "error", err)
				}
			}
		}
	}
}

// note counts one refusal. If the node has refused too often it is reported,
// and what to do about it is returned.
func (r *rejections) note(snap *state.Snapshot, refusal placement.Refusal, now time.Time) *state.SetNodeEligibility {
	config := snap.SchedulerConfig().Rejections
	node := snap.Node(refusal.NodeID)
	if config.NodeThreshold <= 0 || node == nil || !node.IsReady() {
		return nil // one that went down or away meanwhile has every reason
	}
	times := r.byNode[node.ID]
	for len(times) > 0 && now.Sub(times[0]) > config.NodeWindow {
		times = times[1:]
	}
	times = append(times, now)
	if len(times) < config.NodeThreshold {
		r.remember(node.ID, times, now.Add(-config.NodeWindow))
		return nil
	}
	delete(r.byNode, node.ID)
	r.s.cfg.Logger.Warn("a node rejects placements repeatedly", "node", node.ID, "name", node.Name, "refusals", len(times),
		"within", now.Sub(times[0]), "last_reason", refusal.Reason, "marked_ineligible", config.MarkIneligible)
	c := &state.SetNodeEligibility{
		NodeID: node.ID, Time: now.UnixNano(),
		Message: fmt.Sprintf("Refused %d placements within %s: %s", len(times), config.NodeWindow, refusal.Reason),
	}
	if config.MarkIneligible {
		c.Eligibility = api.NodeIneligible
		c.Message = "Marked ineligible: r" + c.Message[1:]
	}
	return c
}

func (r *rejections) remember(id string, times []time.Time, since time.Time) {
	if len(r.byNode) >= maxRejecting && r.byNode[id] == nil {
		for other, t := range r.byNode {
			if t[len(t)-1].Before(since) {
				delete(r.byNode, other)
			}
		}
		if len(r.byNode) >= maxRejecting {
			return
		}
	}
	r.byNode[id] = times
}
