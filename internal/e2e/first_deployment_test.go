// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package e2e_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/testbed"
)

// slowShop has two groups, of which one instance at a time may be updated, and none
// is healthy for a long time.
func slowShop(id string, plans ...*api.PlanSpec) *api.Job {
	job := testbed.ShellJob(id, 4, "sleep 1000")
	db := job.Groups[0]
	db.Update = &api.Update{MaxParallel: ptr(1), MinHealthyTime: ptr(10 * time.Minute), HealthyDeadline: ptr(20 * time.Minute), ProgressDeadline: ptr(30 * time.Minute)}
	web := *db
	db.Name, web.Name = "db", "web"
	job.Groups, job.Plans = []*api.Group{db, &web}, plans
	return job
}

// TestAFirstDeploymentStartsEverythingAtOnce whatever its update block says, unless
// the job declares the plan deploy.
func TestAFirstDeploymentStartsEverythingAtOnce(t *testing.T) {
	m := newMachine(t)
	m.register(slowShop("shop"))
	m.allocations("shop", "all of both groups run", running(8))

	serial := &api.PlanSpec{Name: api.PlanDeploy, Strategy: api.StrategySerial}
	m.register(slowShop("ordered", serial))
	list := m.allocations("ordered", "the first of the first group runs", running(1))
	if len(list) != 1 || list[0].Name != "ordered.db[0]" {
		t.Errorf("of an ordered job %d instances were started, the first is %s", len(list), list[0].Name)
	}
	file := filepath.Join(t.TempDir(), "groups.hcl")
	text := `job "groups" {
  %s
  group "a" {
    task "t" {
      driver = "raw_exec"
      config { command = "/bin/true" }
    }
  }
  group "b" {
    task "t" {
      driver = "raw_exec"
      config { command = "/bin/true" }
    }
  }
}
`
	const hint = `plan "deploy" { strategy = "serial" }`
	for _, plan := range []string{"", hint} {
		if err := os.WriteFile(file, []byte(fmt.Sprintf(text, plan)), 0o644); err != nil {
			t.Fatal(err)
		}
		out, code := (&shop{m}).try("job", "plan", file)
		if code > 1 || strings.Contains(out, "at the same time") != (plan == "") || strings.Contains(out, hint) != (plan == "") {
			t.Errorf("job plan of groups with %q ends with %d and says\n%s", plan, code, out)
		}
	}
}

// TestFailedInstancesCountAgainstMaxParallel has two old instances fail while a third
// is being moved to a version that never becomes healthy: they come back at their own
// version, one at a time is at the newest.
func TestFailedInstancesCountAgainstMaxParallel(t *testing.T) {
	t.Parallel()
	m := newMachine(t)
	gates := t.TempDir()
	job := testbed.ShellJob("web", 3, "while ! [ -e "+gates+"/$NOMAD_ALLOC_INDEX ]; do sleep 0.05; done; rm "+gates+"/$NOMAD_ALLOC_INDEX; exit 1")
	g := job.Groups[0]
	g.Update.MaxParallel = ptr(1)
	g.Restart = &api.Restart{Attempts: ptr(0), Mode: ptr(api.RestartModeFail)}
	g.Reschedule = &api.Reschedule{Delay: ptr(5 * time.Second), DelayFunction: ptr(api.DelayConstant), Unlimited: ptr(true)}
	m.register(job)
	m.allocations("web", "all run", running(3))
	m.eventually("version 0 is deployed", func(ctx context.Context) error {
		is, _, err := m.Client.Jobs().Get(ctx, "web", nil)
		if err == nil && !is.Stable {
			err = fmt.Errorf("it is not stable")
		}
		return err
	})

	next := job.Copy()
	next.Groups[0].Tasks[0].Env = map[string]string{"VERSION": "1"}
	next.Groups[0].Update.MinHealthyTime = ptr(10 * time.Minute)
	next.Groups[0].Update.HealthyDeadline = ptr(20 * time.Minute)
	next.Groups[0].Update.ProgressDeadline = ptr(30 * time.Minute)
	m.register(next)
	m.allocations("web", "one is moved", func(list []*api.AllocationListStub) bool { return atVersion(list, 1) == 1 && running(3)(list) })
	for _, index := range []string{"1", "2"} {
		if err := os.WriteFile(filepath.Join(gates, index), nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	list := m.allocations("web", "both are back", func(list []*api.AllocationListStub) bool { return len(list) == 6 && running(3)(list) })
	if n := atVersion(list, 1); n != 1 {
		t.Errorf("%d allocations are of the newest version, max_parallel is 1", n)
	}
}

// atVersion counts the allocations that were made for a version of the job.
func atVersion(list []*api.AllocationListStub, version uint64) (n int) {
	for _, a := range list {
		if a.JobVersion == version {
			n++
		}
	}
	return n
}

// TestAGroupGoesOnWaitingForRoom has the second group of a rollout wait for a node,
// and an instance of the first fail meanwhile.
func TestAGroupGoesOnWaitingForRoom(t *testing.T) {
	f := newFleet(t, 1)
	m := f.server
	gate := filepath.Join(t.TempDir(), "gate")
	job := testbed.ShellJob("shop", 1, "while ! [ -e "+gate+" ]; do sleep 0.05; done; exit 1")
	db := job.Groups[0]
	db.Restart = &api.Restart{Attempts: ptr(0), Mode: ptr(api.RestartModeFail)}
	db.Reschedule = &api.Reschedule{Delay: ptr(time.Hour), DelayFunction: ptr(api.DelayConstant), Unlimited: ptr(true)}
	web := job.Copy().Groups[0]
	web.Tasks[0].Config = map[string]any{"command": "/bin/sh", "args": []string{"-c", "sleep 1000"}}
	db.Name, web.Name = "db", "web"
	job.Groups = append(job.Groups, web)
	m.register(job)
	m.eventually("version 0 is deployed", func(ctx context.Context) error {
		is, _, err := m.Client.Jobs().Get(ctx, "shop", nil)
		if err == nil && !is.Stable {
			err = fmt.Errorf("it is not stable")
		}
		return err
	})
	next := job.Copy()
	for _, g := range next.Groups {
		g.Tasks[0].Env = map[string]string{"VERSION": "1"}
	}
	next.Groups[1].Count = ptr(2)
	next.Groups[1].Constraints = []*api.Constraint{{LTarget: "${node.unique.name}", RTarget: "node-1", Operand: "="}}
	m.register(next)
	waits := func(when string) {
		t.Helper()
		m.instances("shop", "web waits for room "+when, func(list []*api.Instance) bool {
			for _, in := range list {
				if in.Name == "web-1" && in.PlacementError != "" {
					return true
				}
			}
			return false
		})
	}
	waits("once db is well")
	if err := os.WriteFile(gate, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	m.eventually("the failure of db is evaluated", func(ctx context.Context) error {
		list, _, err := m.Client.Jobs().Evaluations(ctx, "shop", nil)
		for _, e := range list {
			if e.TriggeredBy == api.TriggerAllocFailure && e.Status == api.EvalStatusComplete {
				return err
			}
		}
		return fmt.Errorf("evaluations %+v, %v", list, err)
	})
	waits("after db has failed")
	f.join()
	m.allocations("shop", "web runs on the new node", func(list []*api.AllocationListStub) bool { return on(list, "node-1") == 1 })
}

// TestAHoleIsFoundWhileADeploymentRuns removes the evaluation that waits for room
// for a group while the deployment of another goes on: within half a minute somebody
// waits for room again.
func TestAHoleIsFoundWhileADeploymentRuns(t *testing.T) {
	t.Parallel()
	f := newFleet(t, 1)
	m := f.server
	job := slowShop("shop")
	job.Groups[1].Constraints = []*api.Constraint{{LTarget: "${node.unique.name}", RTarget: "node-1", Operand: "="}}
	m.register(job)
	m.allocations("shop", "the first group runs", running(4))
	blocked := func(what string, not string) (id string) {
		t.Helper()
		m.eventually(what, func(ctx context.Context) error {
			list, _, err := m.Client.Jobs().Evaluations(ctx, "shop", nil)
			for _, e := range list {
				if e.Status == api.EvalStatusBlocked && e.ID != not && e.QueuedAllocations["web"] == 4 {
					id = e.ID
					return err
				}
			}
			return fmt.Errorf("evaluations %+v, %v", list, err)
		})
		return id
	}
	first := ""
	m.eventually("the blocked evaluation is deleted", func(ctx context.Context) error { // it may be evaluated again just now
		first = blocked("the second group waits for room", "")
		_, err := m.Client.Evaluations().Delete(ctx, &api.EvaluationDeleteRequest{EvalIDs: []string{first}})
		return err
	})
	blocked("the hole was found", first)
	f.join()
	m.allocations("shop", "the second group runs on the new node", func(list []*api.AllocationListStub) bool { return on(list, "node-1") == 4 })
}
