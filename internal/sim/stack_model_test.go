// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/reeve-run/reeve/api"
)

// modelStack returns a stack of namespace dev such as "db 1.2.0", or of the sandbox in it such as "sandbox/db 1.2.0".
func modelStack(t *testing.T, name, status string) *api.Stack {
	t.Helper()
	namespace := "dev"
	if inner, ok := strings.CutPrefix(name, "sandbox/"); ok {
		name, namespace = inner, "dev/sandbox"
	}
	unit, version, _ := strings.Cut(name, " ")
	v, err := api.ParseStackVersion(version)
	if err != nil {
		t.Fatal(err)
	}
	return &api.Stack{Name: api.StackName(unit, v, "aaaaaaaa"), Namespace: namespace, Unit: unit, Version: v, Status: status}
}

// usedModel returns a model of db 1.0.0 to 1.2.0, of which 1.1.0 is the target, and of a shop that calls
// db from a version on.
func usedModel(t *testing.T, want string) *stackModel {
	t.Helper()
	m := newStackModel()
	v, err := api.ParseFeatureVersion(want)
	if err != nil {
		t.Fatal(err)
	}
	m.deploys("shop", api.StackVersion{Major: 1}, []dependency{{"db", v}})
	m.apply(1, []stackChange{
		{stack: modelStack(t, "db 1.0.0", api.StackReady)}, {stack: modelStack(t, "db 1.1.0", api.StackReady)},
		{stack: modelStack(t, "db 1.2.0", api.StackReady)}, {stack: modelStack(t, "shop 1.0.0", api.StackReady)},
		{unit: &api.Unit{Namespace: "dev", Name: "db", Targets: map[uint32]string{1: "db--1-1-0--aaaaaaaa"}}},
	})
	return m
}

func TestModelFindsTheStackThatServesADependency(t *testing.T) {
	shifts := stackChange{shift: &api.Shift{ID: "s", Namespace: "dev", Unit: "db", Major: 1, From: "db--1-0-0--aaaaaaaa", To: "db--1-1-0--aaaaaaaa", Status: api.ShiftPaused}}
	for _, c := range []struct {
		what, want string
		changes    []stackChange
		serving    string // a caller in dev/sandbox
	}{
		{"the sandbox has a stack of its own", "1.0", []stackChange{{stack: modelStack(t, "sandbox/db 1.3.0", api.StackReady)}}, "db--1-3-0--aaaaaaaa"},
		{"the sandbox's own stack is too old", "1.2", []stackChange{{stack: modelStack(t, "sandbox/db 1.0.9", api.StackReady)}}, ""},
		{"the sandbox's own stack has another major version", "1.0", []stackChange{{stack: modelStack(t, "sandbox/db 2.0.0", api.StackReady)}}, "db--1-1-0--aaaaaaaa"},
		{"the sandbox's own stack is not ready", "1.0", []stackChange{{stack: modelStack(t, "sandbox/db 1.3.0", api.StackWarming)}}, "db--1-1-0--aaaaaaaa"},
		{"the target serves", "1.0", nil, "db--1-1-0--aaaaaaaa"},
		{"the newest serves if the target is too old", "1.2", nil, "db--1-2-0--aaaaaaaa"},
		{"no version is new enough", "1.3", nil, ""},
		{"another major version is wanted", "2.0", nil, ""},
		{"both ends of a shift serve", "1.0", []stackChange{shifts}, "db--1-0-0--aaaaaaaa db--1-1-0--aaaaaaaa"},
		{"an end of the shift is too old", "1.1", []stackChange{shifts}, "db--1-1-0--aaaaaaaa"},
		{"the target is garbage", "1.0", []stackChange{{stack: modelStack(t, "db 1.1.0", api.StackGarbage)}}, "db--1-2-0--aaaaaaaa"},
		{"the newest is forgotten", "1.2", []stackChange{{forgotten: "db--1-2-0--aaaaaaaa"}}, ""},
	} {
		m := usedModel(t, c.want)
		m.apply(2, c.changes)
		if got := strings.Join(m.serving("dev/sandbox", m.depends["shop@1.0.0"][0]), " "); got != c.serving {
			t.Errorf("%s: %q serves, want %q", c.what, got, c.serving)
		}
	}
}

func TestModelNoticesAMarkedStackWithACaller(t *testing.T) {
	garbage := func(name string) stackChange { return stackChange{stack: modelStack(t, name, api.StackGarbage)} }
	stopped := garbage("db 1.1.0")
	stopped.stack.StatusBy = "ann"
	for _, c := range []struct {
		what    string
		changes [][]stackChange // by log entry
		marked  int
		errors  int
	}{
		{"a stack with a caller in the sandbox", [][]stackChange{{garbage("shop 1.0.0"), {stack: modelStack(t, "sandbox/shop 1.0.0", api.StackReady)}}, {garbage("db 1.1.0")}}, 2, 1},
		{"a stack of the sandbox with a caller around it", [][]stackChange{{{stack: modelStack(t, "sandbox/db 1.3.0", api.StackReady)}}, {garbage("sandbox/db 1.3.0")}}, 1, 0},
		{"a stack without callers", [][]stackChange{{garbage("db 1.2.0")}}, 1, 0},
		{"a stack with a caller", [][]stackChange{{garbage("db 1.1.0")}}, 1, 1},
		{"a stack with a caller, with its caller", [][]stackChange{{garbage("db 1.1.0"), garbage("shop 1.0.0")}}, 2, 1},
		{"a stack whose caller ended before", [][]stackChange{{garbage("shop 1.0.0")}, {garbage("db 1.1.0")}}, 2, 0},
		{"an operator stops a stack with a caller", [][]stackChange{{stopped}}, 0, 0},
		{"garbage changes", [][]stackChange{{garbage("db 1.2.0")}, {garbage("db 1.2.0")}}, 1, 0},
		{"an end of a shift", [][]stackChange{
			{{shift: &api.Shift{ID: "s", Namespace: "dev", Unit: "db", Major: 1, From: "db--1-1-0--aaaaaaaa", To: "db--1-2-0--aaaaaaaa", Status: api.ShiftRunning}}}, {garbage("db 1.2.0")},
		}, 1, 1},
		{"an end of a shift that ended", [][]stackChange{
			{{shift: &api.Shift{ID: "s", Namespace: "dev", Unit: "db", Major: 1, From: "db--1-1-0--aaaaaaaa", To: "db--1-2-0--aaaaaaaa", Status: api.ShiftRunning}}},
			{{shift: &api.Shift{ID: "s", Namespace: "dev", Unit: "db", Major: 1, From: "db--1-1-0--aaaaaaaa", To: "db--1-2-0--aaaaaaaa", Status: api.ShiftReversed}}}, {garbage("db 1.2.0")},
		}, 1, 0},
	} {
		m := usedModel(t, "1.0")
		for i, changes := range c.changes {
			m.apply(uint64(2+i), changes)
		}
		if m.marked != c.marked || len(m.errors) != c.errors {
			t.Errorf("%s: %d marked, errors %q; want %d and %d errors", c.what, m.marked, m.errors, c.marked, c.errors)
		}
	}
}

func TestModelCountsStates(t *testing.T) {
	m := usedModel(t, "1.0")
	m.apply(2, []stackChange{{stack: modelStack(t, "db 1.0.0", api.StackTerminated)}})
	if diff := cmp.Diff(map[string]int{api.StackReady: 3, api.StackTerminated: 1}, m.states()); diff != "" {
		t.Errorf("states (-want +got):\n%s", diff)
	}
}

func TestMistakesInStacksHaveLines(t *testing.T) {
	for text, want := range map[string]string{
		"nodes: [{}]\nstacks: {units: 3}":                                        "s.yaml:2: stacks need a file",
		"nodes: [{}]\nstacks:\n  file: a.hcl\n  units: -1":                       "s.yaml:4: units is -1, which is not above 0",
		"nodes: [{}]\nstacks:\n  file: a.hcl\n  depends: -1":                     "s.yaml:4: depends is -1, which is below 0",
		"nodes: [{}]\nstacks:\n  file: a.hcl\n  leave: 1.5":                      "s.yaml:4: leave is 1.5; it is a share from 0 to 1",
		"nodes: [{}]\nstacks: {file: ../../examples/sim/web.hcl}":                "has no stack block",
		"nodes: [{}]\nstacks: {file: ../../examples/stacks/shop.hcl}":            "remove them; the simulation draws dependencies",
		"nodes: [{}]\nstacks:\n  file: a.hcl\n  namespaces: [dev, prod]":         "s.yaml:4: namespace \"prod\" is not below the first one, \"dev\"",
		"nodes: [{}]\nstacks:\n  file: a.hcl\n  namespaces: [dev, dev/a, dev/a]": "s.yaml:4: namespace \"dev/a\" is listed twice",
		"nodes: [{}]\nstacks:\n  file: a.hcl\n  namespaces: [\"a b\"]":           "s.yaml:4: \"a b\" is not the name of a namespace",
		"nodes: [{}]\nstacks: {file: missing.hcl}":                               "missing.hcl: no such file",
	} {
		if _, err := parse("s.yaml", []byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v\nwant it to say %q", text, err, want)
		}
	}
}
