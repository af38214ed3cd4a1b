// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package lifecycle_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/lifecycle"
)

// start is the time at which tests begin.
var start = time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)

// A fleet is the stored objects of a test, and the tail of the sweeps.
type fleet struct {
	t        testing.TB
	in       lifecycle.Input
	gone     []*api.Stack // terminated
	now      time.Time
	last     time.Time
	wasStale map[string]bool
	stale    map[string]string
}

func newFleet(t testing.TB) *fleet { return &fleet{t: t, now: start, last: start} }

// stack adds a ready stack that runs since now. The name is its unit and version, such as "inventory 1.2.0",
// in namespace dev unless the unit has one in front: "dev/sandbox:inventory 1.2.0".
func (f *fleet) stack(name string, set ...func(*api.Stack)) *api.Stack {
	f.t.Helper()
	var unit, version string
	if n, err := fmt.Sscanf(name, "%s %s", &unit, &version); n != 2 {
		f.t.Fatalf("stack %q: %v", name, err)
	}
	namespace := "dev"
	for i := range unit {
		if unit[i] == ':' {
			namespace, unit = unit[:i], unit[i+1:]
			break
		}
	}
	v, err := api.ParseStackVersion(version)
	if err != nil {
		f.t.Fatal(err)
	}
	s := &api.Stack{
		Name: api.StackName(unit, v, fmt.Sprintf("hash%04d", len(f.in.Stacks))), Namespace: namespace, Unit: unit, Version: v,
		Spec: &api.StackSpec{Version: v.String()}, Shape: api.ShapeService, Status: api.StackReady, StatusSince: f.now,
		DeployedAt: f.now.Add(time.Duration(len(f.in.Stacks)) * time.Millisecond), RunningAt: f.now, Expires: f.now.Add(api.DefaultInitialTTL),
	}
	for _, change := range set {
		change(s)
	}
	f.in.Stacks = append(f.in.Stacks, s)
	return s
}

func depends(unit, version string) func(*api.Stack) {
	return func(s *api.Stack) {
		s.Spec.Depends = append(s.Spec.Depends, &api.StackDependency{Unit: unit, Version: version})
	}
}

func policy(name string) func(*api.Stack) {
	return func(s *api.Stack) { s.Spec.Policy = &api.RetentionPolicy{Name: name} }
}

func status(name string) func(*api.Stack) { return func(s *api.Stack) { s.Status = name } }

func idle(d time.Duration) func(*api.Stack) { return func(s *api.Stack) { s.Spec.Idle = &d } }

// unit returns the rules of a unit in namespace dev.
func (f *fleet) unit(name string) *api.Unit {
	for _, u := range f.in.Units {
		if u.Name == name {
			return u
		}
	}
	u := &api.Unit{Namespace: "dev", Name: name}
	f.in.Units = append(f.in.Units, u)
	return u
}

func (f *fleet) deprecate(unit, version string) {
	v, err := api.ParseFeatureVersion(version)
	if err != nil {
		f.t.Fatal(err)
	}
	f.unit(unit).Deprecated = append(f.unit(unit).Deprecated, &api.Deprecation{Version: v})
}

func (f *fleet) shift(from, to *api.Stack, share float64) *api.Shift {
	s := lifecycle.NewShift("shift", from, to, nil, "", f.now)
	s.Share = share
	f.in.Shifts = append(f.in.Shifts, s)
	return s
}

func (f *fleet) index() *lifecycle.Index { return lifecycle.NewIndex(f.in) }

// sweep sweeps now, and stores what the sweep decides.
func (f *fleet) sweep() map[string]lifecycle.Decision {
	f.t.Helper()
	result := f.index().SweepStacks(lifecycle.Sweeping{
		Now: f.now, Interval: 10 * time.Minute, Last: f.last, Stale: f.stale, WasStale: f.wasStale,
	})
	f.last, f.wasStale = f.now, result.Stale
	decisions := make(map[string]lifecycle.Decision)
	var stacks []*api.Stack
	for _, d := range result.Decisions {
		decisions[d.Stack.Name] = d
		s := d.Stack
		switch d.Action {
		case lifecycle.Mark:
			s = lifecycle.MarkGarbage(s, d.Verdict.Reason.StatusReason(), f.now)
		case lifecycle.Fail:
			s = lifecycle.MarkFailed(s, d.Verdict.Reason.StatusReason(), "", f.now)
		case lifecycle.Remove:
			s = s.Copy()
			s.Status = api.StackTerminated
			f.gone = append(f.gone, s)
			continue
		default:
			s = s.Copy()
			s.Expires = d.Expires
		}
		if d.Called {
			s.CalledAt = f.now
		}
		verdict := d.Verdict
		s.Verdict = &verdict
		stacks = append(stacks, s)
	}
	f.in.Stacks = stacks
	return decisions
}

// run sweeps every ten minutes for a while.
func (f *fleet) run(d time.Duration) {
	for end := f.now.Add(d); f.now.Before(end); {
		f.now = f.now.Add(10 * time.Minute)
		f.sweep()
	}
}

// get returns a stack as it is stored now.
func (f *fleet) get(s *api.Stack) *api.Stack {
	f.t.Helper()
	for _, other := range slices.Concat(f.in.Stacks, f.gone) {
		if other.Name == s.Name && other.Namespace == s.Namespace {
			return other
		}
	}
	f.t.Fatalf("no stack %s", s.Name)
	return nil
}

func (f *fleet) wantStatus(s *api.Stack, want string) {
	f.t.Helper()
	if got := f.get(s); f.index().StatusOf(got) != want {
		f.t.Errorf("at %s: %s is %s, want %s; last verdict: %+v", f.now.Sub(start), s.Name, got.Status, want, got.Verdict)
	}
}
