// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package server_test

import (
	"testing"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/server"
	"github.com/reeve-run/reeve/internal/state"
)

func TestServiceDeploysSuccessfully(t *testing.T) {
	simulate(t, func(c *cluster) {
		c.addNode("n1", nil)
		res := c.register(serviceJob("web", 3))
		c.until("deployment successful", func(s *state.Snapshot) bool {
			return deploymentStatus(s, "web") == api.DeploymentSuccessful
		})
		snap := c.Store().Snapshot()
		if got := len(running(snap, "web")); got != 3 {
			c.Errorf("%d instances run, want 3\n%s", got, describe(snap))
		}
		if job := snap.Job("default", "web"); !job.Stable || job.Status != api.JobStatusRunning {
			c.Errorf("job is %s, stable %t; want it running and stable", job.Status, job.Stable)
		}
		e := snap.Evaluation(res.EvalID)
		if e.Status != api.EvalStatusComplete || e.DeploymentID == "" {
			c.Errorf("evaluation is %s with deployment %q; want it complete with one", e.Status, e.DeploymentID)
		}
	})
}

func TestBatchRunsToCompletion(t *testing.T) {
	simulate(t, func(c *cluster) {
		c.addNode("n1", nil)
		c.register(batchJob("sum", 2))
		c.until("job dead", func(s *state.Snapshot) bool { return s.Job("default", "sum").Status == api.JobStatusDead })
		done := 0
		for a := range c.Store().Snapshot().AllocationsByJob("default", "sum") {
			if a.ClientStatus == api.AllocClientComplete {
				done++
			}
		}
		if done != 2 {
			c.Errorf("%d allocations completed, want 2\n%s", done, describe(c.Store().Snapshot()))
		}
	})
}

func TestRollingUpdateKeepsInstancesServing(t *testing.T) {
	simulate(t, func(c *cluster) {
		c.addNode("n1", func(_ *api.Allocation, _ *api.Job) []event {
			return []event{{after: time.Second, status: api.AllocClientRunning}, {after: 10 * time.Second, status: api.AllocClientRunning, healthy: healthy(true)}}
		})
		job := serviceJob("web", 4)
		c.register(job)
		c.until("first deployment", func(s *state.Snapshot) bool { return deploymentStatus(s, "web") == api.DeploymentSuccessful })
		c.register(changed(job, "v1"))
		c.until("second deployment", func(s *state.Snapshot) bool {
			serving := 0
			for _, a := range running(s, "web") {
				if a.JobVersion() == 0 || a.IsHealthy() {
					serving++
				}
			}
			if serving < 3 {
				c.Fatalf("only %d of 4 instances serve although max_parallel is 1\n%s", serving, describe(s))
			}
			d := s.LatestDeployment("default", "web")
			return d.JobVersion == 1 && d.Status == api.DeploymentSuccessful
		})
		for _, a := range running(c.Store().Snapshot(), "web") {
			if a.JobVersion() != 1 {
				c.Errorf("allocation %s still runs version %d", a, a.JobVersion())
			}
		}
	})
}

func TestFailedUpdateRevertsItself(t *testing.T) {
	simulate(t, func(c *cluster) {
		c.addNode("n1", func(_ *api.Allocation, job *api.Job) []event {
			if job.Groups[0].Tasks[0].Config["stdout_string"] == "broken" {
				return []event{{status: api.AllocClientRunning}, {after: time.Second, status: api.AllocClientRunning, healthy: healthy(false)}}
			}
			return []event{{status: api.AllocClientRunning, healthy: healthy(true)}}
		})
		job := serviceJob("web", 2)
		job.Groups[0].Update.AutoRevert = ptr(true)
		job.Groups[0].Update.ProgressDeadline = ptr(time.Duration(0))
		c.register(job)
		c.until("first deployment", func(s *state.Snapshot) bool { return deploymentStatus(s, "web") == api.DeploymentSuccessful })
		c.register(changed(job, "broken"))
		c.until("reverted", func(s *state.Snapshot) bool {
			d := s.LatestDeployment("default", "web")
			return d.JobVersion == 2 && d.Status == api.DeploymentSuccessful && len(running(s, "web")) == 2
		})
		snap := c.Store().Snapshot()
		if !api.SpecEqual(snap.Job("default", "web"), snap.JobVersion("default", "web", 0)) {
			c.Error("the job is not what it was before the failed update")
		}
		failed := ""
		for d := range snap.DeploymentsByJob("default", "web") {
			if d.JobVersion == 1 {
				failed = d.Status
			}
		}
		if failed != api.DeploymentFailed {
			c.Errorf("deployment of version 1 is %q, want it failed", failed)
		}
	})
}

func TestNodeDownIsReplacedElsewhere(t *testing.T) {
	simulate(t, func(c *cluster) {
		c.addNode("n1", nil)
		c.addNode("n2", nil)
		c.register(serviceJob("web", 4))
		c.until("4 run", func(s *state.Snapshot) bool { return len(running(s, "web")) == 4 })
		silent := time.Now()
		c.nodes["n1"].kill()
		c.until("all on n2", func(s *state.Snapshot) bool {
			here := 0
			for _, a := range running(s, "web") {
				if a.NodeID == "n2" {
					here++
				}
			}
			return here == 4
		})
		if took := time.Since(silent); took > 20*time.Second {
			c.Errorf("replaced after %s, want at most 20s", took)
		}
		c.until("what is replaced is lost", func(s *state.Snapshot) bool {
			for a := range s.AllocationsByNode("n1") {
				if a.ClientStatus != api.AllocClientLost {
					return false
				}
			}
			return true
		})
		snap := c.Store().Snapshot()
		if got := snap.Node("n1").Status; got != api.NodeStatusDown {
			c.Errorf("node is %s, want it down", got)
		}
	})
}

func TestBlockedUntilANodeArrives(t *testing.T) {
	simulate(t, func(c *cluster) {
		res := c.register(serviceJob("web", 2))
		c.until("blocked", func(s *state.Snapshot) bool {
			e := s.Evaluation(res.EvalID)
			return e.Status == api.EvalStatusComplete && e.BlockedEval != "" && s.Evaluation(e.BlockedEval) != nil
		})
		id := c.Store().Snapshot().Evaluation(res.EvalID).BlockedEval
		if e := c.Store().Snapshot().Evaluation(id); e.Status != api.EvalStatusBlocked || e.QueuedAllocations["web"] != 2 {
			c.Fatalf("evaluation is %s with %v queued; want it blocked with 2", e.Status, e.QueuedAllocations)
		}
		c.addNode("n1", nil)
		c.within(time.Second, "2 run", func(s *state.Snapshot) bool { return len(running(s, "web")) == 2 })
		if e := c.Store().Snapshot().Evaluation(id); e.Status != api.EvalStatusComplete {
			c.Errorf("the blocked evaluation is %s, want it complete", e.Status)
		}
	})
}

func TestBlockedUntilRoomIsFreed(t *testing.T) {
	simulate(t, func(c *cluster) {
		c.addNode("n1", nil)
		c.register(serviceJob("big", 10))
		c.until("full", func(s *state.Snapshot) bool { return len(running(s, "big")) == 10 })
		c.register(serviceJob("late", 1))
		c.until("blocked", func(s *state.Snapshot) bool {
			for e := range s.EvaluationsByJob("default", "late") {
				if e.Status == api.EvalStatusBlocked {
					return true
				}
			}
			return false
		})
		if _, err := c.DeregisterJob(c.Context(), "default", "big", server.DeregisterOptions{}); err != nil {
			c.Fatal(err)
		}
		c.within(time.Second, "late runs", func(s *state.Snapshot) bool { return len(running(s, "late")) == 1 })
	})
}

func TestFailedInstancesAreRescheduledWithBackoff(t *testing.T) {
	simulate(t, func(c *cluster) {
		starts := make(chan time.Time, 100)
		c.addNode("n1", func(*api.Allocation, *api.Job) []event {
			starts <- time.Now()
			return []event{{status: api.AllocClientRunning}, {after: time.Second, status: api.AllocClientFailed}}
		})
		job := serviceJob("crash", 1)
		job.Groups[0].Update = &api.Update{MaxParallel: ptr(0)}
		job.Groups[0].Reschedule = &api.Reschedule{
			Unlimited: ptr(true), Delay: ptr(10 * time.Second), MaxDelay: ptr(time.Minute), DelayFunction: ptr(api.DelayExponential),
		}
		c.register(job)
		last := <-starts
		for i, want := range []time.Duration{10 * time.Second, 20 * time.Second, 40 * time.Second} {
			now := <-starts
			got := now.Sub(last) - time.Second
			last = now
			if got < want || got > want+want/2+time.Second {
				c.Errorf("attempt %d came %s after the failure, want about %s", i+2, got, want)
			}
		}
	})
}

func TestNodeComesBack(t *testing.T) {
	simulate(t, func(c *cluster) {
		c.addNode("n1", nil)
		c.register(serviceJob("web", 1))
		c.until("runs", func(s *state.Snapshot) bool { return len(running(s, "web")) == 1 })
		node := c.nodes["n1"].node
		c.nodes["n1"].kill()
		c.until("down", func(s *state.Snapshot) bool { return s.Node("n1").Status == api.NodeStatusDown })
		c.connect(node, nil)
		c.within(5*time.Second, "runs again", func(s *state.Snapshot) bool {
			return s.Node("n1").Status == api.NodeStatusReady && len(running(s, "web")) == 1
		})
	})
}
