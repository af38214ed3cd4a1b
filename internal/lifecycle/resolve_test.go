// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package lifecycle_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/lifecycle"
)

// resolve returns the versions that a caller in a namespace reaches, such as "1.0.0 + 1.1.0".
func (f *fleet) resolve(namespace, unit, want string) string {
	f.t.Helper()
	v, err := api.ParseFeatureVersion(want)
	if err != nil {
		f.t.Fatal(err)
	}
	t := f.index().Resolve(namespace, unit, v)
	var versions []string
	for _, s := range []*api.Stack{t.Stack, t.Next} {
		if s != nil {
			versions = append(versions, s.Version.String())
		}
	}
	return strings.Join(versions, " + ")
}

func TestCallersReachTheVersionThatTheyWant(t *testing.T) {
	f := newFleet(t)
	old, next := f.stack("inventory 1.0.0"), f.stack("inventory 1.1.0")
	f.stack("inventory 2.0.0")
	for _, test := range []struct {
		name   string
		change func()
		want   map[string]string
	}{
		{"the newest is the target", func() {}, map[string]string{"1.0": "1.1.0", "1.1": "1.1.0", "1.2": "", "2.0": "2.0.0", "3.0": ""}},
		{"a rolled back target serves those that it satisfies", func() {
			f.unit("inventory").Targets = map[uint32]string{1: old.Name}
		}, map[string]string{"1.0": "1.0.0", "1.1": "1.1.0"}},
		{"a shift serves those that both of its stacks satisfy", func() { f.shift(old, next, 0.3) },
			map[string]string{"1.0": "1.0.0 + 1.1.0", "1.1": "1.1.0"}},
		{"a deprecated stack is no replacement", func() { f.deprecate("inventory", "1.1") }, map[string]string{"1.0": "1.0.0 + 1.1.0", "1.1": ""}},
	} {
		test.change()
		for want, versions := range test.want {
			if got := f.resolve("dev", "inventory", want); got != versions {
				t.Errorf("%s: inventory@%s resolves to %q, want %q", test.name, want, got, versions)
			}
		}
	}
}

// exposing exposes hosts.
func exposing(hosts ...string) func(*api.Stack) {
	return func(s *api.Stack) {
		for _, host := range hosts {
			s.Spec.Expose = append(s.Spec.Expose, &api.StackExposure{Host: host})
		}
	}
}

// shares returns the share of each stack of the traffic of a host.
func (f *fleet) shares(host string, stacks ...*api.Stack) (all []float64) {
	for _, s := range stacks {
		all = append(all, f.index().HostShareOf(f.get(s), host))
	}
	return all
}

func TestAnExposedHostStaysWithTheLowerMajorVersion(t *testing.T) {
	f := newFleet(t)
	old, next := f.stack("shop 1.0.0", exposing("shop.example.com")), f.stack("shop 1.1.0", exposing("shop.example.com"))
	major := f.stack("shop 2.0.0", exposing("shop.example.com"))
	f.shift(old, next, 0.25)
	if diff := cmp.Diff([]float64{0.75, 0.25, 0}, f.shares("shop.example.com", old, next, major)); diff != "" {
		t.Errorf("shares of 1.0.0, 1.1.0 and 2.0.0 (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"shop.example.com"}, f.index().HostsElsewhere(major)); diff != "" {
		t.Errorf("hosts that 2.0.0 exposes without their traffic (-want +got):\n%s", diff)
	}
	f.in.Shifts, f.in.Stacks = nil, f.in.Stacks[2:]
	if diff := cmp.Diff([]float64{1}, f.shares("shop.example.com", major)); diff != "" {
		t.Errorf("share of 2.0.0 without 1.x (-want +got):\n%s", diff)
	}
}

// Ownership is per host: a new major version serves the hosts that only it exposes.
func TestEachHostBelongsToTheLowestMajorVersionThatServesIt(t *testing.T) {
	f := newFleet(t)
	one := f.stack("shop 1.0.0", exposing("shop.example.com"))
	two := f.stack("shop 2.0.0", exposing("shop.example.com", "new.example.com"))
	check := func(when string, want map[string][]float64) {
		t.Helper()
		for host, shares := range want {
			if diff := cmp.Diff(shares, f.shares(host, one, two)); diff != "" {
				t.Errorf("%s: shares of 1.0.0 and 2.0.0 of %s (-want +got):\n%s", when, host, diff)
			}
		}
	}
	check("both majors", map[string][]float64{"shop.example.com": {1, 0}, "new.example.com": {0, 1}})
	if got := f.index().Callers(two); !slices.Equal(got, []string{"new.example.com"}) {
		t.Errorf("callers of 2.0.0: %v, want its own host alone", got)
	}

	// Version 1.1.0 exposes nothing. While the shift runs, 1.0.0 has the host; at its end 2.0.0
	// has it, because no stack of 1.x that serves traffic exposes it.
	next := f.stack("shop 1.1.0")
	f.unit("shop").Targets = map[uint32]string{1: one.Name}
	shift := f.shift(one, next, 0.75)
	check("a shift to a version without the host", map[string][]float64{"shop.example.com": {0.25, 0}, "new.example.com": {0, 1}})
	shift.Share = 1
	check("the shift's last step", map[string][]float64{"shop.example.com": {0, 1}})
	f.in.Shifts = nil
	f.unit("shop").Targets = map[uint32]string{1: next.Name}
	check("after the shift", map[string][]float64{"shop.example.com": {0, 1}, "new.example.com": {0, 1}})
}

func TestNamespacesAreSearchedUpwards(t *testing.T) {
	f := newFleet(t)
	f.stack("inventory 1.4.0")
	if got := f.resolve("dev/sandbox", "inventory", "1.2"); got != "1.4.0" {
		t.Errorf("from dev/sandbox: %q, want that of dev", got)
	}
	f.stack("dev/sandbox:inventory 1.3.0")
	if got := f.resolve("dev/sandbox", "inventory", "1.2"); got != "1.3.0" {
		t.Errorf("from dev/sandbox: %q, want its own", got)
	}
	if got := f.resolve("dev/sandbox/alice", "inventory", "1.2"); got != "1.3.0" {
		t.Errorf("from dev/sandbox/alice: %q, want that of dev/sandbox", got)
	}
	if got := f.resolve("dev", "inventory", "1.2"); got != "1.4.0" {
		t.Errorf("from dev: %q, want its own", got)
	}
	if got := f.resolve("devel", "inventory", "1.2"); got != "" {
		t.Errorf("from devel: %q, want nothing", got)
	}
}

func TestDeploymentsAreCheckedTogether(t *testing.T) {
	deployable := func(unit, version string, deps ...string) lifecycle.Deployable {
		v, err := api.ParseStackVersion(version)
		if err != nil {
			t.Fatal(err)
		}
		spec := &api.StackSpec{Version: v.String()}
		for _, d := range deps {
			unit, want, _ := strings.Cut(d, "@")
			spec.Depends = append(spec.Depends, &api.StackDependency{Unit: unit, Version: want})
		}
		return lifecycle.Deployable{Namespace: "dev", Unit: unit, Version: v, Spec: spec, HasPort: true}
	}
	for _, test := range []struct {
		name  string
		list  []lifecycle.Deployable
		want  []string // parts of the refusals, in order
		order []int
	}{
		{"a dependency that exists", []lifecycle.Deployable{deployable("shop", "1.0.0", "inventory@1.0")}, nil, []int{0}},
		{"a minor version that is missing", []lifecycle.Deployable{deployable("shop", "1.0.0", "inventory@1.2")},
			[]string{"unit inventory satisfies version 1.2 in namespace dev or around it: it has 1.1.0 (ready)"}, nil},
		{"a unit that is missing", []lifecycle.Deployable{deployable("shop", "1.0.0", "nowhere@1.0")}, []string{"the unit has no stacks"}, nil},
		{"a deprecated version", []lifecycle.Deployable{deployable("shop", "1.0.0", "search@1.1")}, []string{"is deprecated: nothing new may depend on search@1.1"}, nil},
		{"garbage", []lifecycle.Deployable{deployable("shop", "1.0.0", "waste@1.0")}, []string{"it has only 1.0.0 (garbage)"}, nil},
		{"a worker", []lifecycle.Deployable{deployable("shop", "1.0.0", "mailer@1.0")}, []string{"callers cannot reach it"}, nil},
		{"two problems at once", []lifecycle.Deployable{deployable("shop", "1.0.0", "nowhere@1.0", "inventory@1.2")}, []string{"unit nowhere", "unit inventory"}, nil},
		{"a batch in the wrong order", []lifecycle.Deployable{deployable("a", "1.0.0", "b@1.0"), deployable("b", "1.0.0")}, nil, []int{1, 0}},
		{"a cycle in a batch", []lifecycle.Deployable{deployable("a", "1.0.0", "b@1.0"), deployable("b", "1.0.0", "a@1.0")}, []string{"a -> b -> a"}, nil},
		{"a cycle through a stack that exists", []lifecycle.Deployable{deployable("base", "1.1.0", "caller@1.0")}, []string{"base -> caller -> base"}, nil},
		{"a unit that calls itself", []lifecycle.Deployable{deployable("inventory", "1.2.0", "inventory@1.0")}, []string{"inventory -> inventory"}, nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			f := newFleet(t)
			f.stack("inventory 1.1.0")
			f.stack("search 1.1.0")
			f.stack("waste 1.0.0", status(api.StackGarbage))
			f.stack("mailer 1.0.0", func(s *api.Stack) { s.Shape = api.ShapeWorker })
			f.stack("base 1.0.0")
			f.stack("caller 1.0.0", depends("base", "1.0"))
			f.deprecate("search", "1.1")
			refusals, order := f.index().CheckDeployment(test.list)
			var texts []string
			for i := range test.list {
				for _, r := range refusals[i] {
					texts = append(texts, r.Text)
				}
			}
			if len(texts) != len(test.want) {
				t.Fatalf("refusals %q, want %d", texts, len(test.want))
			}
			for i, want := range test.want {
				if !strings.Contains(texts[i], want) {
					t.Errorf("refusal %q, want %q in it", texts[i], want)
				}
			}
			for i, position := range test.order {
				if order[i] != position {
					t.Errorf("order %v, want %v", order, test.order)
				}
			}
		})
	}
}
