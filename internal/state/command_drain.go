// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package state

import (
	"time"

	"github.com/reeve-run/reeve/api"
)

// SetNodeDrain starts, changes or ends the drain of a node. A draining node takes no new
// allocations. After the drain, it takes them again only when it is marked eligible.
type SetNodeDrain struct {
	NodeID       string
	Strategy     *api.DrainStrategy // nil: the drain ends
	Status       string             // status at the end: api.DrainStatusComplete or api.DrainStatusCanceled
	MarkEligible bool               // at the end of the drain
	Meta         map[string]string  // stored with the record; nil leaves it unchanged
	Message      string             // text of the node event; "" for the default
	Time         int64              // Unix nanoseconds
	Evaluations  []*api.Evaluation
}

// Name implements Command.
func (c *SetNodeDrain) Name() string { return "SetNodeDrain" }

func (c *SetNodeDrain) apply(t *txn) error {
	old := t.Node(c.NodeID)
	switch {
	case old == nil:
		return nodeNotFound(c.NodeID)
	case c.Strategy == nil && old.DrainStrategy == nil && !c.MarkEligible:
		return api.Errorf(api.CodeConflict, "node %s is not being drained", api.ShortID(c.NodeID))
	case c.Status == api.DrainStatusComplete && t.holdsUp(old):
		return api.Errorf(api.CodeConflict, "node %s is not drained: tasks still run there", api.ShortID(c.NodeID))
	}
	n := old.Copy()
	n.ModifyIndex = t.index
	now, message := time.Unix(0, c.Time).UTC(), ""
	switch {
	case c.Strategy != nil:
		n.Drain, n.DrainStrategy, n.SchedulingEligibility = true, c.Strategy, api.NodeIneligible
		message = "Node drain strategy set"
		if old.DrainStrategy != nil {
			message = "Node drain strategy updated"
		}
		n.LastDrain = drainRecord(n.LastDrain, old.DrainStrategy == nil, now, api.DrainStatusDraining, c.Meta)
	case old.DrainStrategy != nil:
		n.Drain, n.DrainStrategy = false, nil
		message = "Node drain " + c.Status
		n.LastDrain = drainRecord(n.LastDrain, false, now, c.Status, c.Meta)
		t.unmark(n.ID)
	}
	if c.Strategy == nil && c.MarkEligible {
		n.SchedulingEligibility = api.NodeEligible
		if message == "" {
			message = "Node marked eligible for scheduling"
		} else {
			message += "; node marked eligible for scheduling"
		}
	}
	if c.Message != "" {
		message = c.Message
	}
	t.addNodeEvent(n, message, c.Time/int64(time.Second))
	t.putNode(n)
	t.putEvaluations(c.Evaluations...)
	return nil
}

// drainRecord returns the drain's updated record.
func drainRecord(old *api.DrainRecord, begins bool, now time.Time, status string, meta map[string]string) *api.DrainRecord {
	r := &api.DrainRecord{StartedAt: now}
	if old != nil && !begins {
		*r = *old
	}
	r.UpdatedAt, r.Status = now, status
	if meta != nil {
		r.Meta = meta
	}
	return r
}

// holdsUp reports whether an allocation still runs on a node that is draining.
func (t *txn) holdsUp(n *api.Node) bool {
	for a := range t.AllocationsByNode(n.ID) {
		if n.HasToLeave(a) {
			return true
		}
	}
	return false
}

// unmark cancels the migration of allocations that were to move and are not being stopped
// yet.
func (t *txn) unmark(nodeID string) {
	var marked []*api.Allocation
	for a := range t.AllocationsByNode(nodeID) {
		if !a.IsTerminal() && a.DesiredTransition.ShouldMigrate() {
			marked = append(marked, a)
		}
	}
	for _, old := range marked {
		a := old.Copy()
		a.DesiredTransition.Migrate = nil
		a.ModifyIndex, a.AllocModifyIndex = t.index, t.index
		t.putAllocation(a)
	}
}
