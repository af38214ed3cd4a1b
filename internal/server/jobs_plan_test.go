// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package server_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/state"
)

func (c *cluster) plan(job *api.Job) *api.PlanJobResponse {
	c.Helper()
	before := c.Store().Index()
	res, err := c.PlanJob(c.Context(), &api.PlanJobRequest{Job: job, Diff: true})
	if err != nil {
		c.Fatalf("plan %s: %v", job.ID, err)
	}
	if now := c.Store().Index(); now != before {
		c.Errorf("planning %s moved the state from %d to %d", job.ID, before, now)
	}
	return res
}

// placedBy counts the allocations that an evaluation made after an index, by
// group and node.
func placedBy(s *state.Snapshot, eval string, index uint64) map[string]map[string]int {
	nodes := map[string]map[string]int{}
	for a := range s.AllocationsByEval(eval) {
		if a.CreateIndex > index {
			if nodes[a.Group] == nil {
				nodes[a.Group] = map[string]int{}
			}
			nodes[a.Group][a.NodeName]++
		}
	}
	return nodes
}

// total counts a group's placements: which of equally good nodes gets them is
// not decided in a plan.
func total(nodes map[string]map[string]int) map[string]int {
	n := map[string]int{}
	for group, counts := range nodes {
		for _, count := range counts {
			n[group] += count
		}
	}
	return n
}

// TestAPlanIsWhatHappens plans jobs of every type and registers them: what was
// planned to be started is started.
func TestAPlanIsWhatHappens(t *testing.T) {
	simulate(t, func(c *cluster) {
		for _, id := range []string{"n1", "n2", "n3"} {
			c.addNode(id, nil)
		}
		of := func(id, kind string) *api.Job {
			job := batchJob(id, 1)
			job.Type = kind
			return job
		}
		for _, job := range []*api.Job{
			serviceJob("web", 4), batchJob("sum", 3), of("watch", api.JobTypeSystem), of("inventory", api.JobTypeSysBatch),
			serviceJob("web", 7), changed(of("watch", api.JobTypeSystem), "v1"), serviceJob("large", 50),
		} {
			plan := c.plan(job)
			began := c.Store().Index()
			resp := c.register(job)
			c.until("worked out", func(s *state.Snapshot) bool { return s.Evaluation(resp.EvalID).Status != api.EvalStatusPending })
			s := c.Store().Snapshot()
			if diff := cmp.Diff(total(plan.Nodes), total(placedBy(s, resp.EvalID, began))); diff != "" {
				c.Errorf("%s %s: started (-planned +happened):\n%s", job.Type, job.ID, diff)
			}
			if e := s.Evaluation(resp.EvalID); len(e.FailedGroups) != len(plan.FailedGroups) {
				c.Errorf("%s %s: planned failures %v, happened %v", job.Type, job.ID, plan.FailedGroups, e.FailedGroups)
			}
			c.pass(time.Second)
		}
	})
}

func TestPlanOfAJobThatStartsOthers(t *testing.T) {
	simulate(t, func(c *cluster) {
		c.addNode("n1", nil)
		now := time.Now()
		res := c.plan(periodicJob("nightly", api.Periodic{Specs: []string{"@hourly"}}))
		if want := now.Truncate(time.Hour).Add(time.Hour); !res.NextPeriodicLaunch.Equal(want) {
			c.Errorf("the next start is planned for %s, want %s", res.NextPeriodicLaunch, want)
		}
		if len(res.Annotations.DesiredUpdates) > 0 {
			c.Errorf("registering it would do %+v, want nothing", res.Annotations.DesiredUpdates)
		}
		if u := res.Start["work"]; u == nil || u.Place != 1 || res.Nodes["work"]["n1"] != 1 || len(res.FailedGroups) > 0 {
			c.Errorf("a start would do %+v on %v, failing %v; want 1 placed on n1", u, res.Nodes, res.FailedGroups)
		}
		job := parameterizedJob("import", api.Parameterized{Payload: api.PayloadRequired})
		job.Constraints = []*api.Constraint{{LTarget: "${node.datacenter}", RTarget: "moon", Operand: "="}}
		res = c.plan(job)
		if !res.NextPeriodicLaunch.IsZero() || res.FailedGroups["work"] == nil {
			c.Errorf("next start %s, failures %v; want none, and why a start finds no place", res.NextPeriodicLaunch, res.FailedGroups)
		}
		if res.Warnings == "" {
			c.Error("no warning of a payload that no task is given")
		}
	})
}

func TestPlanWarnsWhileJobsAreRejected(t *testing.T) {
	simulate(t, func(c *cluster) {
		if _, err := c.SetSchedulerConfig(c.Context(), &api.SetSchedulerConfigRequest{RejectJobRegistration: true}, nil); err != nil {
			c.Fatal(err)
		}
		c.pass(time.Second) // a new leader writes a root key, which must not seem to be written by the plan
		_, err := c.RegisterJob(c.Context(), &api.RegisterJobRequest{Job: batchJob("sum", 1)})
		if plan := c.plan(batchJob("sum", 1)); err == nil || !strings.Contains(plan.Warnings, err.Error()) {
			c.Errorf("registering says %v, and the plan warns %q", err, plan.Warnings)
		}
	})
}

func TestPlanListsWhatWouldBePreempted(t *testing.T) {
	simulate(t, func(c *cluster) {
		c.addNode("n1", nil)
		config := &api.SetSchedulerConfigRequest{}
		config.Preemption.ServiceSchedulerEnabled = true
		if _, err := c.SetSchedulerConfig(c.Context(), config, nil); err != nil {
			c.Fatal(err)
		}
		low := serviceJob("low", 10)
		low.Priority = 10
		c.register(low)
		c.until("the node is full", func(s *state.Snapshot) bool { return len(running(s, "low")) == 10 })
		c.pass(time.Minute)
		high := serviceJob("high", 2)
		high.Priority = 90
		res := c.plan(high)
		if n := len(res.Annotations.PreemptedAllocs); n != 2 || res.Annotations.DesiredUpdates["web"].Preemptions != 2 {
			c.Errorf("%d allocations would be preempted, counted %+v; want 2", n, res.Annotations.DesiredUpdates["web"])
		}
		for _, a := range res.Annotations.PreemptedAllocs {
			if a.JobID != "low" {
				c.Errorf("%s would be preempted", a.Name)
			}
		}
	})
}

// TestPlanSaysHowToOrderAFirstDeployment where a job looks as if it wanted that, and
// only as long as none of its versions was deployed.
func TestPlanSaysHowToOrderAFirstDeployment(t *testing.T) {
	simulate(t, func(c *cluster) {
		c.addNode("n1", nil)
		shop := serviceJob("shop", 2)
		second := *shop.Groups[0]
		second.Name = "second"
		shop.Groups = append(shop.Groups, &second)
		store := serviceJob("store", 3)
		store.Groups[0].EphemeralDisk = &api.EphemeralDisk{Sticky: ptr(true)}
		ordered := shop.Copy()
		ordered.ID, ordered.Plans = "ordered", []*api.PlanSpec{{Name: api.PlanDeploy, Strategy: api.StrategySerial}}
		system := serviceJob("agent", 1)
		system.Type = api.JobTypeSystem
		for _, tt := range []struct {
			job  *api.Job
			want string
		}{
			{shop, "all 4 instances at the same time, regardless of \"update\". To start them in order (it has 2 groups)"},
			{store, "all 3 instances at the same time, regardless of \"update\". To start them in order (group \"web\" keeps data with its instances)"},
			{ordered, ""},
			{serviceJob("web", 5), ""},
			{batchJob("sum", 5), ""},
			{system, ""},
		} {
			got := c.plan(tt.job).Warnings
			if tt.want == "" && strings.Contains(got, "at once") || !strings.Contains(got, tt.want) {
				c.Errorf("planning %s warns of %q, want %q", tt.job.ID, got, tt.want)
			}
		}
		c.register(shop)
		c.until("it is deployed", func(s *state.Snapshot) bool { return s.Job("default", "shop").Stable })
		c.pass(time.Second) // evaluations that follow the deployment end
		if got := c.plan(changed(shop, "v1")).Warnings; strings.Contains(got, "at once") {
			c.Errorf("planning what was deployed before warns of %q", got)
		}
	})
}
