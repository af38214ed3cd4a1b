// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package server_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/state"
)

// slowStart has every allocation run after a second and be healthy after ten.
func slowStart(_ *api.Allocation, job *api.Job) []event {
	if job.RunsToCompletion() {
		return []event{{after: time.Second, status: api.AllocClientRunning}, {after: 10 * time.Minute, status: api.AllocClientComplete}}
	}
	return []event{{after: time.Second, status: api.AllocClientRunning}, {after: 9 * time.Second, status: api.AllocClientRunning, healthy: healthy(true)}}
}

func (c *cluster) drain(node string, spec *api.DrainSpec) {
	c.Helper()
	if _, err := c.DrainNode(c.Context(), node, &api.NodeDrainRequest{DrainSpec: spec}); err != nil {
		c.Fatalf("drain %s: %v", node, err)
	}
}

func drained(nodes ...string) func(*state.Snapshot) bool {
	return func(s *state.Snapshot) bool {
		for _, id := range nodes {
			if r := s.Node(id).LastDrain; r == nil || r.Status != api.DrainStatusComplete {
				return false
			}
		}
		return true
	}
}

// serving counts a job's allocations that run, are healthy, and may stay or
// have not been told to go.
func serving(snap *state.Snapshot, job string) (n int) {
	for _, a := range running(snap, job) {
		if a.IsHealthy() {
			n++
		}
	}
	return n
}

// TestDrainsTogetherNeverTakeMoreThanMaxParallel drains half of the fleet at
// once and looks at every state on the way.
func TestDrainsTogetherNeverTakeMoreThanMaxParallel(t *testing.T) {
	simulate(t, func(c *cluster) {
		for i := range 4 {
			c.addNode(fmt.Sprintf("n%d", i), slowStart)
		}
		most := map[string]int{"one": 1, "two": 2}
		for name, parallel := range most {
			job := serviceJob(name, 8)
			job.Groups[0].Update.MaxParallel = ptr(8)
			job.Groups[0].Migrate = &api.Migrate{MaxParallel: ptr(parallel)}
			c.register(job)
		}
		c.until("all serve", func(s *state.Snapshot) bool { return serving(s, "one") == 8 && serving(s, "two") == 8 })
		c.drain("n0", &api.DrainSpec{Deadline: time.Hour})
		c.drain("n1", &api.DrainSpec{})
		began, worst := time.Now(), map[string]int{}
		c.until("both nodes are drained", func(s *state.Snapshot) bool {
			for name, parallel := range most {
				away := 8 - serving(s, name)
				worst[name] = max(worst[name], away)
				if away > parallel {
					c.Fatalf("%d instances of %s are away, max_parallel is %d\n%s", away, name, parallel, describe(s))
				}
			}
			return drained("n0", "n1")(s)
		})
		for name, parallel := range most {
			if worst[name] != parallel {
				t.Errorf("at most %d instances of %s were away, want that the drains use their max_parallel of %d", worst[name], name, parallel)
			}
		}
		for a := range c.Store().Snapshot().AllocationsByNode("n0") {
			if !a.IsClientTerminal() {
				t.Errorf("the drain is complete and %s is %s", a, a.ClientStatus)
			}
		}
		t.Logf("two of four nodes drained in %s", time.Since(began))
	})
}

func TestDrainWaitsForRoomAndUsesTheDeadline(t *testing.T) {
	simulate(t, func(c *cluster) {
		c.addNode("n0", slowStart)
		c.register(serviceJob("web", 2))
		c.register(batchJob("work", 1))
		c.until("all runs", func(s *state.Snapshot) bool { return serving(s, "web") == 2 && len(running(s, "work")) == 1 })
		c.drain("n0", &api.DrainSpec{Deadline: 5 * time.Minute})
		c.pass(4 * time.Minute)
		if got := serving(c.Store().Snapshot(), "web"); got != 2 {
			t.Fatalf("%d instances serve although there is no other node: want 2 until the deadline", got)
		}
		c.addNode("n1", slowStart)
		c.until("the services have moved", func(s *state.Snapshot) bool {
			n := 0
			for _, a := range running(s, "web") {
				if a.NodeID == "n1" && a.IsHealthy() {
					n++
				}
			}
			return n == 2
		})
		if drained("n0")(c.Store().Snapshot()) {
			t.Fatal("the drain is complete while the batch job runs")
		}
		c.until("the drain is complete", drained("n0"))
		r := c.Store().Snapshot().Node("n0").LastDrain
		if took := r.UpdatedAt.Sub(r.StartedAt); took < 5*time.Minute || took > 5*time.Minute+10*time.Second {
			t.Errorf("the drain took %s, want it to end at its deadline of 5m", took)
		}
		c.until("the batch job goes on elsewhere", func(s *state.Snapshot) bool {
			l := running(s, "work")
			return len(l) == 1 && l[0].NodeID == "n1"
		})
	})
}

func TestCancelledDrainLeavesThingsAlone(t *testing.T) {
	simulate(t, func(c *cluster) {
		c.addNode("n0", slowStart)
		c.register(serviceJob("web", 2))
		c.until("all runs", func(s *state.Snapshot) bool { return serving(s, "web") == 2 })
		c.drain("n0", &api.DrainSpec{})
		c.pass(time.Minute)
		if _, err := c.DrainNode(c.Context(), "n0", &api.NodeDrainRequest{MarkEligible: true}); err != nil {
			t.Fatal(err)
		}
		c.pass(time.Minute)
		snap := c.Store().Snapshot()
		if n := snap.Node("n0"); !n.IsReady() || n.LastDrain.Status != api.DrainStatusCanceled || serving(snap, "web") != 2 {
			t.Errorf("after the drain was cancelled the node is %s, its drain %s, and %d instances serve\n%s", n.SchedulingEligibility, n.LastDrain.Status, serving(snap, "web"), describe(snap))
		}
		for e := range snap.Evaluations() {
			if e.Status == api.EvalStatusBlocked || e.Status == api.EvalStatusPending {
				t.Errorf("evaluation of %s (%s) is %s though nothing is missing", e.JobID, e.TriggeredBy, e.Status)
			}
		}
		_, err := c.DrainNode(c.Context(), "n0", &api.NodeDrainRequest{})
		c.refused(err, api.CodeConflict, "not being drained")
	})
}

// Clients send MarkEligible with every request: it says nothing of a drain that
// begins.
func TestDrainThatBeginsLeavesTheNodeIneligible(t *testing.T) {
	simulate(t, func(c *cluster) {
		c.addNode("n0", slowStart)
		c.register(serviceJob("web", 2))
		c.until("all runs", func(s *state.Snapshot) bool { return serving(s, "web") == 2 })
		if _, err := c.DrainNode(c.Context(), "n0", &api.NodeDrainRequest{DrainSpec: &api.DrainSpec{Deadline: time.Hour}, MarkEligible: true}); err != nil {
			t.Fatal(err)
		}
		if n := c.Store().Snapshot().Node("n0"); n.DrainStrategy == nil || n.SchedulingEligibility != api.NodeIneligible {
			t.Errorf("the drained node is %s with the strategy %+v: want it ineligible, and drained", n.SchedulingEligibility, n.DrainStrategy)
		}
	})
}

func TestPurgedNodesAllocationsAreReplaced(t *testing.T) {
	simulate(t, func(c *cluster) {
		c.addNode("n0", nil)
		c.register(serviceJob("web", 2))
		c.until("all runs", func(s *state.Snapshot) bool { return len(running(s, "web")) == 2 })
		c.addNode("n1", nil)
		resp, err := c.PurgeNode(c.Context(), "n0")
		if err != nil || len(resp.EvalIDs) != 1 {
			t.Fatalf("purge: %+v, %v; want one evaluation", resp, err)
		}
		c.until("all runs elsewhere", func(s *state.Snapshot) bool {
			l := running(s, "web")
			return len(l) == 2 && l[0].NodeID == "n1" && l[1].NodeID == "n1"
		})
		_, err = c.PurgeNode(c.Context(), "n0")
		c.refused(err, api.CodeNotFound, "n0")
	})
}

// TestManyNodesThatReturnTogetherMakeFewEvaluations loses a fleet and has it
// back.
func TestManyNodesThatReturnTogetherMakeFewEvaluations(t *testing.T) {
	simulate(t, func(c *cluster) {
		for i := range 15 { // fewer than a mass loss has
			c.addNode(fmt.Sprintf("n%02d", i), nil)
		}
		job := serviceJob("web", 150)
		job.Groups[0].Disconnect = &api.Disconnect{LostAfter: ptr(time.Hour), Replace: ptr(false)}
		c.register(job)
		c.until("all runs", func(s *state.Snapshot) bool { return len(running(s, "web")) == 150 })
		for _, n := range c.nodes {
			n.kill()
		}
		c.pass(time.Minute)
		count := func(trigger string) (n int) {
			for e := range c.Store().Snapshot().EvaluationsByJob("default", "web") {
				if e.TriggeredBy == trigger {
					n++
				}
			}
			return n
		}
		for n := range c.Store().Snapshot().Nodes() {
			if n.Status != api.NodeStatusDisconnected {
				t.Fatalf("node %s is %s, want it disconnected", n.ID, n.Status)
			}
		}
		if got := count(api.TriggerNodeUpdate); got > 10 {
			t.Errorf("15 nodes that went silent together made %d evaluations of their one job", got)
		}
		for id := range c.nodes {
			go c.Heartbeat(c.Context(), id)
		}
		c.pass(time.Second)
		if got := count(api.TriggerAllocReconnect); got == 0 || got > 3 {
			t.Errorf("15 nodes that returned together made %d evaluations of their one job", got)
		}
	})
}

// TestNodesThatRegisterTogetherRunSystemJobs registers a fleet at once: a system
// job gets its instances by few evaluations.
func TestNodesThatRegisterTogetherRunSystemJobs(t *testing.T) {
	simulate(t, func(c *cluster) {
		const nodes = 1000
		job := serviceJob("logs", 0)
		job.Type, job.Groups[0].Count, job.Groups[0].Update = api.JobTypeSystem, nil, nil
		c.register(job)
		c.register(serviceJob("web", 1))
		for i := range nodes {
			c.addNode(fmt.Sprintf("n%04d", i), nil) // five milliseconds each
		}
		c.until("every node runs it", func(s *state.Snapshot) bool { return len(running(s, "logs")) == nodes })
		evaluations := 0
		for e := range c.Store().Snapshot().EvaluationsByJob("default", "logs") {
			if e.TriggeredBy == api.TriggerNodeUpdate {
				evaluations++
			}
		}
		if evaluations > 40 {
			t.Errorf("%d nodes that registered together made %d evaluations of one system job", nodes, evaluations)
		}
		t.Logf("%d nodes, %d evaluations of the system job", nodes, evaluations)
	})
}
