// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package lifecycle_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/lifecycle"
)

func TestAReplacedStackBecomesGarbageAndIsRemoved(t *testing.T) {
	f := newFleet(t)
	old, next := f.stack("inventory 1.0.0"), f.stack("inventory 1.1.0")
	f.stack("shop 2.4.0", depends("inventory", "1.0"), policy(api.RetainAlways))
	f.shift(old, next, 0.5)
	f.run(2 * time.Hour)
	f.wantStatus(old, api.StackReady)
	f.wantStatus(next, api.StackReady)

	f.in.Shifts = nil
	f.unit("inventory").Targets = map[uint32]string{1: next.Name}
	expires := f.get(old).Expires
	if limit := f.now.Add(api.DefaultExtendTTL); expires.After(limit) {
		t.Errorf("expires %s after the shift, want at most %s", expires, limit)
	}
	f.run(50 * time.Minute)
	f.wantStatus(old, api.StackGarbage)
	f.wantStatus(next, api.StackReady)
	f.run(23 * time.Hour)
	f.wantStatus(old, api.StackGarbage)
	f.run(90 * time.Minute)
	f.wantStatus(old, api.StackTerminated)
}

func TestARescuedStackIsReadyForItsTime(t *testing.T) {
	f := newFleet(t)
	old := f.stack("inventory 1.0.0")
	f.stack("inventory 1.1.0")
	f.run(time.Hour)
	f.wantStatus(old, api.StackGarbage)
	rescued, err := lifecycle.Rescue(f.get(old), 48*time.Hour, f.now)
	if err != nil {
		t.Fatal(err)
	}
	for i, s := range f.in.Stacks {
		if s.Name == old.Name {
			f.in.Stacks[i] = rescued
		}
	}
	end := f.now.Add(48 * time.Hour)
	f.run(time.Hour)
	f.wantStatus(old, api.StackReady)
	if got := f.get(old); !got.Expires.Equal(end) || got.Verdict.Reason != api.DeclinedUncalled {
		t.Errorf("expires %s with verdict %s, want %s and %s", got.Expires, got.Verdict.Reason, end, api.DeclinedUncalled)
	}
	f.run(48 * time.Hour)
	f.wantStatus(old, api.StackGarbage)
}

func TestADependencyIsKeptUntilItsCallerIsDeployed(t *testing.T) {
	f := newFleet(t)
	waiting, hasty := f.stack("db 1.0.0"), f.stack("cache 1.0.0", idle(0))
	f.run(time.Hour)
	f.wantStatus(waiting, api.StackReady)
	f.wantStatus(hasty, api.StackGarbage)
	if got := f.get(waiting).Verdict.Reason; got != api.KeptIdle {
		t.Errorf("verdict %s, want %s", got, api.KeptIdle)
	}
	f.run(7 * 24 * time.Hour)
	f.wantStatus(waiting, api.StackGarbage)
}

func TestAWorkerWithoutPortsIsKept(t *testing.T) {
	f := newFleet(t)
	worker := f.stack("mailer 1.0.0", func(s *api.Stack) { s.Shape = api.ShapeWorker })
	f.run(2 * time.Hour)
	f.wantStatus(worker, api.StackReady)
}

func TestADeprecatedStackStaysWhileItHasCallers(t *testing.T) {
	f := newFleet(t)
	db := f.stack("db 2.1.0")
	shop := f.stack("shop 1.0.0", depends("db", "2.0"), policy(api.RetainAlways))
	f.deprecate("db", "2.1")
	f.run(3 * time.Hour)
	f.wantStatus(db, api.StackDeprecated)
	f.get(shop).Status = api.StackGarbage
	f.run(time.Hour)
	f.wantStatus(db, api.StackGarbage)
}

func TestAnUndeclaredCallerKeepsAStackForAnHour(t *testing.T) {
	f := newFleet(t)
	s := f.stack("db 2.1.0", idle(0))
	for range 12 {
		f.in.Uses = []lifecycle.Use{{Stack: s.Key(), StackUse: api.StackUse{Caller: "10.0.0.7", Last: f.now}}}
		f.run(10 * time.Minute)
	}
	f.wantStatus(s, api.StackReady)
	if v := f.get(s).Verdict; v.Reason != api.KeptObserved || v.Subject != "10.0.0.7" {
		t.Errorf("verdict %+v, want the observed caller 10.0.0.7", v)
	}
	f.run(2 * time.Hour)
	f.wantStatus(s, api.StackGarbage)
}

func TestNothingIsMarkedWhileADomainBelowIsStale(t *testing.T) {
	f := newFleet(t)
	old := f.stack("inventory 1.0.0")
	f.stack("inventory 1.1.0")
	warming := f.stack("inventory 1.2.0", status(api.StackWarming))
	other := f.stack("prod:inventory 1.0.0", idle(0))
	f.stale = map[string]string{"dev/sandbox/alice": "ci"}
	f.run(72 * time.Hour)
	f.wantStatus(old, api.StackReady)
	f.wantStatus(warming, api.StackWarming)
	f.wantStatus(other, api.StackTerminated)
	if v := f.get(old).Verdict; v.Reason != api.KeptStale || v.Subject != "ci" {
		t.Errorf("verdict %+v, want stale domain ci", v)
	}
	f.stale = nil
	f.run(20 * time.Minute)
	f.wantStatus(old, api.StackReady)
	f.run(30 * time.Minute)
	f.wantStatus(old, api.StackGarbage)
}

func TestTimeWithoutALeaderMovesDeadlines(t *testing.T) {
	f := newFleet(t)
	old := f.stack("inventory 1.0.0")
	f.stack("inventory 1.1.0")
	f.run(10 * time.Minute)
	before := f.get(old).Expires
	f.now = f.now.Add(3 * time.Hour)
	f.sweep()
	f.wantStatus(old, api.StackReady)
	if got := f.get(old).Expires; got.Before(before.Add(3*time.Hour)) || got.Before(f.now.Add(api.DefaultExtendTTL)) {
		t.Errorf("expires %s, want 3 h after %s and not within one extension of %s", got, before, f.now)
	}
	f.run(30 * time.Minute)
	f.wantStatus(old, api.StackReady)
	f.run(30 * time.Minute)
	f.wantStatus(old, api.StackGarbage)
}

func TestAHeldStackIsNotRemoved(t *testing.T) {
	f := newFleet(t)
	s := f.stack("inventory 1.0.0")
	f.stack("inventory 1.1.0")
	s.Hold = &api.StackHold{By: "ann", Until: start.Add(5 * time.Hour)}
	f.run(5 * time.Hour)
	f.wantStatus(s, api.StackReady)
	f.run(time.Hour)
	f.wantStatus(s, api.StackGarbage)
}

func TestAWarmingStackFailsAtItsDeadline(t *testing.T) {
	f := newFleet(t)
	s := f.stack("inventory 1.0.0", status(api.StackWarming))
	f.run(30 * time.Minute)
	f.wantStatus(s, api.StackWarming)
	f.run(10 * time.Minute)
	f.wantStatus(s, api.StackFailed)
	f.run(50 * time.Minute)
	f.wantStatus(s, api.StackFailed)
	f.run(20 * time.Minute)
	f.wantStatus(s, api.StackTerminated)
}

func TestTheOldestUnusedStacksOfACrowdedUnitGo(t *testing.T) {
	f := newFleet(t)
	two := 2
	limit := func(s *api.Stack) { s.Spec.MaxStacks = &two }
	used := f.stack("job 1.0.0", limit, policy(api.RetainAlways))
	f.stack("caller 1.0.0", depends("job", "1.0"), policy(api.RetainAlways))
	second := f.stack("job 2.0.0", limit, policy(api.RetainAlways))
	third := f.stack("job 2.1.0", limit, policy(api.RetainAlways))
	f.run(time.Hour)
	f.wantStatus(used, api.StackReady)
	f.wantStatus(second, api.StackGarbage)
	f.wantStatus(third, api.StackReady)
}

func TestACrowdedUnitHasAnExtensionAfterTimeWithoutALeader(t *testing.T) {
	f := newFleet(t)
	one := 1
	limit := func(s *api.Stack) { s.Spec.MaxStacks = &one }
	old := f.stack("job 1.0.0", limit, policy(api.RetainAlways))
	f.stack("job 2.0.0", limit, policy(api.RetainAlways))
	middle := f.stack("job 1.1.0", limit, policy(api.RetainAlways))
	f.unit("job").Targets = map[uint32]string{1: middle.Name}
	f.now = f.now.Add(3 * time.Hour)
	f.sweep()
	f.wantStatus(old, api.StackReady)
	if got := f.get(old); got.Expires.Before(f.now.Add(api.DefaultExtendTTL)) || got.Verdict.Reason != api.DeclinedCrowded {
		t.Errorf("expires %s with verdict %s, want %s and at least one extension after %s", got.Expires, got.Verdict.Reason, api.DeclinedCrowded, f.now)
	}
	f.run(time.Hour)
	f.run(3 * time.Hour)
	f.wantStatus(old, api.StackGarbage)
}

func TestASweepChangesNothingOfItsInput(t *testing.T) {
	f := newFleet(t)
	f.stack("inventory 1.0.0")
	f.stack("shop 1.0.0", depends("inventory", "1.0"))
	before := f.in.Stacks[0].Copy()
	o := lifecycle.Sweeping{Now: f.now.Add(time.Hour), Interval: 10 * time.Minute, Last: f.now}
	first, second := f.index().SweepStacks(o), f.index().SweepStacks(o)
	if diff := cmp.Diff(first, second); diff != "" {
		t.Errorf("two sweeps of one snapshot decide differently:\n%s", diff)
	}
	if diff := cmp.Diff(before, f.in.Stacks[0]); diff != "" {
		t.Errorf("the sweep changed a stack:\n%s", diff)
	}
}
