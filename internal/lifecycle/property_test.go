// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package lifecycle_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/lifecycle"
)

// drawFleet draws stacks of a few units in nested namespaces, with dependencies, shifts, rules and callers.
func drawFleet(t *rapid.T) lifecycle.Input {
	namespaces := []string{"dev", "dev/sandbox", "prod"}
	units := []string{"a", "b", "c"}
	var in lifecycle.Input
	for i := range rapid.IntRange(1, 14).Draw(t, "stacks") {
		v := api.StackVersion{Major: uint32(rapid.IntRange(1, 2).Draw(t, "major")), Minor: uint32(rapid.IntRange(0, 2).Draw(t, "minor"))}
		unit := rapid.SampledFrom(units).Draw(t, "unit")
		s := &api.Stack{
			Name: api.StackName(unit, v, fmt.Sprintf("hash%04d", i)), Namespace: rapid.SampledFrom(namespaces).Draw(t, "namespace"),
			Unit: unit, Version: v, Spec: &api.StackSpec{Version: v.String()}, RunningAt: start, DeployedAt: start.Add(time.Duration(i)),
			Shape:        rapid.SampledFrom([]string{api.ShapeService, api.ShapeWorker}).Draw(t, "shape"),
			Status:       rapid.SampledFrom([]string{api.StackReady, api.StackReady, api.StackReady, api.StackWarming, api.StackGarbage, api.StackFailed}).Draw(t, "status"),
			StatusBefore: api.StackReady, Expires: start.Add(time.Duration(rapid.IntRange(-100, 100).Draw(t, "expires")) * time.Minute),
		}
		if rapid.Bool().Draw(t, "calls") {
			s.Spec.Depends = []*api.StackDependency{{Unit: rapid.SampledFrom(units).Draw(t, "callee"), Version: fmt.Sprintf("1.%d", rapid.IntRange(0, 2).Draw(t, "wants"))}}
		}
		if rapid.IntRange(0, 9).Draw(t, "held") == 0 {
			s.Hold = &api.StackHold{By: "ann"}
		}
		in.Stacks = append(in.Stacks, s)
	}
	for i, from := range in.Stacks {
		for _, to := range in.Stacks[i+1:] {
			if from.Namespace == to.Namespace && from.Unit == to.Unit && from.Version.Major == to.Version.Major && rapid.Bool().Draw(t, "shifts") {
				s := lifecycle.NewShift("id", from, to, nil, "", start)
				s.Share = rapid.Float64Range(0, 1).Draw(t, "share")
				in.Shifts = []*api.Shift{s}
			}
		}
	}
	if rapid.Bool().Draw(t, "rules") {
		in.Units = []*api.Unit{{Namespace: "dev", Name: "a", Deprecated: []*api.Deprecation{{Version: api.FeatureVersion{Major: 1, Minor: 1}}}}}
	}
	return in
}

func TestAnySweep(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := drawFleet(t)
		o := lifecycle.Sweeping{Now: start.Add(time.Duration(rapid.IntRange(0, 600).Draw(t, "minutes")) * time.Minute), Interval: 10 * time.Minute}
		o.Last = o.Now.Add(-time.Duration(rapid.IntRange(0, 60).Draw(t, "since the last")) * time.Minute)
		if rapid.Bool().Draw(t, "stale") {
			o.Stale = map[string]string{"dev/sandbox": ""}
		}
		x := lifecycle.NewIndex(in)
		result := x.SweepStacks(o)
		if diff := cmp.Diff(result, lifecycle.NewIndex(in).SweepStacks(o)); diff != "" {
			t.Fatalf("two sweeps of one snapshot decide differently:\n%s", diff)
		}
		used := make(map[api.NamespacedID]string)
		for _, e := range x.Edges(o.Now) {
			used[e.To] = e.Kind + " " + e.From
		}
		for _, s := range in.Shifts {
			used[api.NamespacedID{Namespace: s.Namespace, ID: s.From}], used[api.NamespacedID{Namespace: s.Namespace, ID: s.To}] = "shift", "shift"
		}
		for _, d := range result.Decisions {
			if d.Stack.Status == api.StackReady && d.Action != lifecycle.Keep {
				if by := used[d.Stack.Key()]; by != "" {
					t.Fatalf("%s becomes garbage, although it is used by %s", d.Stack.Name, by)
				}
			}
			if d.Action != lifecycle.Keep {
				if d.Stack.IsHeld(o.Now) {
					t.Fatalf("%s is held, and the sweep decides %d", d.Stack.Name, d.Action)
				}
				if len(o.Stale) > 0 && d.Stack.Namespace != "prod" {
					t.Fatalf("%s may have unknown callers, and the sweep decides %d", d.Stack.Name, d.Action)
				}
			}
			if d.Expires.Before(d.Stack.Expires) {
				t.Fatalf("%s: the expiry moved backwards from %s to %s", d.Stack.Name, d.Stack.Expires, d.Expires)
			}
			if lifecycle.Explain(&d.Verdict) == string(d.Verdict.Reason) && d.Verdict.Reason != api.DeclinedGarbage && d.Verdict.Reason != api.DeclinedFailed {
				t.Fatalf("verdict %q has no sentence", d.Verdict.Reason)
			}
		}
		for _, s := range in.Stacks {
			sum := 0.0
			for _, other := range in.Stacks {
				if other.Namespace == s.Namespace && other.Unit == s.Unit && other.Version.Major == s.Version.Major {
					sum += x.ShareOf(other)
				}
			}
			if s.IsRoutable() && (sum < 0.9999 || sum > 1.0001) {
				t.Fatalf("the shares of %s@%d in %s are %v together, want 1", s.Unit, s.Version.Major, s.Namespace, sum)
			}
		}
	})
}
