// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package e2e_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/testbed"
)

// TestCallersStayOnTheirVersionWhileTrafficReturns runs cases 5 and 7: a lower version gets no
// request, and a target that is rolled back does not take callers away that need more.
func TestCallersStayOnTheirVersionWhileTrafficReturns(t *testing.T) {
	e := newEntrance(t)
	e.deployStack(stackJob(e.Reeve, "1.0.0", time.Second))
	e.deployStack(stackJob(e.Reeve, "1.1.0", time.Second))
	e.shifted("1.1.0", 0)
	e.answered("1.1.0")

	e.deployStack(stackJob(e.Reeve, "1.0.7", time.Second))
	e.answers(map[string]string{"1-0-7.web.default.stack.reeve": "1.0.7"}) // it takes requests
	e.answered("1.1.0")
	for range 40 {
		if version, _ := e.ask("1.web.default.stack.reeve"); version != "1.1.0" {
			t.Fatalf("a caller of 1.x reaches %s beside the target 1.1.0", version)
		}
	}

	e.reeve("stack", "shift", "-to", "1.0.0", "web")
	e.answered("1.0.0")
	e.answers(map[string]string{"1-1.web.default.stack.reeve": "1.1.0", "1-0.web.default.stack.reeve": "1.0.0"})
}

// TestANamespaceTakesPrecedenceOverTheOneAroundIt runs case 21.
func TestANamespaceTakesPrecedenceOverTheOneAroundIt(t *testing.T) {
	e := newEntrance(t)
	e.reeve("namespace", "apply", "default/sandbox")
	e.deployStack(stackJob(e.Reeve, "1.0.0", time.Second))
	e.answers(map[string]string{"1.web.sandbox.default.stack.reeve": "1.0.0", "1.web.default.stack.reeve": "1.0.0"})

	own := stackJob(e.Reeve, "1.0.5", time.Second)
	own.Namespace, own.Stack.Expose = "default/sandbox", nil
	if _, err := e.Client.WithNamespace(own.Namespace).Stacks().Deploy(t.Context(), &api.DeployStacksRequest{Jobs: []*api.Job{own}}); err != nil {
		t.Fatal(err)
	}
	e.answers(map[string]string{"1.web.sandbox.default.stack.reeve": "1.0.5"})
	for range 20 {
		if version, _ := e.ask("1.web.default.stack.reeve"); version != "1.0.0" {
			t.Fatalf("a caller in default reaches %s of a namespace below", version)
		}
	}
	e.answered("1.0.0")
}

// TestTheNewestVersionOfAPeriodicUnitFires runs case 22.
func TestTheNewestVersionOfAPeriodicUnitFires(t *testing.T) {
	m := newMachine(t)
	report := func(version string) *api.Job {
		job := testbed.ShellJob("report", 1, "exec sleep 6")
		job.Type, job.Groups[0].Update = api.JobTypeBatch, nil
		job.Periodic = &api.Periodic{Specs: []string{"*/2 * * * * * *"}}
		job.Stack = &api.StackSpec{Version: version}
		return job
	}
	older := m.deployStack(report("2.0.0"))
	m.children(older, "started one", func(all, _ int) bool { return all > 0 })
	newer := m.deployStack(report("2.1.0"))
	before, running := m.children(older, "is counted", func(int, int) bool { return true })
	if running == 0 {
		t.Errorf("no child of 2.0.0 runs when 2.1.0 is ready, of %d", before)
	}
	m.children(newer, "started two", func(all, _ int) bool { return all > 1 })
	m.children(older, "ended all by themselves", func(_, running int) bool { return running == 0 })
	if all, _ := m.children(older, "is counted", func(int, int) bool { return true }); all > before+1 { // one may have been due before 2.1.0 was ready
		t.Errorf("2.0.0 started %d children, of which %d after 2.1.0 was ready", all, all-before)
	}
	list, _, err := m.Client.Allocations().List(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range list {
		if strings.HasPrefix(a.JobID, older+"/") && (a.ClientStatus != api.AllocClientComplete || a.DesiredStatus != api.AllocDesiredRun) {
			t.Errorf("%s is %s and should %s: children of the older version end by themselves", a.Name, a.ClientStatus, a.DesiredStatus)
		}
	}
}

// children waits until the children of a stack, all and running, are as wanted.
func (m *machine) children(stack, what string, ok func(all, running int) bool) (all, running int) {
	m.t.Helper()
	m.eventually(stack+" "+what, func(ctx context.Context) error {
		jobs, _, err := m.Client.Jobs().List(ctx, nil)
		if err != nil {
			return err
		}
		all, running = 0, 0
		for _, job := range jobs {
			if strings.HasPrefix(job.ID, stack+"/") {
				all++
				if job.Status != api.JobStatusDead {
					running++
				}
			}
		}
		if !ok(all, running) {
			return fmt.Errorf("%d children, %d running", all, running)
		}
		return nil
	})
	return all, running
}
