// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package state

import "github.com/reeve-run/reeve/api"

// UpdateAllocations stores a node's report on its allocations. It reads only the client's
// fields and skips unknown allocations. The server validates reports.
type UpdateAllocations struct {
	NodeID      string // "": reports of several nodes
	Allocations []*api.Allocation
	Evaluations []*api.Evaluation // follow-up evaluations
	Time        int64             // Unix nanoseconds; 0: the allocations' ModifyTime
	Decoded     bool              // reports whether Allocations come from nodeproto.DecodeReport, as they would from the log; not logged
}

// Name implements Command.
func (c *UpdateAllocations) Name() string { return "UpdateAllocations" }

func (c *UpdateAllocations) apply(t *txn) error {
	for _, u := range c.Allocations {
		old := t.Allocation(u.ID)
		if old == nil || c.NodeID != "" && old.NodeID != c.NodeID {
			continue
		}
		a := t.mergeUpdate(old, u, c.Time)
		t.putAllocation(a)
		t.relieve(old, a)
	}
	t.putEvaluations(c.Evaluations...)
	return nil
}

// mergeUpdate returns old with the fields of the node's report.
func (t *txn) mergeUpdate(old, update *api.Allocation, now int64) *api.Allocation {
	a := old.Copy()
	a.ModifyIndex = t.index
	switch {
	case now != 0:
		a.ModifyTime = now
	case update.ModifyTime != 0:
		a.ModifyTime = update.ModifyTime
	}
	if update.ClientStatus != "" {
		a.ClientStatus, a.ClientDescription = update.ClientStatus, update.ClientDescription
	}
	if update.TaskStates != nil {
		a.TaskStates = update.TaskStates
	}
	if update.NetworkStatus != nil {
		a.NetworkStatus = update.NetworkStatus
	}
	if update.LaunchStatus != nil {
		a.LaunchStatus = update.LaunchStatus
	}
	mergeServing(a, update)
	if s := update.DeploymentStatus; s != nil && s.Healthy != nil {
		// A later statement of an operator takes precedence, however often the node
		// repeats its own.
		if o := old.DeploymentStatus; o == nil || o.Healthy == nil || *o.Healthy != *s.Healthy && !s.Timestamp.Before(o.Timestamp) {
			merged := *s
			merged.ModifyIndex = t.index
			merged.Canary = old.IsCanary()
			a.DeploymentStatus = &merged
		}
	}
	return a
}

// SetTransition requests actions on allocations for the next evaluation of their jobs. Nil
// fields of the transition stay unchanged.
type SetTransition struct {
	AllocationIDs []string
	Transition    api.DesiredTransition
	Evaluations   []*api.Evaluation
}

// Name implements Command.
func (c *SetTransition) Name() string { return "SetTransition" }

func (c *SetTransition) apply(t *txn) error {
	for _, id := range c.AllocationIDs {
		if t.Allocation(id) == nil {
			return api.Errorf(api.CodeNotFound, "allocation %q not found", id)
		}
	}
	for _, id := range c.AllocationIDs {
		a := t.Allocation(id).Copy()
		a.DesiredTransition = mergeTransition(a.DesiredTransition, c.Transition)
		a.ModifyIndex, a.AllocModifyIndex = t.index, t.index
		t.putAllocation(a)
	}
	t.putEvaluations(c.Evaluations...)
	return nil
}

func mergeTransition(d, by api.DesiredTransition) api.DesiredTransition {
	for _, f := range []struct{ to, from **bool }{
		{&d.Migrate, &by.Migrate},
		{&d.Reschedule, &by.Reschedule},
		{&d.ForceReschedule, &by.ForceReschedule},
		{&d.NoShutdownDelay, &by.NoShutdownDelay},
		{&d.MigrateDisablePlacement, &by.MigrateDisablePlacement},
	} {
		if *f.from != nil {
			*f.to = *f.from
		}
	}
	return d
}
