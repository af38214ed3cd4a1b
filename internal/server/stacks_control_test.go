// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package server_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/server"
	"github.com/reeve-run/reeve/internal/server/control"
	"github.com/reeve-run/reeve/internal/state"
	"github.com/reeve-run/reeve/internal/testbed/bubble"
)

// refusal returns the error of a deployment, and fails without one.
func (c *cluster) refusal(jobs ...*api.Job) string {
	c.Helper()
	_, err := c.DeployStacks(c.Context(), &api.DeployStacksRequest{Jobs: jobs}, "default")
	if api.CodeOf(err) != api.CodeInvalid {
		c.Fatalf("deploy %s: %v, want a refusal", jobs[0].ID, err)
	}
	return err.Error()
}

func TestDeploymentNeedsItsDependencies(t *testing.T) {
	simulate(t, func(c *cluster) {
		c.addNode("n1", nil)
		shop := stackJob("shop", "1.0.0", "db@2.1")
		if text := c.refusal(shop); !strings.Contains(text, "the unit has no stacks; deploy it first") {
			t.Errorf("refusal %q, want the next step", text)
		}
		c.untilStack(c.deploy(stackJob("db", "2.0.0"))[0], api.StackReady, time.Minute)
		if text := c.refusal(shop); !strings.Contains(text, "2.0.0 (ready)") {
			t.Errorf("refusal %q, want the version that exists", text)
		}
		db := c.deploy(stackJob("db", "2.1.0"))[0]
		c.untilStack(db, api.StackReady, time.Minute)
		c.untilStack(c.deploy(shop)[0], api.StackReady, time.Minute)
		if _, err := c.UnitVerb(c.Context(), "default", "db", "deprecate", &api.UnitVerbRequest{Version: "2.1", By: "ann"}); err != nil {
			t.Fatal(err)
		}
		if text := c.refusal(stackJob("cart", "1.0.0", "db@2.1")); !strings.Contains(text, "deprecated") {
			t.Errorf("refusal %q, want that the version is deprecated", text)
		}
	})
}

func TestStacksOfOneRequestAreDeployedAfterTheirDependencies(t *testing.T) {
	simulate(t, func(c *cluster) {
		c.addNode("n1", nil)
		res, err := c.DeployStacks(c.Context(), &api.DeployStacksRequest{Jobs: []*api.Job{
			stackJob("shop", "1.0.0", "cart@1.0", "db@2.1"), stackJob("cart", "1.0.0", "db@2.1"), stackJob("db", "2.1.0"),
		}}, "default")
		if err != nil {
			t.Fatal(err)
		}
		var order []string
		for _, name := range res.Order {
			unit, _, _ := strings.Cut(name, "--")
			order = append(order, unit)
		}
		if want := []string{"db", "cart", "shop"}; !slices.Equal(order, want) {
			t.Errorf("order %v, want %v", order, want)
		}
		for i, unit := range []string{"shop", "cart", "db"} {
			if res.Stacks[i].Unit != unit {
				t.Errorf("stack %d is of unit %s, want %s as in the request", i+1, res.Stacks[i].Unit, unit)
			}
			c.untilStack(res.Stacks[i].Name, api.StackReady, time.Minute)
		}
	})
}

func TestFourStacksDeployAtATime(t *testing.T) {
	simulate(t, func(c *cluster) {
		for i := range 5 {
			c.addNode(fmt.Sprintf("n%d", i), func(*api.Allocation, *api.Job) []event {
				return []event{{status: api.AllocClientRunning}, {after: time.Second, status: api.AllocClientRunning, healthy: healthy(true)}}
			})
		}
		var jobs []*api.Job
		for i := range 20 {
			jobs = append(jobs, stackJob(fmt.Sprintf("unit-%d", i), "1.0.0"))
		}
		began := time.Now()
		c.deploy(jobs...)
		most := 0
		c.within(time.Minute, "all stacks are ready", func(snap *state.Snapshot) bool {
			deploying, ready := 0, 0
			for s := range snap.Stacks("default") {
				switch s.Status {
				case api.StackDeploying:
					deploying++
				case api.StackReady:
					ready++
				}
			}
			most = max(most, deploying)
			return ready == len(jobs)
		})
		if most != 4 {
			t.Errorf("at most %d stacks deployed at the same time, want 4", most)
		}
		if took := time.Since(began); took > 8*time.Second {
			t.Errorf("5 rounds of deployments of 1 s took %s, want that the next one begins when one ends", took)
		}
	})
}

func TestCallerDeployedDuringASweepKeepsItsDependency(t *testing.T) {
	simulate(t, func(c *cluster) {
		c.addNode("n1", nil)
		idle := stackJob("db", "2.1.0")
		idle.Stack.Idle, idle.Stack.InitialTTL, idle.Stack.ExtendTTL = ptr(time.Duration(0)), ptr(time.Second), ptr(time.Second)
		db := c.deploy(idle)[0]
		c.untilStack(db, api.StackReady, time.Minute)
		c.pass(5 * time.Second)
		before := c.Store().Snapshot()
		sweep := control.Sweep(before, control.SweepInterval, nil, time.Now())
		if !slices.ContainsFunc(sweep.Decided, func(d state.StackDecision) bool { return d.Name == db && d.Status == api.StackGarbage }) {
			t.Fatalf("the sweep does not mark the stack: %+v", sweep.Decided)
		}
		c.deploy(stackJob("shop", "1.0.0", "db@2.1"))
		if _, err := c.Propose(c.Context(), sweep); err != nil {
			t.Fatal(err)
		}
		if s := c.Store().Snapshot().Stack("default", db); s.Status != api.StackReady {
			t.Errorf("the dependency of a new stack is %s: %s", s.Status, s.StatusText())
		}
	})
}

func TestSweepMarksWhileOtherUnitsChange(t *testing.T) {
	simulate(t, func(c *cluster) {
		c.addNode("n1", nil)
		idle := stackJob("db", "2.1.0")
		idle.Stack.Idle, idle.Stack.InitialTTL, idle.Stack.ExtendTTL = ptr(time.Duration(0)), ptr(time.Second), ptr(time.Second)
		db := c.deploy(idle)[0]
		c.untilStack(db, api.StackReady, time.Minute)
		c.pass(5 * time.Second)
		sweep := control.Sweep(c.Store().Snapshot(), control.SweepInterval, nil, time.Now())
		c.deploy(stackJob("shop", "1.0.0"))
		if _, err := c.Propose(c.Context(), sweep); err != nil {
			t.Fatal(err)
		}
		if s := c.Store().Snapshot().Stack("default", db); s.Status != api.StackGarbage {
			t.Errorf("the stack without callers is %s, want garbage: the deployment in between does not concern it", s.Status)
		}
	})
}

func TestManyUnitsAreDeployedAtTheSameTime(t *testing.T) {
	c := start(t, server.Config{DataDir: t.TempDir()})
	defer c.close()
	var deploys sync.WaitGroup
	for i := range 200 {
		deploys.Go(func() {
			_, err := c.DeployStacks(t.Context(), &api.DeployStacksRequest{Jobs: []*api.Job{stackJob(fmt.Sprintf("unit-%d", i), "1.0.0")}}, "default")
			if err != nil {
				t.Errorf("deploy unit-%d: %v", i, err)
			}
		})
	}
	deploys.Wait()
}

func TestHeldStackIsKeptUntilTheHoldEnds(t *testing.T) {
	simulate(t, func(c *cluster) {
		c.addNode("n1", nil)
		job := stackJob("db", "2.1.0")
		job.Stack.Idle, job.Stack.ExtendTTL = ptr(time.Duration(0)), ptr(time.Minute)
		job.Stack.InitialTTL = ptr(time.Minute)
		db := c.deploy(job)[0]
		c.untilStack(db, api.StackReady, time.Minute)
		if _, err := c.StackVerb(c.Context(), "default", db, "hold", &api.StackVerbRequest{By: "ann", For: time.Hour}); err != nil {
			t.Fatal(err)
		}
		c.pass(59 * time.Minute)
		if s := c.Store().Snapshot().Stack("default", db); s.Status != api.StackReady {
			t.Errorf("a held stack is %s: %s", s.Status, s.StatusText())
		}
		c.untilStack(db, api.StackGarbage, time.Hour)
	})
}

func TestPurgedJobTerminatesItsStack(t *testing.T) {
	simulate(t, func(c *cluster) {
		c.addNode("n1", nil)
		db := c.deploy(stackJob("db", "2.1.0"))[0]
		c.untilStack(db, api.StackReady, time.Minute)
		if _, err := c.DeregisterJob(c.Context(), "default", db, server.DeregisterOptions{Purge: true}); err != nil {
			t.Fatal(err)
		}
		c.untilStack(db, api.StackTerminated, time.Minute)
		c.within(time.Minute, "the job is gone", func(s *state.Snapshot) bool { return s.Job("default", db) == nil })
		if s := c.Store().Snapshot().Stack("default", db); s.StatusText() != "its job was stopped" {
			t.Errorf("reason %q", s.StatusText())
		}
	})
}

func TestShiftContinuesAfterARestart(t *testing.T) {
	cfg := server.Config{DataDir: t.TempDir()}
	bubble.Test(t, func(t *testing.T) {
		c := start(t, cfg)
		node := c.addNode("n1", nil).node
		c.untilStack(c.deploy(stackJob("shop", "1.0.0"))[0], api.StackReady, time.Minute)
		next := c.deploy(stackJob("shop", "1.1.0"))[0]
		c.untilStack(next, api.StackReady, time.Minute)
		c.within(15*time.Minute, "half of the traffic is shifted", func(*state.Snapshot) bool { return c.shift().Share >= 0.5 })
		c.close()
		before := c.shift().Share

		time.Sleep(time.Hour)
		c = start(t, cfg)
		defer c.close()
		c.connect(node, nil)
		last := before
		c.within(30*time.Minute, "the shift is complete", func(s *state.Snapshot) bool {
			share := c.shift().Share
			if share < last || share > last+0.05 {
				t.Errorf("the share went from %v to %v", last, share)
			}
			last = share
			return s.Unit("default", "shop").Targets[1] == next
		})
	})
}

func TestSweepMarksNothingWhileADomainIsStale(t *testing.T) {
	simulate(t, func(c *cluster) {
		c.addNode("n1", nil)
		caller := serviceJob("caller", 1)
		caller.Domain = "cf"
		mark := func(ttl string) {
			t.Helper()
			if _, err := c.MarkDomain(c.Context(), "cf", &api.DomainRequest{TTL: ttl}); err != nil {
				t.Fatal(err)
			}
		}
		mark("10m")
		c.register(caller)
		job := stackJob("db", "2.1.0")
		job.Stack.Idle, job.Stack.ExtendTTL, job.Stack.InitialTTL = ptr(time.Duration(0)), ptr(time.Minute), ptr(time.Hour)
		db := c.deploy(job)[0]
		c.untilStack(db, api.StackReady, time.Minute)
		c.pass(48 * time.Hour)
		if s := c.Store().Snapshot().Stack("default", db); s.Status != api.StackReady || s.Verdict == nil || s.Verdict.Reason != api.KeptStale {
			t.Errorf("in a stale domain the stack is %s: %+v", s.Status, s.Verdict)
		}
		mark("")
		c.untilStack(db, api.StackGarbage, 2*time.Hour)
	})
}

func TestSweepOfManyStacksIsOneLogEntry(t *testing.T) {
	simulate(t, func(c *cluster) {
		for batch := range 2 {
			var jobs []*api.Job
			for i := range 100 {
				jobs = append(jobs, stackJob(fmt.Sprintf("unit-%d-%d", batch, i), "1.0.0"))
			}
			for _, name := range c.deploy(jobs...) {
				if _, err := c.StackVerb(c.Context(), "default", name, "stop", nil); err != nil {
					t.Fatal(err)
				}
			}
		}
		c.pass(time.Minute)
		before := c.Store().Snapshot().Index()
		res, err := c.SweepStacks(c.Context(), false)
		if err != nil {
			t.Fatal(err)
		}
		if index := c.Store().Snapshot().Index(); res.Index != before+1 || index > before+2 {
			t.Errorf("the sweep was written at %d and the state is at %d, want one entry after %d", res.Index, index, before)
		}
	})
}

func TestAStackDeploysAfterItsDependencyIsReady(t *testing.T) {
	simulate(t, func(c *cluster) {
		c.addNode("n1", func(*api.Allocation, *api.Job) []event {
			return []event{{status: api.AllocClientRunning}, {after: 10 * time.Second, status: api.AllocClientRunning, healthy: healthy(true)}}
		})
		names := c.deploy(stackJob("shop", "1.0.0", "db@1.0"), stackJob("db", "1.0.0"))
		c.within(time.Minute, "the caller deploys", func(snap *state.Snapshot) bool {
			return snap.Stack("default", names[0]).Status != api.StackPending
		})
		if s := c.Store().Snapshot().Stack("default", names[1]); s.Status != api.StackReady {
			t.Errorf("the caller deploys while its dependency is %s, want ready", s.Status)
		}
		c.untilStack(names[0], api.StackReady, time.Minute)
	})
}

func TestStacksWithoutRoomDelayNoOthers(t *testing.T) {
	simulate(t, func(c *cluster) {
		var large []string
		for i := range 6 {
			job := stackJob(fmt.Sprintf("large-%d", i), "1.0.0")
			job.Groups[0].Tasks[0].Resources.MemoryMB = ptr(1 << 20)
			large = append(large, c.deploy(job)...)
		}
		c.addNode("n1", nil)
		for _, name := range large {
			c.untilStack(name, api.StackDeploying, time.Minute)
		}
		c.untilStack(c.deploy(stackJob("small", "1.0.0"))[0], api.StackReady, time.Minute)
		for _, name := range large {
			if s := c.Store().Snapshot().Stack("default", name); s.Status != api.StackDeploying {
				t.Errorf("%s is %s, want it to wait for room", name, s.Status)
			}
		}
	})
}

func TestAStackWhoseJobIsRejectedFailsWithTheCause(t *testing.T) {
	simulate(t, func(c *cluster) {
		job := stackJob("inventory", "1.0.0", "db@2.0")
		job.Stack.Depends[0].Optional = true
		job.Stack.Expose = []*api.StackExposure{{Host: "inventory.example.com"}}
		job.Groups[0].Tasks[0].Resources.MemoryMB = ptr(1 << 20)
		db := c.deploy(stackJob("db", "2.0.0"))[0] // inventory waits for it: there is no node
		name := c.deploy(job)[0]
		other := serviceJob("other", 1)
		other.Groups[0].Networks = []*api.Network{{DynamicPorts: []api.Port{{Label: "http"}}}}
		other.Groups[0].Routes = []*api.Route{{Host: "inventory.example.com", Port: "http"}}
		if _, err := c.RegisterJob(c.Context(), &api.RegisterJobRequest{Job: other}); err != nil {
			t.Fatal(err)
		}
		c.addNode("n1", nil)
		c.untilStack(db, api.StackReady, time.Minute)
		c.untilStack(name, api.StackFailed, time.Minute)
		if s := c.Store().Snapshot().Stack("default", name); s.StatusReason != api.ReasonStackJobRejected || !strings.Contains(s.StatusText(), "routes that other jobs hold") {
			t.Errorf("the stack failed with %s (%s), want that its job was rejected, and why", s.StatusReason, s.StatusText())
		}
		c.pass(time.Minute)
		if s := c.Store().Snapshot().Stack("default", name); s.Status != api.StackFailed {
			t.Errorf("a minute later the stack is %s (%s), want that users can still read the cause", s.Status, s.StatusText())
		}
		c.within(48*time.Hour, "the stack is removed after its grace", func(snap *state.Snapshot) bool {
			s := snap.Stack("default", name)
			return s.Status == api.StackTerminated && s.StatusReason == api.ReasonStackRemoved
		})
	})
}

func TestShiftsAreFoundInTheirNamespace(t *testing.T) {
	simulate(t, func(c *cluster) {
		c.addNode("n1", nil)
		for _, version := range []string{"1.0.0", "1.1.0"} {
			c.untilStack(c.deploy(stackJob("inventory", version))[0], api.StackReady, time.Minute)
		}
		if _, err := c.PutNamespace(c.Context(), &api.Namespace{Name: "dev"}, nil); err != nil {
			t.Fatal(err)
		}
		shift := c.shift()
		for _, name := range []string{shift.ID, shift.ID[:8], "inventory", shift.To} {
			snap := c.Store().Snapshot()
			for _, namespace := range []string{"default", "*"} {
				if namespace == "*" && !strings.HasPrefix(shift.ID, name) {
					continue // names of units and stacks need a namespace
				}
				if got, _, err := server.Shift(snap, namespace, name); err != nil || got.ID != shift.ID {
					t.Errorf("%s in namespace %s: %+v, %v, want the shift", name, namespace, got, err)
				}
			}
			if got, _, err := server.Shift(snap, "dev", name); api.CodeOf(err) != api.CodeNotFound {
				t.Errorf("%s in namespace dev: %+v, %v, want that no such shift is found", name, got, err)
			}
			if _, err := c.ShiftVerb(c.Context(), "dev", name, "pause", nil); api.CodeOf(err) != api.CodeNotFound {
				t.Errorf("pausing %s in namespace dev: %v, want that no such shift is found", name, err)
			}
		}
		if now := c.shift(); now.Status != api.ShiftRunning {
			t.Errorf("the shift is %s after refused verbs", now.Status)
		}
	})
}

func TestHostsThatAreNamesOfStacksAreRefused(t *testing.T) {
	simulate(t, func(c *cluster) {
		for host, refused := range map[string]bool{
			"1.shop.default.stack.reeve": true, "shop.STACK.Reeve": true, "*.stack.reeve": true, "*.shop.stack.reeve": true, "shop.stack.reeve.": true,
			"stack.reeve": false, "shop.reeve": false, "haystack.reeve": false, "shop.stack.reeve.example.com": false,
		} {
			job := serviceJob("routed", 1)
			job.Groups[0].Networks = []*api.Network{{DynamicPorts: []api.Port{{Label: "http"}}}}
			job.Groups[0].Routes = []*api.Route{{Host: host, Port: "http"}}
			_, err := c.RegisterJob(c.Context(), &api.RegisterJobRequest{Job: job})
			var e *api.Error
			if got := errors.As(err, &e) && e.Code == api.CodeInvalid && len(e.Detail) == 1 && strings.HasPrefix(e.Detail[0], `group "web", route 1: host`); got != refused || !refused && err != nil {
				t.Errorf("a route for %s: %v, want a refusal of the route: %v", host, err, refused)
			}
		}
		job := stackJob("shop", "1.0.0")
		job.Stack.Expose = []*api.StackExposure{{Host: "shop.stack.reeve"}}
		_, err := c.DeployStacks(c.Context(), &api.DeployStacksRequest{Jobs: []*api.Job{job}}, "default")
		if api.CodeOf(err) != api.CodeInvalid || !strings.Contains(err.Error(), "stack, expose 1: host") || c.Store().Snapshot().LifecycleIndex() != 0 {
			t.Errorf("an exposed host below stack.reeve: %v, want a refusal that names it", err)
		}
	})
}
