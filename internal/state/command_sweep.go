// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package state

import (
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/reasons"
	"github.com/reeve-run/reeve/internal/state/wire"
)

// SweepStacks stores what a sweep decided about stacks.
type SweepStacks struct {
	// Index is the LifecycleIndex that a sweep of an earlier version of Reeve was computed
	// from. If it has changed, no stack becomes garbage: it may have a new caller.
	Index uint64 `json:",omitempty"`
	// Since is the LifecycleIndex that the sweep was computed from. A stack does not become garbage
	// if its unit may have new callers since then. 0: Index applies.
	Since uint64 `json:",omitempty"`
	Sweep api.LifecycleSweep
	// Extended holds the stacks whose verdict stayed the same, by their new expiry.
	Extended []StackExtension `json:",omitempty"`
	Decided  []StackDecision  `json:",omitempty"`
	// Observed holds the stacks whose undeclared callers have changed.
	Observed []StackObservation `json:",omitempty"`
}

// A StackObservation holds the undeclared callers of a stack, newest first.
type StackObservation struct {
	Namespace string
	Name      string
	Uses      []api.StackUse
}

// A StackExtension is a new expiry of stacks.
type StackExtension struct {
	Expires time.Time
	Called  bool     // reports whether something uses them
	Stacks  []string // keys: namespace and name
}

// A StackExpiry tells apart the stacks of different StackExtensions.
type StackExpiry struct {
	Expires int64 // Unix nanoseconds
	Called  bool
}

// A StackDecision is a sweep's decision about one stack whose verdict or status changes.
type StackDecision struct {
	Namespace string
	Name      string
	// ModifyIndex is that of the stack on which the decision is based; a stack that was changed since keeps its status.
	ModifyIndex uint64
	Verdict     api.Verdict
	Text        string // the verdict as a sentence
	Expires     time.Time
	Called      bool   `json:",omitempty"`
	Status      string `json:",omitempty"` // new status; "": unchanged
	Remove      bool   `json:",omitempty"` // reports whether its job is purged now
}

// Name implements Command.
func (c *SweepStacks) Name() string { return "SweepStacks" }

func (c *SweepStacks) apply(t *txn) error {
	changed := c.changes(t)
	for _, e := range c.Extended {
		for _, key := range e.Stacks {
			if old := stacks.find(t.content, key); old != nil && old.Status != api.StackTerminated {
				s := old.Copy()
				c.expire(s, e.Expires, e.Called)
				stacks.put(t, s)
			}
		}
	}
	for i := range c.Decided {
		d := &c.Decided[i]
		if old := t.Stack(d.Namespace, d.Name); old != nil && old.Status != api.StackTerminated {
			c.decide(t, old, d, changed(old.Unit))
		}
	}
	for _, o := range c.Observed {
		if old := t.Stack(o.Namespace, o.Name); old != nil && old.Status != api.StackTerminated {
			s := old.Copy()
			s.Observed = o.Uses
			stacks.put(t, s)
		}
	}
	sweep := c.Sweep
	sweeps.put(t, &sweep)
	return nil
}

// changes returns a function that reports whether a unit may have new callers since the sweep was computed.
func (c *SweepStacks) changes(t *txn) func(unit string) bool {
	switch {
	case c.Since == 0:
		changed := t.LifecycleIndex() > c.Index
		return func(string) bool { return changed }
	case t.LifecycleIndex() <= c.Since:
		return func(string) bool { return false }
	}
	units := t.changedUnits(c.Since)
	return func(unit string) bool { return units[unit] }
}

// expire sets the expiry of a stack. It never moves backwards.
func (c *SweepStacks) expire(s *api.Stack, expires time.Time, called bool) {
	if expires.After(s.Expires) {
		s.Expires = expires
	}
	if called {
		s.CalledAt = c.Sweep.Time
	}
}

func (c *SweepStacks) decide(t *txn, old *api.Stack, d *StackDecision, changed bool) {
	s := old.Copy()
	c.expire(s, d.Expires, d.Called)
	verdict := d.Verdict
	s.Verdict = &verdict
	s.Removing = s.Removing || d.Remove && old.ModifyIndex == d.ModifyIndex
	if d.Status != "" && !changed && old.ModifyIndex == d.ModifyIndex {
		s.StatusBefore = ""
		if d.Status == api.StackGarbage {
			s.StatusBefore = old.Status
		}
		s.Status, s.StatusSince, s.StatusBy = d.Status, c.Sweep.Time, ""
		s.StatusReason = verdict.Reason.StatusReason()
		s.StatusDescription = reasons.Sentence(s.StatusReason, d.Text)
		s.Expires = d.Expires
	} else if old.Status == api.StackReady || s.Removing {
		t.audit(&api.AuditRecord{
			Time: c.Sweep.Time, Namespace: s.Namespace, Kind: api.AuditStack, Object: s.Name, Unit: s.Unit,
			Action: verdictAction(s, &verdict), Reason: d.Text, Verdict: &verdict,
		})
	}
	stacks.put(t, s)
}

func verdictAction(s *api.Stack, v *api.Verdict) string {
	switch {
	case s.Removing:
		return "removed"
	case v.Kept:
		return "kept"
	}
	return "declined"
}

func (c *SweepStacks) encode() *wire.Command {
	return documentCommand(c)
}

func (c *DeployStacks) encode() *wire.Command { return documentCommand(c) }

// sweeps holds one object: the last sweep.
var sweeps = declare(noun[api.LifecycleSweep]{
	name: "lifecycle sweeps", singular: "lifecycle sweep", verb: "LifecycleSweep", frame: 19,
	key:   func(*api.LifecycleSweep) string { return "last" },
	stamp: func(s *api.LifecycleSweep) (create, modify *uint64) { return &s.CreateIndex, &s.ModifyIndex },
})

// LastSweep returns the last sweep of stacks, nil before the first one.
func (c *content) LastSweep() *api.LifecycleSweep { return sweeps.find(c, "last") }
