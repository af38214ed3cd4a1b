// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package control

import (
	"sync"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/state"
)

// drain empties nodes: it says which allocations have to move when, and when
// nothing is left. What decides is in drain_decide.go. All nodes that are
// drained are looked at together, because they share what a group allows to be
// under way at once; that is why there is one key.
type drain struct {
	mu    sync.Mutex
	nodes map[string]bool // that are drained, as the feed says
	last  time.Time       // of the last pass
}

// NewDrain returns the controller of drains. It has one key.
func NewDrain() Controller { return &drain{nodes: map[string]bool{}} }

const (
	drainsEvery = 100 * time.Millisecond
	drains      = "drains"
)

func (*drain) Name() string { return "drain" }

func (d *drain) All(snap *state.Snapshot) []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	clear(d.nodes)
	for n := range snap.Nodes() {
		if n.DrainStrategy != nil {
			d.nodes[n.ID] = true
		}
	}
	return []string{drains}
}

func (d *drain) Touched(c *state.Change, add func(string)) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if c.Table == state.TableNodes {
		n, _ := c.New.(*api.Node)
		old, _ := c.Old.(*api.Node)
		switch {
		case n != nil && n.DrainStrategy != nil:
			d.nodes[n.ID] = true
		case old != nil && d.nodes[old.ID]:
			delete(d.nodes, old.ID)
		default:
			return
		}
		add(drains)
		return
	}
	if len(d.nodes) > 0 && (c.Table == state.TableAllocations || c.Table == state.TableJobs) {
		add(drains)
	}
}

func (d *drain) Act(snap *state.Snapshot, _ string, now time.Time) ([]state.Command, time.Time) {
	nodes := d.drained(snap)
	if len(nodes) == 0 {
		return nil, time.Time{}
	}
	if next := d.last.Add(drainsEvery); now.Before(next) {
		return nil, next
	}
	d.last = now
	s := decideDrains(snap, nodes, now)
	return s.commands(now), s.wake
}

// drained returns the nodes that are drained.
func (d *drain) drained(snap *state.Snapshot) (nodes []*api.Node) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for id := range d.nodes {
		if n := snap.Node(id); n != nil && n.DrainStrategy != nil {
			nodes = append(nodes, n)
		}
	}
	return nodes
}

// commands carry the decision out.
func (s *drainSurvey) commands(now time.Time) (cmds []state.Command) {
	yes := true
	for _, m := range s.moves {
		e := newEvaluation(m.job, api.TriggerNodeDrain, now)
		e.NodeID = m.nodeID
		cmds = append(cmds, &state.SetTransition{
			AllocationIDs: m.allocs, Transition: api.DesiredTransition{Migrate: &yes}, Evaluations: []*api.Evaluation{e},
		})
	}
	for _, id := range s.complete {
		cmds = append(cmds, &state.SetNodeDrain{NodeID: id, Status: api.DrainStatusComplete, Time: now.UnixNano()})
	}
	return cmds
}

// DrainStatus returns the remaining allocations of a draining node, and what each of them
// waits for.
func DrainStatus(snap *state.Snapshot, n *api.Node, now time.Time) *api.NodeDrainStatus {
	status := &api.NodeDrainStatus{NodeID: n.ID, DrainStrategy: n.DrainStrategy, LastDrain: n.LastDrain, Allocations: []*api.DrainingAllocation{}}
	if n.DrainStrategy == nil {
		return status
	}
	var nodes []*api.Node
	for other := range snap.Nodes() {
		if other.DrainStrategy != nil {
			nodes = append(nodes, other)
		}
	}
	s := decideDrains(snap, nodes, now)
	for _, l := range s.leaving {
		if l.node == n {
			status.Allocations = append(status.Allocations, s.describe(l))
		}
	}
	for a := range snap.AllocationsByNode(n.ID) {
		switch {
		case !a.IsClientTerminal() && !n.HasToLeave(a):
			status.Ignored++
		case a.IsClientTerminal() && n.HasToLeave(&api.Allocation{Job: a.Job}) && time.Unix(0, a.ModifyTime).After(n.DrainStrategy.StartedAt):
			status.Gone++
		}
	}
	return status
}
