// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package lifecycle_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/lifecycle"
)

var drawnNamespaces = []string{"dev", "dev/sandbox", "dev/sandbox/ann", "prod"}

// drawFleet draws stacks of a few units in nested namespaces, with dependencies, exposures, policies, a shift, rules and observed callers.
func drawFleet(t *rapid.T) lifecycle.Input {
	var in lifecycle.Input
	for i := range rapid.IntRange(1, 14).Draw(t, "stacks") {
		in.Stacks = append(in.Stacks, drawStack(t, i))
	}
	for i, from := range in.Stacks {
		for _, to := range in.Stacks[i+1:] {
			if from.Namespace == to.Namespace && from.Unit == to.Unit && from.Version.Major == to.Version.Major && rapid.Bool().Draw(t, "shifts") {
				s := lifecycle.NewShift("id", from, to, nil, "", start)
				s.Share = rapid.SampledFrom([]float64{0, 0.01, 0.37, 1}).Draw(t, "share")
				s.Status = rapid.SampledFrom([]string{api.ShiftRunning, api.ShiftPaused, api.ShiftReversing, api.ShiftReversed}).Draw(t, "shift status")
				in.Shifts = []*api.Shift{s}
			}
		}
	}
	for _, namespace := range []string{"dev", api.AnyNamespace} {
		if rapid.Bool().Draw(t, "rules") {
			in.Units = append(in.Units, drawRules(t, namespace, in.Stacks))
		}
	}
	for range rapid.IntRange(0, 3).Draw(t, "observed") {
		in.Uses = append(in.Uses, lifecycle.Use{
			Stack:    rapid.SampledFrom(in.Stacks).Draw(t, "used").Key(),
			StackUse: api.StackUse{Caller: "10.0.0.7", Last: start.Add(time.Duration(rapid.IntRange(-90, 300).Draw(t, "last")) * time.Minute)},
		})
	}
	return in
}

func drawStack(t *rapid.T, i int) *api.Stack {
	units := []string{"a", "b", "c"}
	v := api.StackVersion{Major: uint32(rapid.IntRange(1, 2).Draw(t, "major")), Minor: uint32(rapid.IntRange(0, 2).Draw(t, "minor"))}
	unit := rapid.SampledFrom(units).Draw(t, "unit")
	s := &api.Stack{
		Name: api.StackName(unit, v, fmt.Sprintf("hash%04d", i)), Namespace: rapid.SampledFrom(drawnNamespaces).Draw(t, "namespace"),
		Unit: unit, Version: v, Spec: &api.StackSpec{Version: v.String()}, RunningAt: start, DeployedAt: start.Add(time.Duration(i)),
		Shape:        rapid.SampledFrom([]string{api.ShapeService, api.ShapeService, api.ShapeWorker}).Draw(t, "shape"),
		Status:       rapid.SampledFrom([]string{api.StackReady, api.StackReady, api.StackReady, api.StackWarming, api.StackGarbage, api.StackFailed}).Draw(t, "status"),
		StatusBefore: api.StackReady, Expires: start.Add(time.Duration(rapid.IntRange(-100, 100).Draw(t, "expires")) * time.Minute),
	}
	if rapid.Bool().Draw(t, "calls") {
		s.Spec.Depends = []*api.StackDependency{{
			Unit:    rapid.SampledFrom(units).Draw(t, "callee"),
			Version: fmt.Sprintf("%d.%d", rapid.IntRange(1, 2).Draw(t, "wanted major"), rapid.IntRange(0, 2).Draw(t, "wants")),
		}}
	}
	if rapid.IntRange(0, 3).Draw(t, "exposed") == 0 {
		s.Spec.Expose = []*api.StackExposure{{Host: rapid.SampledFrom([]string{"x.test", "y.test"}).Draw(t, "host")}}
	}
	if rapid.IntRange(0, 9).Draw(t, "held") == 0 {
		s.Hold = &api.StackHold{By: "ann"}
	}
	if rapid.Bool().Draw(t, "has a policy") {
		s.Spec.Policy = &api.RetentionPolicy{Name: rapid.SampledFrom([]string{api.RetainActive, api.RetainLatest, api.RetainUntilDeprecated}).Draw(t, "policy")}
	}
	if rapid.Bool().Draw(t, "impatient") {
		none := time.Duration(0)
		s.Spec.Idle = &none
	}
	if rapid.IntRange(0, 4).Draw(t, "crowded") == 0 {
		limit := rapid.IntRange(0, 2).Draw(t, "max stacks")
		s.Spec.MaxStacks = &limit
	}
	return s
}

// drawRules draws the rules of a unit.
func drawRules(t *rapid.T, namespace string, stacks []*api.Stack) *api.Unit {
	s := rapid.SampledFrom(stacks).Draw(t, "ruled")
	u := &api.Unit{Namespace: namespace, Name: s.Unit}
	if rapid.Bool().Draw(t, "deprecates") {
		u.Deprecated = []*api.Deprecation{{Version: s.Version.Feature()}}
	}
	if rapid.Bool().Draw(t, "tags") {
		u.Tags = map[string]api.StackVersion{"demo": rapid.SampledFrom(stacks).Draw(t, "tagged").Version}
	}
	if namespace != api.AnyNamespace {
		u.Targets = map[uint32]string{s.Version.Major: s.Name}
	}
	return u
}

// drawSweeping draws the occasion of a sweep.
func drawSweeping(t *rapid.T) lifecycle.Sweeping {
	o := lifecycle.Sweeping{
		Now: start.Add(time.Duration(rapid.IntRange(0, 300).Draw(t, "minutes")) * time.Minute), Interval: 10 * time.Minute,
		Stale: make(map[string]string), WasStale: make(map[string]bool),
	}
	o.Last = o.Now.Add(-time.Duration(rapid.IntRange(0, 30).Draw(t, "since the last")) * time.Minute)
	for _, namespace := range drawnNamespaces {
		switch rapid.IntRange(0, 5).Draw(t, namespace) {
		case 0:
			o.Stale[namespace] = "ci"
		case 1:
			o.WasStale[namespace] = true
		}
	}
	return o
}

// isPartial reports whether callers of the stacks of a namespace may be unknown.
func isPartial(o lifecycle.Sweeping, namespace string) bool {
	for stale := range o.Stale {
		if stale == namespace || strings.HasPrefix(stale, namespace+"/") {
			return true
		}
	}
	return false
}

func TestAnySweep(t *testing.T) {
	acted, protected := make(map[string]int), make(map[string]int)
	rapid.Check(t, func(t *rapid.T) {
		in, o := drawFleet(t), drawSweeping(t)
		gap := o.Now.Sub(o.Last) > 2*o.Interval
		result := lifecycle.NewIndex(in).SweepStacks(o)
		for _, d := range result.Decisions {
			s, ends := d.Stack, d.Stack.Expires.Before(o.Now)
			if d.Action != lifecycle.Keep {
				acted[s.Status]++
			}
			never := func(why string) {
				t.Helper()
				if ends {
					protected[why]++
				}
				if d.Action != lifecycle.Keep {
					t.Fatalf("%s, which is %s, expires at %s: the sweep at %s decides %d, although %s", s.Name, s.Status, s.Expires, o.Now, d.Action, why)
				}
			}
			if s.IsHeld(o.Now) {
				never("it is held")
			}
			if isPartial(o, s.Namespace) {
				never("callers may be unknown")
			}
			if o.WasStale[s.Namespace] {
				never("callers were unknown until now")
			}
			if gap {
				never("no leader swept for a while")
			}
			user := (oracle{in}).user(s, o.Now)
			if s.Status == api.StackReady && user != "" {
				never(strings.SplitN(user, " ", 2)[0] + " uses it")
			}
			if kept := s.IsHeld(o.Now) || isPartial(o, s.Namespace) || s.Status == api.StackReady && user != ""; kept && !d.Verdict.Kept {
				t.Fatalf("%s: the verdict is %q, want that it is kept: held %v, graph partial %v, user %q", s.Name, d.Verdict.Reason, s.Hold != nil, isPartial(o, s.Namespace), user)
			}
			if d.Expires.Before(s.Expires) {
				t.Fatalf("%s: the expiry moved backwards from %s to %s", s.Name, s.Expires, d.Expires)
			}
			if patient := gap || isPartial(o, s.Namespace) || o.WasStale[s.Namespace]; patient && d.Expires.Before(o.Now.Add(s.Spec.Extension())) {
				t.Fatalf("%s: expires at %s, and the sweep was at %s: want at least one extension", s.Name, d.Expires, o.Now)
			}
			if lifecycle.Explain(&d.Verdict) == string(d.Verdict.Reason) && d.Verdict.Reason != api.DeclinedGarbage && d.Verdict.Reason != api.DeclinedFailed {
				t.Fatalf("verdict %q has no sentence", d.Verdict.Reason)
			}
		}
	})
	for _, status := range []string{api.StackReady, api.StackWarming, api.StackGarbage, api.StackFailed} {
		if acted[status] == 0 {
			t.Errorf("no sweep changed a stack that is %s: the property tests nothing", status)
		}
	}
	for _, why := range []string{
		"it is held", "callers may be unknown", "callers were unknown until now", "no leader swept for a while",
		"caller uses it", "a uses it", "tag uses it", "requests uses it", "x.test uses it",
	} {
		if protected[why] == 0 {
			t.Errorf("no stack was past its time although %s: the property tests nothing", why)
		}
	}
}

func TestAnySweepOfTheSameObjectsDecidesTheSame(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in, o := drawFleet(t), drawSweeping(t)
		first := lifecycle.NewIndex(in).SweepStacks(o)
		again := lifecycle.Input{
			Stacks: rapid.Permutation(in.Stacks).Draw(t, "stacks in another order"), Units: slices.Clone(in.Units), Shifts: in.Shifts, Uses: in.Uses,
		}
		slices.Reverse(again.Units)
		if diff := cmp.Diff(first, lifecycle.NewIndex(again).SweepStacks(o)); diff != "" {
			t.Fatalf("two sweeps of the same objects decide differently:\n%s", diff)
		}
	})
}

func TestAnySharesAreOneTogether(t *testing.T) {
	shifted := 0
	rapid.Check(t, func(t *rapid.T) {
		in := drawFleet(t)
		x := lifecycle.NewIndex(in)
		for _, s := range in.Stacks {
			sum := 0.0
			for _, other := range in.Stacks {
				if other.Namespace == s.Namespace && other.Unit == s.Unit && other.Version.Major == s.Version.Major {
					share := x.ShareOf(other)
					if share < 0 || share > 0 && !other.IsRoutable() {
						t.Fatalf("%s, which is %s, has the share %v", other.Name, other.Status, share)
					}
					if share > 0 && share < 1 {
						shifted++
					}
					sum += share
				}
			}
			if from, to, share := (oracle{in}).shift((oracle{in}).ready(s.Namespace, s.Unit, s.Version.Major)); to == s && (x.ShareOf(to) != share || x.ShareOf(from) != 1-share) {
				t.Fatalf("the shift from %s to %s is at %v, and their shares are %v and %v", from.Name, to.Name, share, x.ShareOf(from), x.ShareOf(to))
			}
			if s.IsRoutable() && (sum < 0.999999 || sum > 1.000001) {
				t.Fatalf("the shares of %s@%d in %s are %v together, want 1", s.Unit, s.Version.Major, s.Namespace, sum)
			}
		}
	})
	if shifted == 0 {
		t.Error("no shift divided traffic: the property tests nothing")
	}
}

// TestAnyExtension gives a stack time with all verbs and sweeps that do so.
func TestAnyExtension(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := &fleet{now: start}
		s := drawStack(t, 0)
		s.Status = api.StackReady
		now := start
		for range rapid.IntRange(1, 20).Draw(t, "steps") {
			now = now.Add(time.Duration(rapid.IntRange(0, 120).Draw(t, "minutes")) * time.Minute)
			by := time.Duration(rapid.IntRange(0, 300).Draw(t, "by")) * time.Minute
			next, err := s, error(nil)
			switch rapid.SampledFrom([]string{"extend", "hold", "unhold", "sweep"}).Draw(t, "verb") {
			case "extend":
				next, err = lifecycle.Extend(s, by, now)
			case "hold":
				next, err = lifecycle.Hold(s, "ann", "", now.Add(by+time.Second), now)
			case "unhold":
				next, err = lifecycle.Unhold(s, now)
			case "sweep":
				f.in.Stacks = []*api.Stack{s}
				d := f.index().SweepStacks(lifecycle.Sweeping{Now: now, Interval: 10 * time.Minute, Last: now.Add(-by)}).Decisions[0]
				if d.Action != lifecycle.Keep {
					continue
				}
				next = s.Copy()
				next.Expires = d.Expires
			}
			if err != nil {
				continue
			}
			if next.Expires.Before(s.Expires) {
				t.Fatalf("at %s, the expiry moved backwards from %s to %s", now, s.Expires, next.Expires)
			}
			s = next
		}
	})
}
