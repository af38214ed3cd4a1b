// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package control

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/plan/facts"
	"github.com/reeve-run/reeve/internal/plan/stackplan"
	"github.com/reeve-run/reeve/internal/state"
)

// StackLife returns the facts about the plans of a stack. Job and shift may be nil.
func StackLife(snap *state.Snapshot, s *api.Stack, job *api.Job, shift *api.Shift, now time.Time) *stackplan.Life {
	return &stackplan.Life{
		Stack: s, Job: job, Shift: shift, Now: now,
		Allocations: slices.Collect(snap.AllocationsByJob(s.Namespace, s.Name)),
		IsSilent: func(id string) bool {
			n := snap.Node(id)
			return n == nil || facts.IsSilent(n)
		},
		Decisions: snap.Decisions(s.Namespace, s.Name),
	}
}

// removeStack purges the job of a stack, and terminates the stack when the job is gone. It waits for
// nodes with instances of the stack that do not answer: nothing could confirm the end of the instances.
func removeStack(snap *state.Snapshot, s *api.Stack, job *api.Job, now time.Time) ([]state.Command, time.Time) {
	if cmds, ended := stopChildren(snap, s, now); !ended {
		return cmds, now.Add(stackRetry)
	}
	if job == nil {
		n := withStatus(s, api.StackTerminated, api.ReasonStackRemoved, now)
		if lost := unconfirmedEnds(snap, s); len(lost) > 0 {
			n.StatusReason, n.StatusDescription = api.ReasonStackUnconfirmed, whyUnconfirmed(snap, lost)
		}
		n.Removing, n.RemovalWaits = false, time.Time{}
		return []state.Command{state.PutStack(n)}, time.Time{}
	}
	if job.Purge {
		return nil, time.Time{} // the end of the job touches the stack
	}
	if silent := StackLife(snap, s, job, nil, now).Unconfirmed(); len(silent) > 0 {
		n := s.Copy()
		n.StatusReason, n.StatusDescription = api.ReasonStackRemovalWaits, whyNotRemoved(snap, silent)
		if s.RemovalWaits.IsZero() {
			n.RemovalWaits = now
		}
		wake := now.Add(removalRetry(n, now))
		if n.StatusReason == s.StatusReason && n.StatusDescription == s.StatusDescription {
			return nil, wake
		}
		return []state.Command{state.PutStack(n)}, wake
	}
	return []state.Command{&state.DeregisterJob{
		Namespace: s.Namespace, ID: s.Name, Purge: true, Time: now.UnixNano(),
		Evaluation: stackEvaluation(job, api.TriggerJobDeregister, now),
	}}, time.Time{}
}

// Bounds of the time between two attempts to remove a stack.
const (
	minRemovalRetry = 5 * time.Second
	maxRemovalRetry = 5 * time.Minute
)

// removalRetry returns the time until the next attempt to remove a stack: half of the time since the
// first one, within bounds.
func removalRetry(s *api.Stack, now time.Time) time.Duration {
	return min(max(now.Sub(s.RemovalWaits)/2, minRemovalRetry), maxRemovalRetry)
}

// nodesNamed bounds the nodes that a reason names.
const nodesNamed = 3

func whyNotRemoved(snap *state.Snapshot, silent []*api.Allocation) string {
	nodes, more := namesOfNodes(snap, silent)
	if len(nodes) == 1 {
		return fmt.Sprintf("its removal waits for node %s, which runs instances of it and does not answer", nodes[0])
	}
	return fmt.Sprintf("its removal waits for nodes %s%s, which run instances of it and do not answer", strings.Join(nodes, ", "), more)
}

// unconfirmedEnds returns the allocations of a stack without a job that count as lost because their nodes
// fell silent after they had received the stop. Such a node may still run them.
func unconfirmedEnds(snap *state.Snapshot, s *api.Stack) (lost []*api.Allocation) {
	for a := range snap.AllocationsByJob(s.Namespace, s.Name) {
		if n := snap.Node(a.NodeID); a.ClientStatus == api.AllocClientLost && n != nil && facts.IsSilent(n) {
			lost = append(lost, a)
		}
	}
	return lost
}

func whyUnconfirmed(snap *state.Snapshot, lost []*api.Allocation) string {
	nodes, more := namesOfNodes(snap, lost)
	if len(nodes) == 1 {
		return fmt.Sprintf("removed; node %s fell silent before it confirmed the end of its instances, and may still run them until it is back", nodes[0])
	}
	return fmt.Sprintf("removed; nodes %s%s fell silent before they confirmed the end of their instances, and may still run them until they are back", strings.Join(nodes, ", "), more)
}

// namesOfNodes returns the first names of the nodes of allocations, and a text that counts the others, or "".
func namesOfNodes(snap *state.Snapshot, list []*api.Allocation) (nodes []string, more string) {
	for _, a := range list {
		name := api.ShortID(a.NodeID)
		if n := snap.Node(a.NodeID); n != nil && n.Name != "" {
			name = n.Name
		}
		nodes = append(nodes, name)
	}
	slices.Sort(nodes)
	nodes = slices.Compact(nodes)
	if n := len(nodes) - nodesNamed; n > 0 {
		nodes, more = nodes[:nodesNamed], fmt.Sprintf(" and %d more", n)
	}
	return nodes, more
}
