// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package state

import (
	"cmp"
	"slices"
	"time"

	"github.com/reeve-run/reeve/api"
)

// nodeEventsKept is the number of events kept per node.
const nodeEventsKept = 10

// RegisterNode stores an agent's description of its node. It keeps operators' settings
// (eligibility, drain).
type RegisterNode struct {
	Node        *api.Node
	Evaluations []*api.Evaluation
}

// Name implements Command.
func (c *RegisterNode) Name() string { return "RegisterNode" }

func (c *RegisterNode) apply(t *txn) error {
	if c.Node == nil || c.Node.ID == "" {
		return api.Errorf(api.CodeInvalid, "a node needs an ID")
	}
	n := c.Node.Copy()
	if err := t.introduced(n); err != nil {
		return err
	}
	n.CreateIndex, n.ModifyIndex = t.index, t.index
	n.HostVolumes = t.volumesOf(n)
	n.Events = nil
	if old := t.Node(n.ID); old != nil {
		n.CreateIndex = old.CreateIndex
		n.SchedulingEligibility = old.SchedulingEligibility
		n.Drain, n.DrainStrategy, n.LastDrain = old.Drain, old.DrainStrategy, old.LastDrain
		n.Events = old.Events
		if old.Status != n.Status && old.Status != "" && old.Status != api.NodeStatusInit {
			t.addNodeEvent(n, "Node registered again", n.StatusUpdatedAt)
		}
	} else {
		t.addNodeEvent(n, "Node registered", n.StatusUpdatedAt)
	}
	if n.SchedulingEligibility == "" {
		n.SchedulingEligibility = api.NodeEligible
	}
	if n.Status == "" {
		n.Status = api.NodeStatusInit
	}
	t.putNode(n)
	t.putEvaluations(c.Evaluations...)
	return nil
}

// addNodeEvent records a node event at a time in Unix seconds.
func (t *txn) addNodeEvent(n *api.Node, message string, seconds int64) {
	e := &api.NodeEvent{Message: message, Subsystem: "Cluster", CreateIndex: t.index}
	if seconds != 0 {
		e.Timestamp = time.Unix(seconds, 0).UTC()
	}
	events := append(slices.Clip(n.Events), e)
	n.Events = events[max(0, len(events)-nodeEventsKept):]
}

// UpdateNodeStatus stores that a node is ready, down or disconnected.
type UpdateNodeStatus struct {
	NodeID      string
	Status      string
	Description string
	SilentSince int64 // Unix seconds; see api.Node
	Time        int64 // Unix nanoseconds
	Evaluations []*api.Evaluation
}

// Name implements Command.
func (c *UpdateNodeStatus) Name() string { return "UpdateNodeStatus" }

func (c *UpdateNodeStatus) apply(t *txn) error {
	old := t.Node(c.NodeID)
	if old == nil {
		return nodeNotFound(c.NodeID)
	}
	n := old.Copy()
	n.Status, n.StatusDescription, n.SilentSince = c.Status, c.Description, c.SilentSince
	n.ModifyIndex = t.index
	seconds := c.Time / int64(time.Second)
	message := "Node is " + c.Status
	if c.SilentSince != 0 {
		message = "Node is silent"
	}
	if c.Description != "" {
		message += ": " + c.Description
	}
	if c.Status != old.Status && old.Status+c.Status != api.NodeStatusDisconnected+api.NodeStatusDown {
		n.StatusUpdatedAt = seconds // between disconnected and down, the time of the disconnection counts
	}
	if c.Status != old.Status || (c.SilentSince == 0) != (old.SilentSince == 0) {
		t.addNodeEvent(n, message, seconds)
	}
	t.putNode(n)
	t.putEvaluations(c.Evaluations...)
	return nil
}

// SetNodeEligibility stores whether new allocations may be placed on a node.
type SetNodeEligibility struct {
	NodeID      string
	Eligibility string // api.NodeEligible, api.NodeIneligible, or "" to leave it unchanged
	Message     string // text of the node event, written even if nothing changes; "" for the default
	Time        int64  // Unix nanoseconds
	Evaluations []*api.Evaluation
}

// Name implements Command.
func (c *SetNodeEligibility) Name() string { return "SetNodeEligibility" }

func (c *SetNodeEligibility) apply(t *txn) error {
	old := t.Node(c.NodeID)
	switch {
	case c.Eligibility != "" && c.Eligibility != api.NodeEligible && c.Eligibility != api.NodeIneligible:
		return api.Errorf(api.CodeInvalid, "a node is %q or %q, not %q", api.NodeEligible, api.NodeIneligible, c.Eligibility)
	case old == nil:
		return nodeNotFound(c.NodeID)
	case old.DrainStrategy != nil && c.Eligibility == api.NodeEligible:
		return api.Errorf(api.CodeConflict, "node %s is being drained: end the drain first", api.ShortID(c.NodeID))
	}
	eligibility := cmp.Or(c.Eligibility, old.SchedulingEligibility)
	if old.SchedulingEligibility != eligibility || c.Message != "" {
		n := old.Copy()
		n.SchedulingEligibility, n.ModifyIndex = eligibility, t.index
		message := cmp.Or(c.Message, "Node marked "+eligibility+" for scheduling")
		t.addNodeEvent(n, message, c.Time/int64(time.Second))
		t.putNode(n)
	}
	t.putEvaluations(c.Evaluations...)
	return nil
}

// DeleteNode deletes nodes. Their allocations become lost.
type DeleteNode struct {
	IDs         []string
	Evaluations []*api.Evaluation
}

// Name implements Command.
func (c *DeleteNode) Name() string { return "DeleteNode" }

func (c *DeleteNode) apply(t *txn) error {
	for _, id := range c.IDs {
		if t.Node(id) == nil {
			return nodeNotFound(id)
		}
	}
	for _, id := range c.IDs {
		t.deleteNode(id)
	}
	t.putEvaluations(c.Evaluations...)
	return nil
}

func nodeNotFound(id string) error { return api.Errorf(api.CodeNotFound, "node %q not found", id) }
