// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package server_test

import (
	"context"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/server"
	"github.com/reeve-run/reeve/internal/testbed/bubble"
)

// calls reports one call of a stack from an address.
func (c *cluster) calls(sequence uint64, stack, want, address string) {
	c.Helper()
	if _, err := c.TakeTraffic(&api.TrafficReport{Router: "r", Sequence: sequence, Node: "n1", Calls: []*api.StackCall{
		{Namespace: "default", Stack: stack, Want: want, Address: address},
	}}); err != nil {
		c.Fatal(err)
	}
}

// impatient returns a version of db that nothing but its callers keeps.
func impatient(version string) *api.Job {
	job := stackJob("db", version)
	job.Stack.Idle, job.Stack.InitialTTL, job.Stack.ExtendTTL = ptr(time.Duration(0)), ptr(15*time.Minute), ptr(15*time.Minute)
	return job
}

func (c *cluster) why(stack string) string {
	c.Helper()
	s, _, err := server.Stack(c.Store().Snapshot(), "default", stack)
	if err != nil {
		c.Fatal(err)
	}
	return s.Shown + ": " + s.Why
}

// TestUndeclaredCallersKeepAStack sends a request each minute, and then none.
func TestUndeclaredCallersKeepAStack(t *testing.T) {
	for name, want := range map[string]string{"an exact name": "", "a name of versions": "2.0"} {
		t.Run(name, func(t *testing.T) {
			simulate(t, func(c *cluster) {
				c.addNode("n1", nil)
				db := c.deploy(impatient("2.1.0"))[0]
				c.untilStack(db, api.StackReady, time.Minute)
				for i := range 180 {
					c.calls(uint64(i+1), db, want, "10.9.0.7")
					c.pass(time.Minute)
				}
				if got := c.why(db); got != "ready: 10.9.0.7 sends requests to it without declaring a dependency" {
					t.Fatalf("after 3 hours with a caller: %q", got)
				}
				graph, _ := server.StackGraph(c.Store().Snapshot(), "default")
				if len(graph.Edges) != 1 || graph.Edges[0].From != "10.9.0.7" || graph.Edges[0].Kind != "observed" {
					t.Errorf("edges %+v, want one of the caller", graph.Edges)
				}
				c.untilStack(db, api.StackGarbage, 2*time.Hour)
			})
		})
	}
}

// TestCallersFollowTheirVersion has a caller of version 2.0 that the router sends to 2.1.0 and, after a
// shift, to 2.2.0. A caller of exactly 2.1.0 stays.
func TestCallersFollowTheirVersion(t *testing.T) {
	simulate(t, func(c *cluster) {
		c.addNode("n1", nil)
		first := impatient("2.1.0")
		first.Stack.ExtendTTL = ptr(time.Hour)
		old := c.deploy(first)[0]
		c.untilStack(old, api.StackReady, time.Minute)
		c.calls(1, old, "2.0", "10.9.0.7")
		next := c.deploy(impatient("2.2.0"))[0]
		c.untilStack(next, api.StackReady, time.Minute)
		if _, err := c.ShiftVerb(c.Context(), "default", "db", "finish", nil); err != nil {
			t.Fatal(err)
		}
		c.pass(20 * time.Minute)
		if got := c.why(old); !strings.HasSuffix(got, "no caller") {
			t.Errorf("the older stack: %q, want that the caller of 2.0 no longer reaches it", got)
		}
		if got := c.why(next); !strings.Contains(got, "10.9.0.7 sends requests") {
			t.Errorf("the newer stack: %q, want that the caller of 2.0 reaches it", got)
		}
		c.calls(2, old, "", "10.9.0.8")
		c.pass(15 * time.Minute)
		if got := c.why(old); !strings.Contains(got, "10.9.0.8 sends requests") {
			t.Errorf("the older stack: %q, want that the caller of exactly 2.1.0 keeps it", got)
		}
	})
}

func TestCallersOnTheNodeOfADeclaredCallerAreNotUndeclared(t *testing.T) {
	simulate(t, func(c *cluster) {
		c.addNode("n1", nil)
		db := c.deploy(impatient("2.1.0"))[0]
		c.untilStack(db, api.StackReady, time.Minute)
		c.calls(1, db, "2.1", "127.0.0.1")
		shop := c.deploy(stackJob("shop", "1.0.0", "db@2.1"))[0]
		c.untilStack(shop, api.StackReady, time.Minute)
		c.calls(2, db, "2.1", "::1")
		if _, err := c.SweepStacks(c.Context(), false); err != nil {
			t.Fatal(err)
		}
		s := c.Store().Snapshot().Stack("default", db)
		if len(s.Observed) != 1 || s.Observed[0].Caller != "127.0.0.1 (node n1)" {
			t.Errorf("observed %+v, want the call before the declaration alone, with its node", s.Observed)
		}
	})
}

// TestCallersAreNamedByTheirAllocations reports calls with allocations of the router's node, of another node, and of
// none.
func TestCallersAreNamedByTheirAllocations(t *testing.T) {
	simulate(t, func(c *cluster) {
		c.addNode("n1", nil)
		db := c.deploy(impatient("2.1.0"))[0]
		c.untilStack(db, api.StackReady, time.Minute)
		shop := c.deploy(stackJob("shop", "1.0.0", "db@2.1"))[0]
		c.untilStack(shop, api.StackReady, time.Minute)
		cart := c.deploy(stackJob("cart", "1.0.0"))[0]
		c.untilStack(cart, api.StackReady, time.Minute)
		c.register(serviceJob("web", 2))
		c.pass(time.Minute)
		of := func(id string) string {
			for a := range c.Store().Snapshot().AllocationsByJob("default", id) {
				return a.ID
			}
			t.Fatalf("job %s has no allocation", id)
			return ""
		}
		c.addNode("n2", nil)
		sequence := uint64(0)
		call := func(node, want, allocation string) {
			t.Helper()
			sequence++
			if _, err := c.TakeTraffic(&api.TrafficReport{Router: "r-" + node, Sequence: sequence, Node: node, Calls: []*api.StackCall{
				{Namespace: "default", Stack: db, Want: want, Address: "127.0.0.1", Allocation: allocation},
			}}); err != nil {
				t.Fatal(err)
			}
		}
		call("n1", "2.1", of(shop)) // declares it
		call("n1", "2.1", of(db))   // calls itself
		call("n1", "2.1", of(cart))
		for a := range c.Store().Snapshot().AllocationsByJob("default", "web") {
			call("n1", "2.0", a.ID)
		}
		call("n2", "2.0", of("web")) // not an allocation of this router's node
		call("n2", "", "ffffffff-0000-0000-0000-000000000000")
		if _, err := c.SweepStacks(c.Context(), false); err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, use := range c.Store().Snapshot().Stack("default", db).Observed {
			got = append(got, use.Caller+" "+use.Want)
		}
		slices.Sort(got)
		want := []string{"127.0.0.1 (node n2) ", "127.0.0.1 (node n2) 2.0", cart + " 2.1", "job web 2.0"}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("callers (-want +got):\n%s", diff)
		}
	})
}

// TestANewLeaderKnowsTheCallers restarts the server after a sweep.
func TestANewLeaderKnowsTheCallers(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		config := server.Config{DataDir: t.TempDir(), Logger: slog.New(slog.DiscardHandler)}
		c := start(t, config)
		c.addNode("n1", nil)
		db := c.deploy(impatient("2.1.0"))[0]
		c.untilStack(db, api.StackReady, time.Minute)
		c.calls(1, db, "", "10.9.0.7")
		if _, err := c.SweepStacks(c.Context(), false); err != nil {
			t.Fatal(err)
		}
		c.close()
		c = start(t, config)
		defer func() {
			if err := c.Shutdown(context.Background()); err != nil {
				t.Error(err)
			}
		}()
		c.pass(30 * time.Minute)
		if got := c.why(db); !strings.Contains(got, "10.9.0.7 sends requests") {
			t.Errorf("after a restart: %q, want that the caller keeps it", got)
		}
	})
}

// TestManyUndeclaredCallersAreBounded reports a thousand addresses.
func TestManyUndeclaredCallersAreBounded(t *testing.T) {
	simulate(t, func(c *cluster) {
		c.addNode("n1", nil)
		db := c.deploy(impatient("2.1.0"))[0]
		c.untilStack(db, api.StackReady, time.Minute)
		r := &api.TrafficReport{Router: "r", Sequence: 1}
		for i := range 1000 {
			r.Calls = append(r.Calls, &api.StackCall{Namespace: "default", Stack: db, Address: "10.9." + string(rune('0'+i%10)) + "." + string(rune('0'+i/100)), Ago: time.Duration(i) * time.Second})
		}
		r.Calls = append(r.Calls, &api.StackCall{Namespace: "default", Stack: "unknown--1-0-0--aaaaaaaa", Address: "10.9.0.7"})
		if _, err := c.TakeTraffic(r); err != nil {
			t.Fatal(err)
		}
		if _, err := c.SweepStacks(c.Context(), false); err != nil {
			t.Fatal(err)
		}
		if n := len(c.Store().Snapshot().Stack("default", db).Observed); n != 10 {
			t.Errorf("%d callers are stored, want 10", n)
		}
	})
}
