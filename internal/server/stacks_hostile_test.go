// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package server_test

import (
	"math"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/server"
)

// refusedUnchanged fails unless the error is a sentence of a refusal, and the request changed nothing.
func (c *cluster) refusedUnchanged(what string, request func() error) {
	c.Helper()
	synctest.Wait() // for the controllers to answer earlier requests
	before := c.Store().Snapshot().LifecycleIndex()
	err := request()
	code := api.CodeOf(err)
	if err == nil || code != api.CodeInvalid && code != api.CodeConflict && code != api.CodeNotFound || !strings.Contains(err.Error(), " ") {
		c.Errorf("%s: %v (%s), want a refusal", what, err, code)
	}
	if after := c.Store().Snapshot().LifecycleIndex(); after != before {
		c.Errorf("%s: refused, but the stacks changed at index %d", what, after)
	}
}

func TestHostileDeploymentsOfStacksAreRefused(t *testing.T) {
	simulate(t, func(c *cluster) {
		many := make([]*api.Job, 101)
		for i := range many {
			many[i] = stackJob("shop", "1.0.0")
		}
		with := func(change func(*api.Job)) []*api.Job {
			job := stackJob("shop", "1.0.0")
			change(job)
			return []*api.Job{job}
		}
		for what, jobs := range map[string][]*api.Job{
			"no jobs":                nil,
			"a null job":             {nil},
			"a null second job":      {stackJob("shop", "1.0.0"), nil},
			"101 jobs":               many,
			"a version twice":        {stackJob("shop", "1.0.0"), stackJob("shop", "1.0.0")},
			"no stack block":         with(func(j *api.Job) { j.Stack = nil }),
			"no groups":              with(func(j *api.Job) { j.Groups = nil }),
			"upper case":             with(func(j *api.Job) { j.ID = "Shop" }),
			"two hyphens":            with(func(j *api.Job) { j.ID = "shop--1" }),
			"a slash":                with(func(j *api.Job) { j.ID = "shop/1" }),
			"a long name":            with(func(j *api.Job) { j.ID = strings.Repeat("a", 200) }),
			"no name":                with(func(j *api.Job) { j.ID, j.Name = "", "" }),
			"another namespace":      with(func(j *api.Job) { j.Namespace = "nowhere" }),
			"no version":             with(func(j *api.Job) { j.Stack.Version = "" }),
			"version 0.0.0":          with(func(j *api.Job) { j.Stack.Version = "0.0.0" }),
			"a huge version":         with(func(j *api.Job) { j.Stack.Version = "99999999999.0.0" }),
			"a huge time":            with(func(j *api.Job) { j.Stack.InitialTTL = ptr(time.Duration(math.MaxInt64)) }),
			"a negative grace":       with(func(j *api.Job) { j.Stack.Grace = ptr(-time.Hour) }),
			"a huge shift":           with(func(j *api.Job) { j.Stack.Shift = &api.ShiftSpec{Over: math.MaxInt64} }),
			"a step of NaN":          with(func(j *api.Job) { j.Stack.Shift = &api.ShiftSpec{Policy: api.ShiftSteps, Steps: []string{"NaN%"}} }),
			"a null check":           with(func(j *api.Job) { j.Stack.Shift = &api.ShiftSpec{Checks: []*api.ShiftCheck{nil}} }),
			"a null dependency":      with(func(j *api.Job) { j.Stack.Depends = []*api.StackDependency{nil} }),
			"a null exposure":        with(func(j *api.Job) { j.Stack.Expose = []*api.StackExposure{nil} }),
			"a dependency on itself": with(func(j *api.Job) { j.Stack.Depends = []*api.StackDependency{{Unit: "shop", Version: "1.0"}} }),
			"a cycle":                {stackJob("a", "1.0.0", "b@1.0"), stackJob("b", "1.0.0", "a@1.0")},
			"an unknown policy":      with(func(j *api.Job) { j.Stack.Policy = &api.RetentionPolicy{Name: "retain-everything"} }),
			"a limit of 0":           with(func(j *api.Job) { j.Stack.MaxStacks = ptr(0) }),
		} {
			c.refusedUnchanged(what, func() error {
				_, err := c.DeployStacks(c.Context(), &api.DeployStacksRequest{Jobs: jobs}, "default")
				return err
			})
		}
		c.refusedUnchanged("no request", func() error {
			_, err := c.DeployStacks(c.Context(), nil, "default")
			return err
		})
		if jobs, _ := server.Stacks(c.Store().Snapshot(), server.StackFilter{Namespace: "*"}); len(jobs) != 0 {
			t.Errorf("%d stacks after refused deployments", len(jobs))
		}
	})
}

func TestHostileVerbsOfStacksAreRefused(t *testing.T) {
	simulate(t, func(c *cluster) {
		c.addNode("n1", nil)
		old := c.deploy(stackJob("shop", "1.0.0"))[0]
		c.untilStack(old, api.StackReady, time.Minute)
		waits := stackJob("shop", "1.1.0")
		waits.Stack.Shift = &api.ShiftSpec{Policy: api.ShiftNone}
		next := c.deploy(waits)[0]
		c.untilStack(next, api.StackReady, time.Minute)

		stack := func(name, verb string, req *api.StackVerbRequest) func() error {
			return func() error {
				_, err := c.StackVerb(c.Context(), "default", name, verb, req)
				return err
			}
		}
		huge := time.Duration(math.MaxInt64)
		c.refusedUnchanged("unknown verb", stack(old, "explode", nil))
		c.refusedUnchanged("no verb", stack(old, "", nil))
		c.refusedUnchanged("unknown stack", stack("nothing", "stop", nil))
		c.refusedUnchanged("no stack", stack("", "stop", nil))
		c.refusedUnchanged("extend for ever", stack(old, "extend", &api.StackVerbRequest{For: huge}))
		c.refusedUnchanged("extend backwards", stack(old, "extend", &api.StackVerbRequest{For: -time.Hour}))
		c.refusedUnchanged("hold for 292 years", stack(old, "hold", &api.StackVerbRequest{For: huge}))
		c.refusedUnchanged("hold backwards", stack(old, "hold", &api.StackVerbRequest{For: -time.Hour}))
		c.refusedUnchanged("rescue of a ready stack", stack(old, "rescue", &api.StackVerbRequest{For: huge}))

		unit := func(name, verb string, req *api.UnitVerbRequest) func() error {
			return func() error {
				_, err := c.UnitVerb(c.Context(), "default", name, verb, req)
				return err
			}
		}
		c.refusedUnchanged("unknown verb of a unit", unit("shop", "explode", nil))
		c.refusedUnchanged("a unit without stacks", unit("nothing", "deprecate", &api.UnitVerbRequest{Version: "1.0"}))
		c.refusedUnchanged("a unit's name in all namespaces", unit("../etc", "deprecate", &api.UnitVerbRequest{Version: "1.0", AllNamespaces: true}))
		for _, version := range []string{"", "1", "1.0.0", "-1.0", "1.99999999999", "a.b"} {
			c.refusedUnchanged("deprecate "+version, unit("shop", "deprecate", &api.UnitVerbRequest{Version: version}))
		}
		c.refusedUnchanged("undeprecate", unit("shop", "undeprecate", &api.UnitVerbRequest{Version: "1.0"}))
		for _, tag := range []string{"", "1demo", "Demo", "a--b", "-a", strings.Repeat("a", 200), "a.b"} {
			c.refusedUnchanged("tag "+tag, unit("shop", "tag", &api.UnitVerbRequest{Version: "1.0.0", Tag: tag}))
		}
		c.refusedUnchanged("a tag of no version", unit("shop", "tag", &api.UnitVerbRequest{Version: "latest", Tag: "demo"}))
		c.refusedUnchanged("an unknown tag", unit("shop", "tag", &api.UnitVerbRequest{Tag: "demo"}))
		c.refusedUnchanged("an unknown policy", unit("shop", "policy", &api.UnitVerbRequest{Policy: &api.RetentionPolicy{Name: "x"}}))
		c.refusedUnchanged("a huge policy", unit("shop", "policy", &api.UnitVerbRequest{Policy: &api.RetentionPolicy{Name: api.RetainLatest, Majors: math.MaxInt}}))

		start := func(req *api.ShiftRequest) func() error {
			return func() error {
				_, err := c.StartShift(c.Context(), "default", "shop", req)
				return err
			}
		}
		c.refusedUnchanged("no shift", start(nil))
		c.refusedUnchanged("a shift to nothing", start(&api.ShiftRequest{To: "9.9.9"}))
		c.refusedUnchanged("a shift to the target", start(&api.ShiftRequest{To: "1.0.0", Supersede: true}))
		for what, spec := range map[string]*api.ShiftSpec{
			"an unknown policy":     {Policy: "magic"},
			"a huge time":           {Over: huge},
			"a negative time":       {Over: -time.Second},
			"an invalid step":       {Policy: api.ShiftSteps, Steps: []string{"NaN%"}},
			"steps without a list":  {Policy: api.ShiftSteps},
			"a null check":          {Checks: []*api.ShiftCheck{nil}},
			"a check of no address": {Checks: []*api.ShiftCheck{{Name: "a", HTTP: "file:///etc/passwd"}}},
			"a short interval":      {Interval: 1},
		} {
			c.refusedUnchanged("a shift with "+what, start(&api.ShiftRequest{To: "1.1.0", Spec: spec}))
		}

		if _, err := c.StartShift(c.Context(), "default", "shop", &api.ShiftRequest{To: "1.1.0", Spec: &api.ShiftSpec{Over: time.Hour}}); err != nil {
			t.Fatal(err)
		}
		if _, err := c.ShiftVerb(c.Context(), "default", "shop", "pause", nil); err != nil {
			t.Fatal(err)
		}
		c.pass(time.Minute)
		shift := func(verb string, share *float64) {
			t.Helper()
			before := c.shift()
			_, err := c.ShiftVerb(c.Context(), "default", "shop", verb, &api.ShiftVerbRequest{Share: share})
			if api.CodeOf(err) != api.CodeInvalid {
				t.Errorf("%s: %v, want a refusal", verb, err)
			}
			if after := c.shift(); after.Share != before.Share || after.Status != before.Status {
				t.Errorf("%s: refused, but the share was %v and is %v", verb, before.Share, after.Share)
			}
		}
		shift("explode", nil)
		shift("set", nil)
		for _, share := range []float64{math.NaN(), math.Inf(1), 2, -0.1} {
			shift("set", &share)
		}
		// A refused replacement leaves the running shift as it is.
		if _, err := c.StartShift(c.Context(), "default", "shop", &api.ShiftRequest{To: "1.0.0", Supersede: true}); api.CodeOf(err) != api.CodeConflict || !c.shift().IsActive() {
			t.Errorf("shift to the stack that the running shift leaves: %v, and that shift is %s", err, c.shift().Status)
		}
	})
}

// shift returns the newest shift.
func (c *cluster) shift() *api.Shift {
	c.Helper()
	list, _ := server.Shifts(c.Store().Snapshot(), "*")
	if len(list) == 0 {
		c.Fatal("no shift is stored")
	}
	return list[0]
}
