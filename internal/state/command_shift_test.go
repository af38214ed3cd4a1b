// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package state

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/reeve-run/reeve/api"
)

// beganShift returns a store with three ready stacks and a shift between the first two, and their names.
func beganShift(t *testing.T) (*Store, []string) {
	t.Helper()
	s, names := storedStacks(t, api.StackReady, 3)
	first := fullShift("first", names[0], names[1])
	first.Status = api.ShiftRunning
	if err := apply(s, throughLog(t, &BeginShift{Shift: first})); err != nil {
		t.Fatal(err)
	}
	return s, names
}

func superseding(s *Store, names []string) *BeginShift {
	next := fullShift("second", names[0], names[2])
	next.Status = api.ShiftRunning
	return &BeginShift{Ended: supersededShift(s.Snapshot().Shift("first")), Shift: next}
}

func TestAShiftSupersedesAnotherInOneEntry(t *testing.T) {
	s, names := beganShift(t)
	if err := apply(s, throughLog(t, superseding(s, names))); err != nil {
		t.Fatal(err)
	}
	snap := s.Snapshot()
	if first, second := snap.Shift("first"), snap.Shift("second"); first.Status != api.ShiftSuperseded || second == nil || second.Status != api.ShiftRunning {
		t.Errorf("after one entry the shifts are %+v and %+v, want one superseded and one running", first, second)
	}
	if got := snap.Unit("default", "shop").Targets[1]; got != names[0] {
		t.Errorf("the target is %s, want %s, from which both shifts lead", got, names[0])
	}
	if got, want := actions(snap, api.AuditShift, "first"), "running superseded"; got != want {
		t.Errorf("audit records of the first shift: %s, want %s", got, want)
	}
}

// TestARejectedShiftChangesNothing breaks one part of the command at a time.
func TestARejectedShiftChangesNothing(t *testing.T) {
	for what, damage := range map[string]func(s *Store, c *BeginShift){
		"the first shift advanced":            func(_ *Store, c *BeginShift) { c.Ended.ModifyIndex-- },
		"the first shift does not end":        func(_ *Store, c *BeginShift) { c.Ended.Status = api.ShiftPaused },
		"the first shift is not named":        func(_ *Store, c *BeginShift) { c.Ended = nil },
		"the first shift is another one":      func(_ *Store, c *BeginShift) { c.Ended.ID, c.Ended.ModifyIndex = "other", 0 },
		"the new shift has ended":             func(_ *Store, c *BeginShift) { c.Shift.Status = api.ShiftComplete },
		"the new shift is missing":            func(_ *Store, c *BeginShift) { c.Shift = nil },
		"the new shift has the id of another": func(_ *Store, c *BeginShift) { c.Shift.ID = "first" },
		"the promoted stack changed meanwhile": func(s *Store, c *BeginShift) {
			c.Stack = s.Snapshot().Stack("default", c.Shift.To).Copy()
			c.Stack.ModifyIndex--
		},
	} {
		s, names := beganShift(t)
		c := superseding(s, names)
		damage(s, c)
		before := dumpOf(s.Snapshot())
		if err := apply(s, throughLog(t, c)); err == nil {
			t.Errorf("%s: the command was accepted", what)
		}
		after := dumpOf(s.Snapshot())
		before.Index = after.Index
		if diff := cmp.Diff(before, after); diff != "" {
			t.Errorf("%s: the rejected command changed the state (-before +after):\n%s", what, diff)
		}
	}
}
