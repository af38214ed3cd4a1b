// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package server_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/server"
	"github.com/reeve-run/reeve/internal/state"
)

// stackJob returns a unit's job of a version, with one port and two instances. Dependencies are
// such as "db@2.1".
func stackJob(unit, version string, depends ...string) *api.Job {
	job := serviceJob(unit, 2)
	job.Groups[0].Networks = []*api.Network{{DynamicPorts: []api.Port{{Label: "http"}}}}
	job.Stack = &api.StackSpec{Version: version}
	for _, d := range depends {
		unit, want, _ := strings.Cut(d, "@")
		job.Stack.Depends = append(job.Stack.Depends, &api.StackDependency{Unit: unit, Version: want})
	}
	return job
}

// deploy deploys stacks and returns the names of the new ones.
func (c *cluster) deploy(jobs ...*api.Job) []string {
	c.Helper()
	res, err := c.DeployStacks(c.Context(), &api.DeployStacksRequest{Jobs: jobs, By: "ann"}, "default")
	if err != nil {
		c.Fatalf("deploy %s: %v", jobs[0].ID, err)
	}
	var names []string
	for _, s := range res.Stacks {
		names = append(names, s.Name)
	}
	return names
}

// untilStack waits for the status of a stack.
func (c *cluster) untilStack(name, status string, limit time.Duration) {
	c.Helper()
	c.within(limit, name+" is "+status, func(snap *state.Snapshot) bool {
		s := snap.Stack("default", name)
		return s != nil && s.Status == status
	})
}

func TestTheLifeOfAStack(t *testing.T) {
	simulate(t, func(c *cluster) {
		c.addNode("n1", nil)
		first := c.deploy(stackJob("inventory", "1.0.0"))[0]
		c.untilStack(first, api.StackReady, time.Minute)
		shop := stackJob("shop", "2.4.0", "inventory@1.0")
		shop.Stack.Policy = &api.RetentionPolicy{Name: api.RetainAlways}
		c.untilStack(c.deploy(shop)[0], api.StackReady, time.Minute)
		c.pass(2 * time.Hour)
		c.untilStack(first, api.StackReady, time.Minute)

		second := c.deploy(stackJob("inventory", "1.1.0"))[0]
		c.untilStack(second, api.StackReady, time.Minute)
		began := time.Now()
		c.within(15*time.Minute, "half of the traffic is shifted", func(snap *state.Snapshot) bool {
			for s := range snap.Shifts() {
				return s.Share >= 0.5
			}
			return false
		})
		if took := time.Since(began); took < 9*time.Minute || took > 11*time.Minute {
			t.Errorf("half of the shift took %s, want 10 min", took)
		}
		c.untilStack(first, api.StackReady, time.Minute)
		c.within(15*time.Minute, "the shift is complete", func(snap *state.Snapshot) bool {
			u := snap.Unit("default", "inventory")
			return u != nil && u.Targets[1] == second
		})
		c.untilStack(first, api.StackGarbage, 2*time.Hour)
		if got := len(running(c.Store().Snapshot(), first)); got != 2 {
			t.Errorf("%d instances of garbage run, want both", got)
		}
		c.untilStack(first, api.StackTerminated, 26*time.Hour)
		if job := c.Store().Snapshot().Job("default", first); job != nil {
			t.Errorf("the job of a terminated stack is stored: %s", job.Status)
		}
		c.untilStack(second, api.StackReady, time.Minute)
		var actions []string
		for r := range c.Store().Snapshot().Audit("default", api.AuditStack, first) {
			actions = append(actions, r.Action)
		}
		want := "pending deploying warming ready kept declined garbage removed terminated"
		if got := strings.Join(actions, " "); got != want {
			t.Errorf("audit records: %s, want %s", got, want)
		}
	})
}

func TestTheSameVersionTwiceIsOneStack(t *testing.T) {
	simulate(t, func(c *cluster) {
		c.addNode("n1", nil)
		names := make([]string, 5)
		var deploys sync.WaitGroup
		for i := range names {
			deploys.Go(func() { names[i] = c.deploy(stackJob("inventory", "1.0.0"))[0] })
		}
		deploys.Wait()
		for _, name := range names {
			if name != names[0] {
				t.Errorf("five equal deployments answered %v, want one name", names)
				break
			}
		}
		changed := stackJob("inventory", "1.0.0")
		changed.Meta = map[string]string{"changed": "yes"}
		_, err := c.DeployStacks(c.Context(), &api.DeployStacksRequest{Jobs: []*api.Job{changed}}, "default")
		if api.CodeOf(err) != api.CodeConflict || !strings.Contains(err.Error(), "-redeploy") {
			t.Errorf("another content of the version: %v, want a conflict that names -redeploy", err)
		}
		if res, err := c.DeployStacks(c.Context(), &api.DeployStacksRequest{Jobs: []*api.Job{changed}, Redeploy: true}, "default"); err != nil || res.Stacks[0].Name == names[0] {
			t.Errorf("redeployment: %v, want a second stack", err)
		}
	})
}

func TestABrokenStackIsOvertakenByItsFix(t *testing.T) {
	simulate(t, func(c *cluster) {
		c.addNode("n1", func(_ *api.Allocation, job *api.Job) []event {
			ready := job.Stack.Version != "1.1.0"
			return []event{{status: api.AllocClientRunning}, {status: api.AllocClientRunning, healthy: healthy(true), unready: !ready}}
		})
		c.untilStack(c.deploy(stackJob("inventory", "1.0.0"))[0], api.StackReady, time.Minute)
		broken := c.deploy(stackJob("inventory", "1.1.0"))[0]
		c.untilStack(broken, api.StackWarming, time.Minute)
		fix := c.deploy(stackJob("inventory", "1.1.1"))[0]
		c.untilStack(fix, api.StackReady, time.Minute)
		c.untilStack(broken, api.StackFailed, time.Minute)
		if s := c.Store().Snapshot().Stack("default", broken); !strings.Contains(s.StatusText(), "overtaken by "+fix) {
			t.Errorf("reason %q, want that %s overtook it", s.StatusText(), fix)
		}
		c.untilStack(broken, api.StackTerminated, 3*time.Hour)
	})
}

func TestAnOperatorStopsHoldsAndRescuesStacks(t *testing.T) {
	simulate(t, func(c *cluster) {
		c.addNode("n1", nil)
		name := c.deploy(stackJob("inventory", "1.0.0"))[0]
		c.untilStack(name, api.StackReady, time.Minute)
		verb := func(verb string, req *api.StackVerbRequest) error {
			_, err := c.StackVerb(c.Context(), "default", name, verb, req)
			return err
		}
		if err := verb("rescue", nil); api.CodeOf(err) != api.CodeConflict || !strings.Contains(err.Error(), "it is ready; possible: hold, extend, expire") {
			t.Errorf("rescue of a ready stack: %v", err)
		}
		if err := verb("stop", &api.StackVerbRequest{By: "ann", Reason: "the stand is over"}); err != nil {
			t.Fatal(err)
		}
		s := c.Store().Snapshot().Stack("default", name)
		if s.Status != api.StackGarbage || s.StatusBy != "ann" || s.StatusText() != "the stand is over" {
			t.Errorf("after stop: %s by %s: %s", s.Status, s.StatusBy, s.StatusText())
		}
		if err := verb("rescue", &api.StackVerbRequest{By: "bob", For: 48 * time.Hour}); err != nil {
			t.Fatal(err)
		}
		c.pass(47 * time.Hour)
		c.untilStack(name, api.StackReady, time.Minute)
		if err := verb("stop", &api.StackVerbRequest{By: "ann", Now: true}); err != nil {
			t.Fatal(err)
		}
		c.untilStack(name, api.StackTerminated, time.Minute)
	})
}

func TestAStopTellsWhatServesTheCallersNow(t *testing.T) {
	simulate(t, func(c *cluster) {
		c.addNode("n1", nil)
		older := stackJob("inventory", "1.0.0")
		older.Stack.Expose = []*api.StackExposure{{Host: "inventory.test"}}
		first := c.deploy(older)[0]
		c.untilStack(first, api.StackReady, time.Minute)
		shop := c.deploy(stackJob("shop", "2.4.0", "inventory@1.0"))[0]
		c.untilStack(shop, api.StackReady, time.Minute)
		newer := stackJob("inventory", "1.1.0")
		newer.Stack.Expose, newer.Stack.Shift = older.Stack.Expose, &api.ShiftSpec{Policy: api.ShiftNone}
		second := c.deploy(newer)[0]
		c.untilStack(second, api.StackReady, time.Minute)
		stop := func(name string) []string {
			res, err := c.StackVerb(c.Context(), "default", name, "stop", &api.StackVerbRequest{By: "ann"})
			if err != nil {
				t.Fatal(err)
			}
			return res.Warnings
		}
		want := []string{shop + " used it, and now reaches " + second, "inventory.test used it, and now reaches " + second}
		if diff := cmp.Diff(want, stop(first)); diff != "" {
			t.Errorf("stop of the target, want(-) got(+):\n%s", diff)
		}
		want = []string{
			shop + " used it, and no other stack of inventory serves it now",
			"inventory.test used it, and no other stack of inventory serves it now",
		}
		if diff := cmp.Diff(want, stop(second)); diff != "" {
			t.Errorf("stop of the last stack, want(-) got(+):\n%s", diff)
		}
		if got := stop(shop); len(got) > 0 {
			t.Errorf("stop of a stack that nobody uses warns: %q", got)
		}
	})
}

func TestVerbsOfOperatorsAreInTheHistoryOnce(t *testing.T) {
	simulate(t, func(c *cluster) {
		c.addNode("n1", nil)
		name := c.deploy(stackJob("inventory", "1.0.0"))[0]
		c.untilStack(name, api.StackReady, time.Minute)
		verbs := []string{"hold", "unhold", "extend", "expire"}
		for i, verb := range verbs {
			req := &api.StackVerbRequest{By: "bob", Reason: fmt.Sprint("reason ", i)}
			if _, err := c.StackVerb(c.Context(), "default", name, verb, req); err != nil {
				t.Fatal(err)
			}
		}
		c.pass(time.Hour) // sweeps change the stack, and repeat nothing
		var got, want []string
		for r := range c.Store().Snapshot().Audit("default", api.AuditStack, name) {
			if r.By == "bob" {
				got = append(got, r.Action+": "+r.Reason)
			}
		}
		for i, verb := range verbs {
			want = append(want, fmt.Sprint(verb, ": reason ", i))
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("verbs in the history, want(-) got(+):\n%s", diff)
		}
	})
}

func TestShiftsAreRefusedWithWhatIsPossible(t *testing.T) {
	simulate(t, func(c *cluster) {
		c.addNode("n1", nil)
		old := c.deploy(stackJob("inventory", "1.0.0"))[0]
		c.untilStack(old, api.StackReady, time.Minute)
		next := c.deploy(stackJob("inventory", "1.1.0"))[0]
		c.untilStack(next, api.StackReady, time.Minute)
		c.pass(time.Minute)
		share := 0.25
		res, err := c.ShiftVerb(c.Context(), "default", "inventory", "set", &api.ShiftVerbRequest{By: "ann", Share: &share})
		if err != nil || res.Shift.Share != 0.25 || res.Shift.Status != api.ShiftPaused {
			t.Fatalf("set 25%%: %+v, %v", res, err)
		}
		if _, err := c.ShiftVerb(c.Context(), "default", "inventory", "reverse", &api.ShiftVerbRequest{Now: true}); err != nil {
			t.Fatal(err)
		}
		if _, err := c.ShiftVerb(c.Context(), "default", res.Shift.ID, "reverse", nil); api.CodeOf(err) != api.CodeConflict {
			t.Errorf("a second reversal: %v, want a conflict", err)
		}
		if u := c.Store().Snapshot().Unit("default", "inventory"); u.Targets[1] != old {
			t.Errorf("target %s after the reversal, want %s", u.Targets[1], old)
		}
		if _, err := c.StartShift(c.Context(), "default", "inventory", &api.ShiftRequest{To: "1.1.0", By: "ann"}); err != nil {
			t.Errorf("shift again: %v", err)
		}
	})
}

// TestASupersededShiftEndsWithTheEntryThatBeginsTheNext looks at the state after each log entry: a server that is
// killed after any of them leaves the unit with one running shift.
func TestASupersededShiftEndsWithTheEntryThatBeginsTheNext(t *testing.T) {
	simulate(t, func(c *cluster) {
		c.addNode("n1", nil)
		for _, version := range []string{"1.0.0", "1.1.0", "1.2.0"} {
			job := stackJob("inventory", version)
			job.Stack.Shift = &api.ShiftSpec{Policy: api.ShiftNone}
			c.untilStack(c.deploy(job)[0], api.StackReady, time.Minute)
		}
		first, err := c.StartShift(c.Context(), "default", "inventory", &api.ShiftRequest{To: "1.1.0", By: "ann"})
		if err != nil {
			t.Fatal(err)
		}
		c.pass(time.Minute)
		next, err := c.StartShift(c.Context(), "default", "inventory", &api.ShiftRequest{To: "1.2.0", By: "bob"})
		if api.CodeOf(err) != api.CodeConflict {
			t.Fatalf("a second shift: %+v, %v, want a conflict", next, err)
		}
		if next, err = c.StartShift(c.Context(), "default", "inventory", &api.ShiftRequest{To: "1.2.0", By: "bob", Supersede: true}); err != nil {
			t.Fatal(err)
		}
		snap := c.Store().Snapshot()
		ended, running := snap.Shift(first.Shift.ID), snap.Shift(next.Shift.ID)
		if ended.Status != api.ShiftSuperseded || ended.ChangedBy != "bob" || !running.IsActive() || ended.ModifyIndex != running.CreateIndex {
			t.Errorf("the first shift is %s since index %d, the second one is %s since index %d: want one entry for both", ended.Status, ended.ModifyIndex, running.Status, running.CreateIndex)
		}
	})
}

func TestAJobWithAStackBlockIsNotRegistered(t *testing.T) {
	simulate(t, func(c *cluster) {
		_, err := c.RegisterJob(c.Context(), &api.RegisterJobRequest{Job: stackJob("inventory", "1.0.0")})
		if api.CodeOf(err) != api.CodeInvalid || !strings.Contains(err.Error(), "reeve stack deploy") {
			t.Errorf("registering a stack as a job: %v, want that it names reeve stack deploy", err)
		}
		_, err = c.DeployStacks(c.Context(), &api.DeployStacksRequest{Jobs: []*api.Job{stackJob("shop", "1.0.0", "inventory@1.0", "db@2.1")}}, "default")
		if api.CodeOf(err) != api.CodeInvalid || !strings.Contains(err.Error(), "unit inventory") || !strings.Contains(err.Error(), "unit db") {
			t.Errorf("missing dependencies: %v, want both named", err)
		}
		if n, _ := server.Stacks(c.Store().Snapshot(), server.StackFilter{Namespace: "*"}); len(n) != 0 {
			t.Errorf("%d stacks after refused deployments", len(n))
		}
	})
}

func TestTheJobOfAStackChangesOnlyInPlace(t *testing.T) {
	simulate(t, func(c *cluster) {
		c.addNode("n1", nil)
		job := stackJob("inventory", "1.0.0")
		job.Stack.Expose = []*api.StackExposure{{Host: "inventory.example.com"}}
		name := c.deploy(job)[0]
		c.untilStack(name, api.StackReady, time.Minute)
		_, err := c.RegisterJob(c.Context(), &api.RegisterJobRequest{Job: serviceJob(name, 1)})
		if api.CodeOf(err) != api.CodeConflict || !strings.Contains(err.Error(), "belongs to a stack") {
			t.Errorf("registering a job over that of a stack: %v, want a conflict", err)
		}
		annotation := "for the stand"
		if _, err := c.ChangeJob(c.Context(), "default", name, &api.JobChange{Annotation: &annotation}); err != nil {
			t.Errorf("annotating the job of a stack: %v", err)
		}
		if _, err := c.ScaleJob(c.Context(), "default", name, &api.ScaleJobRequest{Count: ptr(int64(3)), Target: map[string]string{"Group": "web"}}); err != nil {
			t.Errorf("scaling the job of a stack: %v", err)
		}
		_, err = c.DeployStacks(c.Context(), &api.DeployStacksRequest{Jobs: []*api.Job{stackJob("inventory--1-0-0--aaaaaaaa", "1.0.0")}}, "default")
		if api.CodeOf(err) != api.CodeInvalid {
			t.Errorf("deploying a unit with the name of a stack: %v, want that it is invalid", err)
		}
	})
}

func TestOneVersionOfAPeriodicUnitFires(t *testing.T) {
	simulate(t, func(c *cluster) {
		c.addNode("n1", nil)
		report := func(version string) *api.Job {
			job := periodicJob("report", api.Periodic{Specs: []string{"*/10 * * * *"}})
			job.Stack = &api.StackSpec{Version: version}
			return job
		}
		first := c.deploy(report("2.0.0"))[0]
		c.untilStack(first, api.StackReady, time.Minute)
		c.pass(25 * time.Minute)
		second := c.deploy(report("2.1.0"))[0]
		c.untilStack(second, api.StackReady, time.Minute)
		before := c.children(first)
		c.pass(25 * time.Minute)
		if got := c.children(first); got != before || before == 0 {
			t.Errorf("the older version started %d children, and then %d more, want some and none", before, got-before)
		}
		if got := c.children(second); got < 2 || got > 3 {
			t.Errorf("the newer version started %d children in 25 minutes, want one each ten minutes", got)
		}
	})
}

// children counts the jobs that a job has started.
func (c *cluster) children(parent string) (n int) {
	for job := range c.Store().Snapshot().Jobs() {
		if job.ParentID == parent {
			n++
		}
	}
	return n
}
