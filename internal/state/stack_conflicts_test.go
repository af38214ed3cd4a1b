// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package state

import (
	"testing"
	"time"

	"github.com/reeve-run/reeve/api"
)

// A conflictingChange is a change after index 5, when units shop and db had one ready stack each in
// namespace default.
type conflictingChange struct {
	what   string
	change func(s *Snapshot) Command
	// concerns reports whether it may give a stack of db another caller, and rejects reports whether it
	// rejects a deployment of shop that was checked before.
	concerns, rejects bool
}

func conflictingChanges() []conflictingChange {
	plain := func(unit, version, hash, status string) *api.Stack {
		s := fullStack(unit, version, hash, status)
		s.Spec.Depends, s.Spec.Expose = nil, nil
		return s
	}
	calling := func(s *api.Stack) *api.Stack {
		s.Spec.Depends = []*api.StackDependency{{Unit: "db", Version: "1.0"}}
		return s
	}
	return []conflictingChange{
		{"a stack of another unit", func(*Snapshot) Command { return PutStack(plain("cart", "1.0.0", "cccccccc", api.StackPending)) }, false, false},
		{"a caller of db", func(*Snapshot) Command {
			return PutStack(calling(plain("cart", "1.0.0", "cccccccc", api.StackPending)))
		}, true, false},
		{"a caller of db that is garbage", func(*Snapshot) Command {
			return PutStack(calling(plain("cart", "1.0.0", "cccccccc", api.StackGarbage)))
		}, false, false},
		{"a stack of db", func(*Snapshot) Command { return PutStack(plain("db", "1.1.0", "dddddddd", api.StackPending)) }, true, true},
		{"a stack of shop", func(*Snapshot) Command { return PutStack(plain("shop", "1.1.0", "dddddddd", api.StackPending)) }, false, true},
		{"rules of another unit", func(*Snapshot) Command { return PutUnit(&api.Unit{Namespace: "default", Name: "cart"}) }, false, false},
		{"rules of db in all namespaces", func(*Snapshot) Command { return PutUnit(&api.Unit{Namespace: api.AnyNamespace, Name: "db"}) }, true, true},
		{"a stack that exposes the host of the deployment", func(*Snapshot) Command {
			s := plain("cart", "1.0.0", "cccccccc", api.StackPending)
			s.Spec.Expose = []*api.StackExposure{{Host: "Shop.Example.org"}}
			return PutStack(s)
		}, false, true},
		{"a shift of another unit", func(*Snapshot) Command { return PutShift(shiftOf("cart")) }, false, false},
		{"a shift of db", func(*Snapshot) Command { return PutShift(shiftOf("db")) }, true, false},
	}
}

func shiftOf(unit string) *api.Shift {
	s := fullShift("shift-"+unit, unit+"--1-0-0--aaaaaaaa", unit+"--1-1-0--bbbbbbbb")
	s.Unit = unit
	return s
}

// twoUnits returns a store with ready stacks of shop and db at index 5.
func twoUnits(t *testing.T) (s *Store, db *api.Stack) {
	t.Helper()
	s = New()
	c := &DeployStacks{}
	for _, unit := range []string{"shop", "db"} {
		stack := fullStack(unit, "1.0.0", "aaaaaaaa", api.StackReady)
		stack.Spec.Expose, stack.Spec.Depends = nil, nil
		c.Stacks, c.Jobs = append(c.Stacks, stack), append(c.Jobs, testJob(stack.Name))
	}
	must(t, s.Apply(5, []Command{throughLog(t, c)}))
	return s, s.Snapshot().Stack("default", c.Stacks[1].Name)
}

func TestSweepMarksUnlessItsUnitMayHaveNewCallers(t *testing.T) {
	for _, c := range conflictingChanges() {
		s, db := twoUnits(t)
		must(t, s.Apply(6, []Command{throughLog(t, c.change(s.Snapshot()))}))
		must(t, s.Apply(7, []Command{throughLog(t, &SweepStacks{
			Since: 5, Sweep: api.LifecycleSweep{Time: at(40)}, Decided: []StackDecision{{
				Namespace: "default", Name: db.Name, ModifyIndex: 5, Expires: at(100), Status: api.StackGarbage, Text: "no caller",
			}},
		})}))
		want := api.StackGarbage
		if c.concerns {
			want = api.StackReady
		}
		if got := s.Snapshot().Stack("default", db.Name).Status; got != want {
			t.Errorf("after the change of %s, the swept stack of db is %s, want %s", c.what, got, want)
		}
	}
}

func TestDeploymentIsRejectedOnlyByChangesThatConcernIt(t *testing.T) {
	for _, c := range conflictingChanges() {
		s, _ := twoUnits(t)
		must(t, s.Apply(6, []Command{throughLog(t, c.change(s.Snapshot()))}))
		next := fullStack("shop", "2.0.0", "eeeeeeee", api.StackPending)
		err := apply(s, throughLog(t, &DeployStacks{
			Index: 5, Units: []api.NamespacedID{{Namespace: "default", ID: "db"}, {Namespace: "default", ID: "shop"}},
			Stacks: []*api.Stack{next}, Jobs: []*api.Job{testJob(next.Name)},
		}))
		if rejected := api.CodeOf(err) == api.CodeConflict; rejected != c.rejects {
			t.Errorf("after the change of %s, the deployment of shop: %v, want rejected: %v", c.what, err, c.rejects)
		}
	}
}

func TestProgressOfAShiftKeepsNoStack(t *testing.T) {
	s, db := twoUnits(t)
	must(t, s.Apply(6, []Command{throughLog(t, PutShift(shiftOf("db")))}))
	step := s.Snapshot().Shift("shift-db").Copy()
	step.Share, step.Elapsed = 0.5, time.Hour
	must(t, s.Apply(7, []Command{throughLog(t, PutShift(step))}))
	must(t, s.Apply(8, []Command{throughLog(t, &SweepStacks{Since: 6, Sweep: api.LifecycleSweep{Time: at(40)}, Decided: []StackDecision{{
		Namespace: "default", Name: db.Name, ModifyIndex: 5, Expires: at(100), Status: api.StackGarbage, Text: "no caller",
	}}})}))
	if got := s.Snapshot().Stack("default", db.Name).Status; got != api.StackGarbage {
		t.Errorf("the swept stack is %s, want garbage: only the share of a shift changed", got)
	}
}
