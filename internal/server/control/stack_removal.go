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
	var nodes []string
	for _, a := range silent {
		name := api.ShortID(a.NodeID)
		if n := snap.Node(a.NodeID); n != nil && n.Name != "" {
			name = n.Name
		}
		nodes = append(nodes, name)
	}
	slices.Sort(nodes)
	nodes = slices.Compact(nodes)
	if len(nodes) == 1 {
		return fmt.Sprintf("its removal waits for node %s, which runs instances of it and does not answer", nodes[0])
	}
	more := ""
	if n := len(nodes) - nodesNamed; n > 0 {
		nodes, more = nodes[:nodesNamed], fmt.Sprintf(" and %d more", n)
	}
	return fmt.Sprintf("its removal waits for nodes %s%s, which run instances of it and do not answer", strings.Join(nodes, ", "), more)
}
