// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package state

import (
	"testing"

	"github.com/reeve-run/reeve/api"
)

func TestDecisionAboutAShiftChangesBothOrNothing(t *testing.T) {
	d := newDecisions(t)
	running := fullShift("s", "shop--1-0-0--aaaaaaaa", "shop--1-1-0--bbbbbbbb")
	running.Status = api.ShiftRunning
	d.ok(PutShift(running))
	stack := fullStack("shop", "1.0.0", "aaaaaaaa", api.StackGarbage)
	d.ok(PutStack(stack))
	verb := func(change func(*api.Shift, *api.Stack)) *Decide {
		c := d.decide(func(one *api.Decision) { one.Verb, one.Plan, one.Run = api.VerbInterrupt, api.PlanShift, "s" })
		c.Shift, c.Stack = d.Snapshot().Shift("s").Copy(), d.Snapshot().Stack("default", stack.Name).Copy()
		change(c.Shift, c.Stack)
		return c
	}
	paused := func(s *api.Shift, _ *api.Stack) {
		s.Status, s.Reason, s.ChangedBy = api.ShiftPaused, "paused by ann", "ann"
	}

	d.refused(verb(func(s *api.Shift, _ *api.Stack) { s.ModifyIndex-- }), "modify index")
	d.refused(verb(func(s *api.Shift, k *api.Stack) { paused(s, k); k.ModifyIndex-- }), "modify index")
	d.ok(verb(paused))
	if s := d.Snapshot().Shift("s"); s.Status != api.ShiftPaused || s.ModifyIndex != d.Index() {
		t.Errorf("the shift is %s of index %d, want it paused at %d", s.Status, s.ModifyIndex, d.Index())
	}
	if got := len(d.ids()); got != 1 {
		t.Errorf("%d decisions are stored, want one", got)
	}
	var last *api.AuditRecord
	for r := range d.Snapshot().Audit("default", api.AuditShift, "s") {
		last = r
	}
	if last == nil || last.Action != api.ShiftPaused || last.By != "ann" {
		t.Errorf("the audit record is %+v, want who paused the shift", last)
	}
	d.ok(verb(func(s *api.Shift, _ *api.Stack) { s.Status = api.ShiftComplete }))
	d.refused(verb(paused), "has ended")
}
