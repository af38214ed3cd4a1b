// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package control_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/lifecycle"
	"github.com/reeve-run/reeve/internal/server/control"
	"github.com/reeve-run/reeve/internal/state"
)

var (
	drawnNamespaces = []string{"dev", "dev/sandbox", "dev/sandbox/alice", "prod"}
	drawnUnits      = []string{"a", "b", "c", "d", "e"}
)

// drawSpec draws a stack block of a version with dependencies and exposed hosts.
func drawSpec(t *rapid.T, v api.StackVersion) *api.StackSpec {
	spec := &api.StackSpec{Version: v.String()}
	for range rapid.IntRange(0, 2).Draw(t, "dependencies") {
		spec.Depends = append(spec.Depends, &api.StackDependency{
			Unit: rapid.SampledFrom(drawnUnits).Draw(t, "callee"), Version: fmt.Sprintf("%d.%d", rapid.IntRange(1, 2).Draw(t, "major"), rapid.IntRange(0, 2).Draw(t, "minor")),
		})
	}
	if rapid.IntRange(0, 3).Draw(t, "exposed") == 0 {
		spec.Expose = []*api.StackExposure{{Host: rapid.SampledFrom([]string{"x.test", "X.test", "y.test"}).Draw(t, "host")}}
	}
	return spec
}

func drawVersion(t *rapid.T) api.StackVersion {
	return api.StackVersion{Major: uint32(rapid.IntRange(1, 2).Draw(t, "major")), Minor: uint32(rapid.IntRange(0, 2).Draw(t, "minor"))}
}

// drawStacks stores drawn stacks, rules of units, and a shift.
func drawStacks(t *rapid.T, store *state.Store) {
	put := func(c state.Command) {
		for _, err := range store.Apply(store.Index()+1, []state.Command{c}) {
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	var ready []*api.Stack
	for i := range rapid.IntRange(0, 20).Draw(t, "stacks") {
		v, unit := drawVersion(t), rapid.SampledFrom(drawnUnits).Draw(t, "unit")
		var used []api.StackUse
		if rapid.IntRange(0, 3).Draw(t, "observed") == 0 {
			used = []api.StackUse{{Caller: "10.0.0.7", Want: rapid.SampledFrom([]string{"", "1.0", "2.1"}).Draw(t, "wanted"), Last: time.Now()}}
		}
		s := &api.Stack{
			Observed: used, Name: api.StackName(unit, v, fmt.Sprintf("hash%04d", i)), Namespace: rapid.SampledFrom(drawnNamespaces).Draw(t, "namespace"), Unit: unit,
			Version: v, Spec: drawSpec(t, v), DeployedAt: t0.Add(time.Duration(i)), StatusSince: t0,
			Shape:  rapid.SampledFrom([]string{api.ShapeService, api.ShapeService, api.ShapeWorker}).Draw(t, "shape"),
			Status: rapid.SampledFrom([]string{api.StackReady, api.StackReady, api.StackPending, api.StackGarbage, api.StackTerminated}).Draw(t, "status"),
		}
		put(state.PutStack(s))
		if s.Status == api.StackReady {
			ready = append(ready, s)
		}
	}
	if from, to := pairOf(ready); to != nil && rapid.Bool().Draw(t, "shifts") {
		put(state.PutShift(lifecycle.NewShift("id", from, to, nil, "", t0)))
	}
	for _, namespace := range []string{"dev", api.AnyNamespace} {
		name := rapid.SampledFrom(drawnUnits).Draw(t, "ruled unit")
		rules := &api.Unit{Namespace: namespace, Name: name}
		if old := store.Snapshot().Unit(namespace, name); old != nil {
			*rules = *old
		}
		rules.Deprecated = []*api.Deprecation{{Version: api.FeatureVersion{Major: 1, Minor: 1}}}
		put(state.PutUnit(rules))
	}
}

// pairOf returns the first two stacks of one major version of a unit.
func pairOf(ready []*api.Stack) (from, to *api.Stack) {
	for i, from := range ready {
		for _, to := range ready[i+1:] {
			if from.Namespace == to.Namespace && from.Unit == to.Unit && from.Version.Major == to.Version.Major {
				return from, to
			}
		}
	}
	return nil, nil
}

func TestAnyDeploymentIsCheckedByTheStacksThatItConcerns(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		store := state.New()
		drawStacks(t, store)
		var list []lifecycle.Deployable
		for range rapid.IntRange(1, 3).Draw(t, "deployed") {
			v := drawVersion(t)
			list = append(list, lifecycle.Deployable{
				Namespace: rapid.SampledFrom(drawnNamespaces).Draw(t, "namespace"), Unit: rapid.SampledFrom(drawnUnits).Draw(t, "unit"),
				Version: v, Spec: drawSpec(t, v), HasPort: rapid.Bool().Draw(t, "port"),
			})
		}
		snap := store.Snapshot()
		x, _ := control.DeploymentIndex(snap, list)
		refusals, order := x.CheckDeployment(list)
		wantRefusals, wantOrder := control.LifecycleIndex(snap, nil).CheckDeployment(list)
		if diff := cmp.Diff(wantRefusals, refusals); diff != "" {
			t.Fatalf("the index of the deployment refuses other things than that of all stacks:\n%s", diff)
		}
		if diff := cmp.Diff(wantOrder, order); diff != "" {
			t.Fatalf("the index of the deployment gives another order than that of all stacks:\n%s", diff)
		}
	})
}

func TestTheCallersOfAUnitAreThoseAmongAllStacks(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		store := state.New()
		drawStacks(t, store)
		snap := store.Snapshot()
		all := control.LifecycleIndex(snap, nil)
		for s := range snap.Stacks("*") {
			x := control.CallersIndex(snap, s.Unit)
			describe := func(x *lifecycle.Index) string {
				var edges []lifecycle.Edge
				for _, e := range x.Edges(time.Now()) {
					if e.To == s.Key() {
						edges = append(edges, e)
					}
				}
				return fmt.Sprintf("%s, share %v, target %v, shift %q, callers %q, hosts elsewhere %q, edges %+v",
					x.StatusOf(s), x.ShareOf(s), x.IsTarget(s), x.ShiftOf(s), x.Callers(s), x.HostsElsewhere(s), edges)
			}
			if diff := cmp.Diff(describe(all), describe(x)); diff != "" {
				t.Fatalf("stack %s of namespace %s, in the index of all stacks and in that of its unit:\n%s", s.Name, s.Namespace, diff)
			}
		}
	})
}
