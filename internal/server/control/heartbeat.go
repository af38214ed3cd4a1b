// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package control

import (
	"fmt"
	"log/slog"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/state"
)

// heartbeat marks silent nodes as down, or as disconnected if a group permits an absence, and
// evaluates the jobs of their allocations. If many nodes fall silent together, it first marks
// them as silent: they get no new allocations, keep theirs, and are marked down one after the
// other unless they return.
type heartbeat struct {
	h   *Heartbeats
	log *slog.Logger
}

// NewHeartbeat returns the controller of silent nodes. Its keys are node ids, and one key for
// all nodes that send heartbeats.
func NewHeartbeat(h *Heartbeats, log *slog.Logger) Controller { return heartbeat{h, log} }

// allNodesKey is the key of all nodes that send heartbeats.
const allNodesKey = "\x00everybody"

// recheckInterval is the interval at which a disconnected node is examined.
const recheckInterval = 15 * time.Second

// lossInterval is the interval between losses of nodes, so that jobs are evaluated less often.
const lossInterval = 250 * time.Millisecond

// maxLostPerEntry bounds the nodes in one log entry.
const maxLostPerEntry = 512

func (heartbeat) Name() string { return "heartbeat" }

func (heartbeat) All(snap *state.Snapshot) (keys []string) {
	for n := range snap.Nodes() {
		keys = append(keys, n.ID)
	}
	return append(keys, allNodesKey)
}

func (heartbeat) Touched(c *state.Change, add func(string)) {
	switch c.Table {
	case state.TableNodes:
		if n, _ := c.New.(*api.Node); n != nil {
			add(n.ID)
		} else if n, _ := c.Old.(*api.Node); n != nil {
			add(n.ID)
		}
	case state.TableAllocations:
		// It may have been placed while its node went down.
		if a, _ := c.New.(*api.Allocation); a != nil && c.Old == nil {
			add(a.NodeID)
		}
	}
}

func (b heartbeat) Act(snap *state.Snapshot, key string, now time.Time) ([]state.Command, time.Time) {
	if key == allNodesKey {
		return b.listen(snap, now)
	}
	n := snap.Node(key)
	if !isUp(n) {
		b.h.forget(key)
	}
	switch {
	case n == nil:
		return nil, time.Time{}
	case isUp(n):
		b.h.track(key, now)
		return nil, time.Time{}
	}
	var cmds []state.Command
	if evals := strandedJobs(snap, n, now); len(evals) > 0 {
		cmds = append(cmds, &state.PutEvaluations{Evaluations: evals})
	}
	if n.Status != api.NodeStatusDisconnected {
		return cmds, time.Time{}
	}
	until := time.Unix(n.StatusUpdatedAt, 0).Add(lostAfter(snap, n.ID))
	if now.Before(until) {
		// An allocation with a longer limit may end before it.
		return cmds, now.Add(min(until.Sub(now), recheckInterval))
	}
	return append(cmds, &state.UpdateNodeStatus{
		NodeID: n.ID, Status: api.NodeStatusDown, Time: now.UnixNano(),
		Description: "did not come back while what it ran might wait for it",
		Evaluations: NodeEvaluations(snap, n.ID, now),
	}), time.Time{}
}

// isUp reports whether heartbeats are expected of the node.
func isUp(n *api.Node) bool {
	return n != nil && n.Status != api.NodeStatusDown && n.Status != api.NodeStatusDisconnected
}

// listen marks the nodes that have been silent for too long.
func (b heartbeat) listen(snap *state.Snapshot, now time.Time) (cmds []state.Command, next time.Time) {
	v := b.h.findMissed(now, func(id string) bool { return isUp(snap.Node(id)) })
	b.tell(v)
	next = v.next
	more := false // than fit into one log entry
	for _, id := range v.held {
		n := snap.Node(id)
		if n.SilentSince != 0 {
			continue
		}
		if len(cmds) == maxLostPerEntry {
			more = true
			break
		}
		cmds = append(cmds, &state.UpdateNodeStatus{
			NodeID: id, Status: n.Status, Description: v.why(), SilentSince: now.Add(-b.h.silence.TTL - b.h.silence.Grace).Unix(), Time: now.UnixNano(),
		})
	}
	seen := map[api.NamespacedID]bool{}
	for i, id := range v.gone {
		if i == maxLostPerEntry {
			more = true
			break
		}
		cmds = append(cmds, b.giveUp(snap, snap.Node(id), seen, now))
	}
	switch later := now.Add(lossInterval); {
	case more:
		next = now
	case len(cmds) > 0 && next.Before(later):
		next = later // nodes that fall silent one after the other are marked together
	}
	return cmds, next
}

// giveUp marks a silent node. It evaluates no job that was already evaluated.
func (b heartbeat) giveUp(snap *state.Snapshot, n *api.Node, seen map[api.NamespacedID]bool, now time.Time) state.Command {
	cmd := &state.UpdateNodeStatus{
		NodeID: n.ID, Status: api.NodeStatusDown, Time: now.UnixNano(),
		Description: fmt.Sprintf("no heartbeat for %s", b.h.silence.TTL+b.h.silence.Grace),
		Evaluations: nodeEvaluations(snap, n.ID, api.TriggerNodeUpdate, seen, now),
	}
	if n.SilentSince != 0 {
		cmd.Description = fmt.Sprintf("no heartbeat for %s; many nodes fell silent with it", now.Sub(time.Unix(n.SilentSince, 0)).Round(time.Second))
	}
	if lostAfter(snap, n.ID) > 0 {
		cmd.Status = api.NodeStatusDisconnected
	}
	return cmd
}

func (v missedHeartbeats) why() string {
	if v.deaf {
		return fmt.Sprintf("no heartbeat, but none of %d nodes is heard: the servers are likelier cut off than all nodes gone", v.nodes)
	}
	return fmt.Sprintf("no heartbeat, but %d of %d nodes fell silent together: a broken network is likelier than so many losses", v.late, v.nodes)
}

// tell logs the start or end of a mass loss.
func (b heartbeat) tell(v missedHeartbeats) {
	switch {
	case v.begin:
		b.log.Error("many nodes stopped sending heartbeats together: they get no new allocations, and are marked down slowly or not at all",
			"silent", v.late, "nodes", v.nodes, "none_heard", v.deaf, "given_up_per_minute", b.h.silence.MassLoss.Rate*float64(v.nodes))
	case v.end:
		b.log.Warn("the mass loss of nodes is over", "silent", v.late, "nodes", v.nodes)
	}
}

// lostAfter returns the longest time for which an allocation on the node may run without a
// heartbeat; 0 if none may.
func lostAfter(snap *state.Snapshot, nodeID string) (longest time.Duration) {
	for a := range snap.AllocationsByNode(nodeID) {
		if a.IsTerminal() {
			continue
		}
		job := snap.Job(a.Namespace, a.JobID)
		if job == nil {
			job = a.Job
		}
		if job == nil {
			continue
		}
		if g := job.Group(a.Group); g != nil {
			longest = max(longest, g.LostAfter())
		}
	}
	return longest
}

// strandedJobs returns evaluations of jobs whose allocations arrived on a lost node after the
// evaluations of its loss.
func strandedJobs(snap *state.Snapshot, n *api.Node, now time.Time) (evals []*api.Evaluation) {
	late := map[api.NamespacedID]bool{}
	for a := range snap.AllocationsByNode(n.ID) {
		if !a.IsTerminal() && a.CreateIndex > n.ModifyIndex && !evaluatedSince(snap, a.JobKey(), a.CreateIndex) {
			late[a.JobKey()] = true
		}
	}
	if len(late) == 0 {
		return nil
	}
	for _, e := range NodeEvaluations(snap, n.ID, now) {
		if late[e.JobKey()] {
			evals = append(evals, e)
		}
	}
	return evals
}
