// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package server_test

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/server"
	"github.com/reeve-run/reeve/internal/state"
)

// registration describes a stack at an address of 10.0.0.0/24.
func registration(unit, version, address string) *api.RegisterStackRequest {
	return &api.RegisterStackRequest{Unit: unit, Address: "10.0.0." + address, Stack: &api.StackSpec{Version: version}, By: "ann"}
}

// registerStack registers a stack and returns its name.
func (c *cluster) registerStack(req *api.RegisterStackRequest) string {
	c.Helper()
	res, err := c.RegisterStack(c.Context(), req, "default")
	if err != nil {
		c.Fatalf("register %s %s: %v", req.Unit, req.Stack.Version, err)
	}
	return res.Stack.Name
}

// routed returns the addresses to which the catalog sends the traffic of a host, with the share of each.
func (c *cluster) routed(host string) map[string]float64 {
	list, _ := server.Stacks(c.Store().Snapshot(), server.StackFilter{Namespace: "*"})
	shares := make(map[string]float64)
	for _, s := range list {
		shares[s.Name] = s.Share
	}
	found := make(map[string]float64)
	all, _ := c.Catalog().Entries()
	for _, e := range all.Values() {
		for _, end := range e.Endpoints {
			if end.Route.Host == host {
				found[end.Address] = shares[e.JobID]
			}
		}
	}
	return found
}

func TestTheLifeOfARegisteredStack(t *testing.T) {
	simulate(t, func(c *cluster) {
		c.addNode("n1", nil)
		req := registration("db", "14.2.0", "7:5432")
		req.Stack.Expose = []*api.StackExposure{{Host: "db.test"}}
		db := c.registerStack(req)
		c.untilStack(db, api.StackReady, time.Second)
		c.pass(time.Second)
		if diff := cmp.Diff(map[string]float64{"10.0.0.7:5432": 1}, c.routed("db.test")); diff != "" {
			t.Errorf("traffic (-want +got):\n%s", diff)
		}
		shop := c.deploy(stackJob("shop", "1.0.0", "db@14.1"))[0]
		c.untilStack(shop, api.StackReady, time.Minute)

		// A later version takes the traffic over by a shift, from the hosts of the unit.
		later := registration("db", "14.3.0", "8:5432")
		later.Stack.Shift = &api.ShiftSpec{Policy: api.ShiftLinear, Over: 10 * time.Minute}
		next := c.registerStack(later)
		c.untilStack(next, api.StackReady, time.Second)
		c.within(15*time.Minute, "half of the traffic is shifted", func(snap *state.Snapshot) bool {
			for s := range snap.Shifts() {
				return s.Share >= 0.5
			}
			return false
		})
		if got := c.routed("db.test"); len(got) != 2 || got["10.0.0.8:5432"] < 0.5 {
			t.Errorf("traffic during the shift: %v", got)
		}
		c.within(15*time.Minute, "the shift is complete", func(snap *state.Snapshot) bool {
			return snap.Unit("default", "db").Targets[14] == next
		})

		// Nothing but a deprecation lets the first one go, and then its grace ends it.
		c.pass(12 * time.Hour)
		c.untilStack(db, api.StackReady, time.Second)
		if _, err := c.UnitVerb(c.Context(), "default", "db", "deprecate", &api.UnitVerbRequest{Version: "14.2"}); err != nil {
			t.Fatal(err)
		}
		c.untilStack(db, api.StackGarbage, 2*time.Hour)
		c.pass(time.Second)
		if diff := cmp.Diff(map[string]float64{"10.0.0.7:5432": 0, "10.0.0.8:5432": 1}, c.routed("db.test")); diff != "" {
			t.Errorf("traffic without the deprecated stack (-want +got):\n%s", diff)
		}
		if _, err := c.StackVerb(c.Context(), "default", db, "rescue", nil); err != nil {
			t.Fatal(err)
		}
		c.pass(time.Second)
		if got := c.routed("db.test"); len(got) != 2 {
			t.Errorf("traffic after the rescue: %v", got)
		}
		c.untilStack(db, api.StackTerminated, 30*time.Hour)
		if _, err := c.StackVerb(c.Context(), "default", next, "stop", &api.StackVerbRequest{Now: true}); err != nil {
			t.Fatal(err)
		}
		c.untilStack(next, api.StackTerminated, time.Second)
		c.pass(time.Second)
		if got := c.routed("db.test"); len(got) != 0 {
			t.Errorf("traffic after the end of all stacks: %v", got)
		}
		var actions []string
		for r := range c.Store().Snapshot().Audit("default", api.AuditStack, db) {
			if r.Verdict == nil {
				actions = append(actions, r.Action)
			}
		}
		if got, want := strings.Join(actions, " "), "warming ready garbage ready garbage terminated"; got != want {
			t.Errorf("audit records: %s, want %s", got, want)
		}
	})
}

func TestARegistrationRepeatedIsOneStack(t *testing.T) {
	simulate(t, func(c *cluster) {
		first := c.registerStack(registration("db", "1.0.0", "7:5432"))
		res, err := c.RegisterStack(c.Context(), registration("db", "1.0.0", "7:05432"), "default")
		if err != nil || !res.Existing || res.Stack.Name != first {
			t.Errorf("the same again: %+v, %v, want %s", res, err, first)
		}
		_, err = c.RegisterStack(c.Context(), registration("db", "1.0.0", "8:5432"), "default")
		if api.CodeOf(err) != api.CodeConflict || !strings.Contains(err.Error(), "at 10.0.0.7:5432") {
			t.Errorf("another address: %v, want a conflict that names the first one", err)
		}
		c.untilStack(first, api.StackReady, time.Second)
		moved := registration("db", "1.0.0", "8:5432")
		moved.Redeploy = true
		second := c.registerStack(moved)
		c.untilStack(second, api.StackReady, time.Second)
		c.within(time.Second, "traffic shifts to the other address", func(snap *state.Snapshot) bool {
			for s := range snap.Shifts() {
				return s.From == first && s.To == second
			}
			return false
		})
	})
}

func TestAStackOfAJobReplacesARegisteredOne(t *testing.T) {
	simulate(t, func(c *cluster) {
		c.addNode("n1", nil)
		old := registration("web", "1.0.0", "7:80")
		old.Stack.Expose = []*api.StackExposure{{Host: "web.test"}}
		first := c.registerStack(old)
		c.untilStack(first, api.StackReady, time.Second)
		job := stackJob("web", "1.1.0")
		job.Stack.Expose, job.Stack.Shift = old.Stack.Expose, &api.ShiftSpec{Over: time.Minute}
		next := c.deploy(job)[0]
		c.untilStack(next, api.StackReady, time.Minute)
		c.within(2*time.Minute, "the shift is complete", func(snap *state.Snapshot) bool {
			return snap.Unit("default", "web").Targets[1] == next
		})
		if got := c.routed("web.test")["10.0.0.7:80"]; got != 0 {
			t.Errorf("the registered stack receives %v of the traffic", got)
		}
	})
}

func TestHostileRegistrationsOfStacksAreRefused(t *testing.T) {
	simulate(t, func(c *cluster) {
		owner := serviceJob("owner", 1)
		owner.Groups[0].Networks = []*api.Network{{DynamicPorts: []api.Port{{Label: "http"}}}}
		owner.Groups[0].Routes = []*api.Route{{Host: "taken.test", Port: "http"}}
		c.register(owner)
		other := registration("other", "1.0.0", "9:80")
		other.Stack.Expose = []*api.StackExposure{{Host: "other.test"}}
		name := c.registerStack(other)
		with := func(change func(*api.RegisterStackRequest)) *api.RegisterStackRequest {
			r := registration("db", "1.0.0", "7:5432")
			change(r)
			return r
		}
		expose := func(hosts ...string) *api.RegisterStackRequest {
			return with(func(r *api.RegisterStackRequest) {
				for _, h := range hosts {
					r.Stack.Expose = append(r.Stack.Expose, &api.StackExposure{Host: h})
				}
			})
		}
		for what, req := range map[string]*api.RegisterStackRequest{
			"nothing":               nil,
			"no stack block":        with(func(r *api.RegisterStackRequest) { r.Stack = nil }),
			"no unit":               with(func(r *api.RegisterStackRequest) { r.Unit = "" }),
			"a path as unit":        with(func(r *api.RegisterStackRequest) { r.Unit = "../db" }),
			"no address":            with(func(r *api.RegisterStackRequest) { r.Address = "" }),
			"the agent's address":   with(func(r *api.RegisterStackRequest) { r.Address = "127.0.0.1:4646" }),
			"metadata of the cloud": with(func(r *api.RegisterStackRequest) { r.Address = "169.254.169.254:80" }),
			"a name":                with(func(r *api.RegisterStackRequest) { r.Address = "db.example.com:80" }),
			"no version":            with(func(r *api.RegisterStackRequest) { r.Stack.Version = "" }),
			"version 0.0.0":         with(func(r *api.RegisterStackRequest) { r.Stack.Version = "0.0.0" }),
			"a huge time":           with(func(r *api.RegisterStackRequest) { r.Stack.Grace = ptr(time.Duration(math.MaxInt64)) }),
			"a null dependency":     with(func(r *api.RegisterStackRequest) { r.Stack.Depends = []*api.StackDependency{nil} }),
			"a missing dependency": with(func(r *api.RegisterStackRequest) {
				r.Stack.Depends = []*api.StackDependency{{Unit: "x", Version: "1.0"}}
			}),
			"a dependency on itself": with(func(r *api.RegisterStackRequest) {
				r.Stack.Depends = []*api.StackDependency{{Unit: "db", Version: "1.0"}}
			}),
			"a null exposure":         with(func(r *api.RegisterStackRequest) { r.Stack.Expose = []*api.StackExposure{nil} }),
			"a job's host":            expose("taken.test"),
			"another unit's host":     expose("other.test"),
			"a host twice":            expose("a.test", "a.test"),
			"a host with a new line":  expose("a.test\r\nx"),
			"a host in capitals":      expose("A.test"),
			"warm-up requests":        with(func(r *api.RegisterStackRequest) { r.Stack.Warm = &api.WarmUp{} }),
			"an unknown policy":       with(func(r *api.RegisterStackRequest) { r.Stack.Policy = &api.RetentionPolicy{Name: "x"} }),
			"a shift without an end":  with(func(r *api.RegisterStackRequest) { r.Stack.Shift = &api.ShiftSpec{Over: math.MaxInt64} }),
			"a version that is there": with(func(r *api.RegisterStackRequest) { r.Unit = "other" }),
		} {
			c.refusedUnchanged(what, func() error {
				_, err := c.RegisterStack(c.Context(), req, "default")
				return err
			})
		}
		c.refusedUnchanged("an unknown namespace", func() error {
			_, err := c.RegisterStack(c.Context(), registration("db", "1.0.0", "7:5432"), "nowhere")
			return err
		})
		thief := serviceJob("thief", 1)
		thief.Groups[0].Networks = owner.Groups[0].Networks
		thief.Groups[0].Routes = []*api.Route{{Host: "other.test", Port: "http"}}
		c.refusedUnchanged("a job takes the host of a registered stack", func() error {
			_, err := c.RegisterJob(c.Context(), &api.RegisterJobRequest{Job: thief})
			return err
		})
		impostor := serviceJob(name, 1)
		c.refusedUnchanged("a job takes the name of a registered stack", func() error {
			_, err := c.RegisterJob(c.Context(), &api.RegisterJobRequest{Job: impostor})
			return err
		})
		c.refusedUnchanged("a registered stack has no job to stop", func() error {
			_, err := c.DeregisterJob(c.Context(), "default", name, server.DeregisterOptions{Purge: true})
			if err == nil || !strings.Contains(err.Error(), "has no job") {
				t.Errorf("stop of its job: %v", err)
			}
			return err
		})
	})
}

func TestANamespaceWithARegisteredStackIsNotDeleted(t *testing.T) {
	simulate(t, func(c *cluster) {
		if _, err := c.PutNamespace(c.Context(), &api.Namespace{Name: "dev"}, nil); err != nil {
			t.Fatal(err)
		}
		res, err := c.RegisterStack(c.Context(), registration("db", "1.0.0", "7:5432"), "dev")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := c.DeleteNamespace(c.Context(), "dev", nil); err == nil || !strings.Contains(err.Error(), res.Stack.Name) {
			t.Errorf("deletion: %v, want a refusal that names %s", err, res.Stack.Name)
		}
	})
}
