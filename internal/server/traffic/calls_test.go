// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package traffic

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/lifecycle"
	"github.com/reeve-run/reeve/internal/state"
)

var called = api.NamespacedID{Namespace: "default", ID: "a"}

func newCalls() *calls { return &calls{stacks: make(map[api.NamespacedID]map[useKey]time.Time)} }

func TestACallCountsForAnHour(t *testing.T) {
	c := newCalls()
	caller := useKey{"10.0.0.1", "1.0"}
	c.note(called, caller, now)
	c.note(called, caller, now.Add(-time.Minute)) // a late report of an earlier call
	c.note(called, useKey{"10.0.0.1", ""}, now.Add(-lifecycle.ObservedFor))
	uses := c.uses(everything, now)
	if len(uses) != 1 || uses[0].Stack != called || uses[0].Caller != "10.0.0.1" || uses[0].Want != "1.0" || !uses[0].Last.Equal(now) {
		t.Errorf("uses %+v, want the newest call of the last hour", uses)
	}
	if uses := c.uses(everything, now.Add(lifecycle.ObservedFor-1)); len(uses) != 1 {
		t.Errorf("%d uses just before the hour ends", len(uses))
	}
	if uses := c.uses(everything, now.Add(lifecycle.ObservedFor)); len(uses) != 0 || len(c.stacks) != 0 {
		t.Errorf("%d uses after an hour, and %d stacks are remembered", len(uses), len(c.stacks))
	}
}

func TestCallersOfAStackAreBounded(t *testing.T) {
	c := newCalls()
	for i := range 10 * maxCallers {
		c.note(called, useKey{fmt.Sprint("caller-", i), "1.0"}, now)
	}
	c.note(called, useKey{"caller-0", "1.0"}, now.Add(time.Minute)) // a known one continues
	uses := c.uses(everything, now)
	newest := slices.MaxFunc(uses, func(a, b lifecycle.Use) int { return a.Last.Compare(b.Last) })
	if len(uses) != maxCallers || newest.Caller != "caller-0" {
		t.Errorf("%d callers, the newest %s; want %d, caller-0", len(uses), newest.Caller, maxCallers)
	}
	c.uses(nothing, now)
	if len(c.stacks) != 0 {
		t.Errorf("the callers of %d unknown stacks are remembered", len(c.stacks))
	}
}

func TestAddressesBelongToNodes(t *testing.T) {
	store := state.New()
	for i, n := range []*api.Node{
		{ID: "n1", Name: "one", HTTPAddr: "10.0.0.1:4646"},
		{ID: "n2", Name: "two", HTTPAddr: "127.0.0.1:4646", Resources: &api.NodeResources{Networks: []*api.Network{{IP: "10.0.0.2"}, {IP: "10.0.0.9"}, {IP: "10.0.0.2"}}}},
		{ID: "n3", Name: "three", HTTPAddr: "[::ffff:10.0.0.9]:4646"},
		{ID: "n4", Name: "four", HTTPAddr: "node-4.example.com:4646"},
	} {
		if errs := store.Apply(uint64(i+1), []state.Command{&state.RegisterNode{Node: n}}); errs[0] != nil {
			t.Fatal(errs[0])
		}
	}
	snap := store.Snapshot()
	var h hosts
	h.update(snap)
	for _, c := range []struct {
		address, router string
		nodes           []string
		caller          string
	}{
		{"10.0.0.1", "n2", []string{"n1"}, "10.0.0.1 (node one)"},
		{"::ffff:10.0.0.1", "n2", []string{"n1"}, "::ffff:10.0.0.1 (node one)"},
		{"10.0.0.2", "", []string{"n2"}, "10.0.0.2 (node two)"},
		{"10.0.0.9", "", []string{"n2", "n3"}, "10.0.0.9"}, // which of them is unknown
		{"127.0.0.1", "n2", []string{"n2"}, "127.0.0.1 (node two)"},
		{"::1", "n1", []string{"n1"}, "::1 (node one)"},
		{"127.0.0.1", "", nil, "127.0.0.1"},
		{"127.0.0.1", "gone", []string{"gone"}, "127.0.0.1"},
		{"10.9.9.9", "n1", nil, "10.9.9.9"},
		{"no address", "n1", nil, "no address"},
	} {
		nodes := h.nodesAt(c.address, c.router)
		slices.Sort(nodes)
		if !slices.Equal(nodes, c.nodes) {
			t.Errorf("%s by the router of %q: nodes %v, want %v", c.address, c.router, nodes, c.nodes)
		}
		if caller := describeCaller(snap, nodes, c.address); caller != c.caller {
			t.Errorf("%s by the router of %q: caller %q, want %q", c.address, c.router, caller, c.caller)
		}
	}

	if errs := store.Apply(9, []state.Command{&state.RegisterNode{Node: &api.Node{ID: "n5", Name: "five", HTTPAddr: "10.0.0.5:4646"}}}); errs[0] != nil {
		t.Fatal(errs[0])
	}
	h.update(store.Snapshot())
	if nodes := h.nodesAt("10.0.0.5", ""); !slices.Equal(nodes, []string{"n5"}) {
		t.Errorf("nodes at the address of a new node: %v", nodes)
	}
}
