// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package control

import (
	"fmt"
	"sync"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/state"
)

// Heartbeats remembers when each node was heard of last. It is the only thing
// in this package that is not in the state: a new leader gives every node a
// whole period before it counts as silent.
type Heartbeats struct {
	silence time.Duration // a node that is silent for longer is down

	mu    sync.Mutex
	since time.Time
	last  map[string]time.Time
}

// NewHeartbeats returns a memory in which nodes may be silent for so long.
func NewHeartbeats(silence time.Duration) *Heartbeats {
	return &Heartbeats{silence: silence, last: map[string]time.Time{}}
}

// Lead forgets everything: this server listens from now on.
func (h *Heartbeats) Lead(now time.Time) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.since = now
	clear(h.last)
}

// Beat notes that the node is alive.
func (h *Heartbeats) Beat(nodeID string, now time.Time) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.last[nodeID] = now
}

func (h *Heartbeats) deadline(nodeID string) time.Time {
	h.mu.Lock()
	defer h.mu.Unlock()
	last := h.last[nodeID]
	if last.Before(h.since) {
		last = h.since
	}
	return last.Add(h.silence)
}

func (h *Heartbeats) forget(nodeID string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.last, nodeID)
}

// heartbeat marks silent nodes as down and has what they ran replaced.
type heartbeat struct{ h *Heartbeats }

// NewHeartbeat returns the controller that marks silent nodes as down. Its
// keys are node ids.
func NewHeartbeat(h *Heartbeats) Controller { return heartbeat{h} }

func (heartbeat) Name() string { return "heartbeat" }

func (heartbeat) All(snap *state.Snapshot) (keys []string) {
	for n := range snap.Nodes() {
		keys = append(keys, n.ID)
	}
	return keys
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

func (b heartbeat) Act(snap *state.Snapshot, id string, now time.Time) ([]state.Command, time.Time) {
	n := snap.Node(id)
	if n == nil {
		b.h.forget(id)
		return nil, time.Time{}
	}
	if n.Status == api.NodeStatusDown {
		if evals := strandedJobs(snap, n, now); len(evals) > 0 {
			return []state.Command{&state.PutEvaluations{Evaluations: evals}}, time.Time{}
		}
		return nil, time.Time{}
	}
	if deadline := b.h.deadline(id); now.Before(deadline) {
		return nil, deadline
	}
	return []state.Command{&state.UpdateNodeStatus{
		NodeID: id, Status: api.NodeStatusDown,
		Description: fmt.Sprintf("no heartbeat for %s", b.h.silence), Time: now.UnixNano(),
		Evaluations: NodeEvaluations(snap, id, now),
	}}, time.Time{}
}

// strandedJobs are evaluations of jobs that have something on a node that went
// down, if that came there after the evaluations that its going down made.
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

// NodeEvaluations is one evaluation for every job that has something on the
// node, for when the node's status changes.
func NodeEvaluations(snap *state.Snapshot, nodeID string, now time.Time) (evals []*api.Evaluation) {
	seen := map[api.NamespacedID]bool{}
	var modified uint64
	if n := snap.Node(nodeID); n != nil {
		modified = n.ModifyIndex
	}
	for a := range snap.AllocationsByNode(nodeID) {
		key := a.JobKey()
		if seen[key] || a.IsTerminal() {
			continue
		}
		seen[key] = true
		job := snap.Job(key.Namespace, key.ID)
		if job == nil {
			job = a.Job
		}
		e := newEvaluation(job, api.TriggerNodeUpdate, now)
		e.NodeID, e.NodeModifyIndex = nodeID, modified
		evals = append(evals, e)
	}
	return evals
}

func newEvaluation(job *api.Job, trigger string, now time.Time) *api.Evaluation {
	return &api.Evaluation{
		ID: api.NewID(), Namespace: job.Namespace, JobID: job.ID, Type: job.Type, Priority: job.Priority,
		TriggeredBy: trigger, JobModifyIndex: job.JobModifyIndex, Status: api.EvalStatusPending,
		CreateTime: now.UnixNano(), ModifyTime: now.UnixNano(),
	}
}
