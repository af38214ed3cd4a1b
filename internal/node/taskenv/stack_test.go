// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package taskenv

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/reeve-run/reeve/api"
)

// stackInput returns the input of a task of the stack shop 2.4.0 in dev/sandbox.
func stackInput(depends ...*api.StackDependency) Input {
	in := input()
	in.Alloc.Namespace = "dev/sandbox"
	in.Alloc.Job.ID = "shop--2-4-0--mm9eeak3"
	in.Alloc.Job.Stack = &api.StackSpec{Version: "2.4.0", Depends: depends}
	in.Traffic = Traffic{Router: "127.0.0.1:8080"}
	return in
}

// ofStack returns the variables of an environment that only tasks of stacks have.
func ofStack(e *Env) (list []string) {
	for _, kv := range e.List() {
		for _, p := range []string{"REEVE_DEP_", "REEVE_STACK", "REEVE_UNIT", "REEVE_VERSION", "REEVE_ROUTER"} {
			if strings.HasPrefix(kv, p) {
				list = append(list, kv)
			}
		}
	}
	return list
}

func TestTasksOfAStackLearnHowToReachTheirDependencies(t *testing.T) {
	in := stackInput(
		&api.StackDependency{Unit: "inventory", Version: "1.2", Found: &api.FoundDependency{}},
		&api.StackDependency{Unit: "db", Version: "2.1", Found: &api.FoundDependency{TCP: true, Port: 5432}},
		&api.StackDependency{Unit: "my-queue", Version: "3.0", Found: &api.FoundDependency{TCP: true}},
		&api.StackDependency{Unit: "geo", Version: "1.0", Optional: true, Found: &api.FoundDependency{Address: "[2001:db8::1]:443"}},
		&api.StackDependency{Unit: "search", Version: "1.4", Optional: true},
		&api.StackDependency{Unit: "lost", Version: "1.0"},
	)
	want := []string{
		"REEVE_DEP_DB_HOST=2-1.db.sandbox.dev.stack.reeve", "REEVE_DEP_DB_PORT=5432", "REEVE_DEP_DB_VERSION=2.1",
		"REEVE_DEP_GEO_HOST=2001:db8::1", "REEVE_DEP_GEO_PORT=443", "REEVE_DEP_GEO_URL=http://[2001:db8::1]:443", "REEVE_DEP_GEO_VERSION=1.0",
		"REEVE_DEP_INVENTORY_HOST=1-2.inventory.sandbox.dev.stack.reeve", "REEVE_DEP_INVENTORY_PORT=8080",
		"REEVE_DEP_INVENTORY_URL=http://1-2.inventory.sandbox.dev.stack.reeve:8080", "REEVE_DEP_INVENTORY_VERSION=1.2",
		"REEVE_DEP_LOST_HOST=1-0.lost.sandbox.dev.stack.reeve", "REEVE_DEP_LOST_PORT=8080",
		"REEVE_DEP_LOST_URL=http://1-0.lost.sandbox.dev.stack.reeve:8080", "REEVE_DEP_LOST_VERSION=1.0",
		"REEVE_DEP_MY_QUEUE_HOST=3-0.my-queue.sandbox.dev.stack.reeve", "REEVE_DEP_MY_QUEUE_VERSION=3.0",
		"REEVE_ROUTER_ADDR=127.0.0.1:8080",
		"REEVE_STACK=shop--2-4-0--mm9eeak3", "REEVE_UNIT=shop", "REEVE_VERSION=2.4.0",
	}
	if diff := cmp.Diff(want, ofStack(Build(in))); diff != "" {
		t.Errorf("variables of a stack's task (-want +got):\n%s", diff)
	}
}

func TestWithoutARouterTasksLearnTheNameAndTheKnownPort(t *testing.T) {
	in := stackInput(
		&api.StackDependency{Unit: "inventory", Version: "1.0", Found: &api.FoundDependency{Port: 9000}},
		&api.StackDependency{Unit: "search", Version: "1.4", Found: &api.FoundDependency{}},
	)
	in.Traffic = Traffic{Zone: "apps.example.com"}
	want := []string{
		"REEVE_DEP_INVENTORY_HOST=1-0.inventory.sandbox.dev.stack.apps.example.com", "REEVE_DEP_INVENTORY_PORT=9000",
		"REEVE_DEP_INVENTORY_URL=http://1-0.inventory.sandbox.dev.stack.apps.example.com:9000", "REEVE_DEP_INVENTORY_VERSION=1.0",
		"REEVE_DEP_SEARCH_HOST=1-4.search.sandbox.dev.stack.apps.example.com", "REEVE_DEP_SEARCH_VERSION=1.4",
		"REEVE_STACK=shop--2-4-0--mm9eeak3", "REEVE_UNIT=shop", "REEVE_VERSION=2.4.0",
	}
	if diff := cmp.Diff(want, ofStack(Build(in))); diff != "" {
		t.Errorf("variables without a router (-want +got):\n%s", diff)
	}
}

func TestAStackIsNamedToItsChildren(t *testing.T) {
	in := stackInput()
	in.Alloc.Job.ParentID, in.Alloc.Job.ID = in.Alloc.Job.ID, in.Alloc.Job.ID+"/periodic-1795000000"
	want := []string{"REEVE_ROUTER_ADDR=127.0.0.1:8080", "REEVE_STACK=shop--2-4-0--mm9eeak3", "REEVE_UNIT=shop", "REEVE_VERSION=2.4.0"}
	if diff := cmp.Diff(want, ofStack(Build(in))); diff != "" {
		t.Errorf("variables of a child of a stack (-want +got):\n%s", diff)
	}
}

// What servers send is checked before it is stored, but a node does not depend on that.
func TestBrokenStacksDoNotBreakTheEnvironment(t *testing.T) {
	in := stackInput(nil,
		&api.StackDependency{Unit: "a=b\nLD_PRELOAD=/x", Version: "1\x00", Found: &api.FoundDependency{Address: "nowhere", Port: -1}},
		&api.StackDependency{})
	in.Alloc.Job.ID = "shop"
	in.Traffic.Router = "nowhere"
	for _, kv := range Build(in).List() {
		name, value, _ := strings.Cut(kv, "=")
		if strings.ContainsAny(name, "\n\x00 ") || strings.ContainsAny(value, "\x00") || name == "LD_PRELOAD" {
			t.Errorf("a broken dependency set %q", kv)
		}
	}
}

func TestTheJobFileReplacesAndUsesTheVariablesOfDependencies(t *testing.T) {
	in := stackInput(&api.StackDependency{Unit: "inventory", Version: "1.2"})
	in.Task.Env = map[string]string{"UPSTREAM": "${REEVE_DEP_INVENTORY_URL}/v1", "REEVE_DEP_INVENTORY_PORT": "1"}
	e := Build(in)
	if got, want := e.Get("UPSTREAM"), "http://1-2.inventory.sandbox.dev.stack.reeve:8080/v1"; got != want {
		t.Errorf("UPSTREAM is %q, want %q", got, want)
	}
	if got := e.Get("REEVE_DEP_INVENTORY_PORT"); got != "1" {
		t.Errorf("REEVE_DEP_INVENTORY_PORT is %q, want that of the job file", got)
	}
}
