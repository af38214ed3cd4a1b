// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package server_test

import (
	"strings"
	"testing"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/server"
	"github.com/reeve-run/reeve/internal/state"
)

// refused checks that a verb failed for the expected reason.
func (c *cluster) refused(err error, code api.ErrorCode, mention string) {
	c.Helper()
	switch {
	case err == nil:
		c.Errorf("accepted, want %s: ...%s...", code, mention)
	case api.CodeOf(err) != code || !strings.Contains(err.Error(), mention):
		c.Errorf("refused with %s: %v\nwant %s: ...%s...", api.CodeOf(err), err, code, mention)
	}
}

func TestRegisterRefusesWhatIsWrong(t *testing.T) {
	simulate(t, func(c *cluster) {
		job := serviceJob("web", 1)
		job.Groups = nil
		_, err := c.RegisterJob(c.Context(), &api.RegisterJobRequest{Job: job})
		c.refused(err, api.CodeInvalid, "group")

		job = serviceJob("web", 1)
		job.Groups[0].Consul = &api.Consul{Namespace: "x"}
		_, err = c.RegisterJob(c.Context(), &api.RegisterJobRequest{Job: job})
		c.refused(err, api.CodeInvalid, "onsul")

		_, err = c.RegisterJob(c.Context(), &api.RegisterJobRequest{})
		c.refused(err, api.CodeInvalid, "Job")

		_, err = c.RegisterJob(c.Context(), &api.RegisterJobRequest{Job: serviceJob("web", 1), EvalPriority: 101})
		c.refused(err, api.CodeInvalid, "EvalPriority is 101")

		c.register(serviceJob("web", 1))
		_, err = c.RegisterJob(c.Context(), &api.RegisterJobRequest{Job: batchJob("web", 1)})
		c.refused(err, api.CodeInvalid, "is a service job and cannot become a batch job")
		if v := c.Store().Snapshot().Job("default", "web").Version; v != 0 {
			c.Errorf("version is %d after refused registrations, want 0", v)
		}
	})
}

func TestRegisterChecksTheIndex(t *testing.T) {
	simulate(t, func(c *cluster) {
		first := c.register(serviceJob("web", 1))
		enforce := func(index uint64) error {
			_, err := c.RegisterJob(c.Context(), &api.RegisterJobRequest{
				Job: changed(serviceJob("web", 1), "x"), EnforceIndex: true, JobModifyIndex: index,
			})
			return err
		}
		c.refused(enforce(0), api.CodeConflict, "exists")
		c.refused(enforce(first.JobModifyIndex+100), api.CodeConflict, "modify index")
		if err := enforce(first.JobModifyIndex); err != nil {
			c.Errorf("with the right index: %v", err)
		}
	})
}

func TestRegisterAgainMakesAnEvaluationButNoVersion(t *testing.T) {
	simulate(t, func(c *cluster) {
		job := serviceJob("web", 1)
		first := c.register(job)
		second := c.register(job)
		if first.EvalID == second.EvalID || second.EvalID == "" {
			c.Errorf("evaluations are %q and %q, want two", first.EvalID, second.EvalID)
		}
		if v := c.Store().Snapshot().Job("default", "web").Version; v != 0 {
			c.Errorf("version is %d, want 0", v)
		}
	})
}

func TestRegisterPreservesCounts(t *testing.T) {
	simulate(t, func(c *cluster) {
		c.register(serviceJob("web", 7))
		_, err := c.RegisterJob(c.Context(), &api.RegisterJobRequest{Job: changed(serviceJob("web", 1), "x"), PreserveCounts: true})
		if err != nil {
			c.Fatal(err)
		}
		if got := c.Store().Snapshot().Job("default", "web").Groups[0].Size(); got != 7 {
			c.Errorf("count is %d, want the stored 7", got)
		}
	})
}

func TestRegisterPreservesResources(t *testing.T) {
	simulate(t, func(c *cluster) {
		job := serviceJob("web", 1)
		job.Groups[0].Tasks[0].Resources = &api.Resources{CPU: ptr(700), MemoryMB: ptr(70)}
		c.register(job)
		job = changed(serviceJob("web", 3), "x")
		job.Groups[0].Tasks[0].Resources = &api.Resources{CPU: ptr(1), MemoryMB: ptr(10)}
		if _, err := c.RegisterJob(c.Context(), &api.RegisterJobRequest{Job: job, PreserveResources: true}); err != nil {
			c.Fatal(err)
		}
		g := c.Store().Snapshot().Job("default", "web").Groups[0]
		if r := g.Tasks[0].Resources; *r.CPU != 700 || *r.MemoryMB != 70 || g.Size() != 3 {
			c.Errorf("the task has %d MHz and %d MB, the group %d instances: want the stored 700 and 70, and 3", *r.CPU, *r.MemoryMB, g.Size())
		}
	})
}

func TestStopAndPurge(t *testing.T) {
	simulate(t, func(c *cluster) {
		c.addNode("n1", nil)
		for _, id := range []string{"stopped", "purged"} {
			c.register(serviceJob(id, 2))
			c.until("runs", func(s *state.Snapshot) bool { return len(running(s, id)) == 2 })
			if _, err := c.DeregisterJob(c.Context(), "default", id, server.DeregisterOptions{Purge: id == "purged"}); err != nil {
				c.Fatal(err)
			}
			c.until("all ended", func(s *state.Snapshot) bool {
				for a := range s.AllocationsByJob("default", id) {
					if !a.IsClientTerminal() {
						return false
					}
				}
				return true
			})
		}
		c.until("the stopped job is dead", func(s *state.Snapshot) bool {
			job := s.Job("default", "stopped")
			return job != nil && job.Stop && job.Status == api.JobStatusDead
		})
		c.until("the purged job is forgotten", func(s *state.Snapshot) bool { return s.Job("default", "purged") == nil })
		_, err := c.DeregisterJob(c.Context(), "default", "none", server.DeregisterOptions{})
		c.refused(err, api.CodeNotFound, `"none"`)
	})
}

func TestScale(t *testing.T) {
	simulate(t, func(c *cluster) {
		c.addNode("n1", nil)
		job := serviceJob("web", 2)
		job.Groups[0].Scaling = &api.Scaling{Min: ptr(int64(1)), Max: ptr(int64(5)), Enabled: ptr(true)}
		c.register(job)
		c.until("2 run", func(s *state.Snapshot) bool { return len(running(s, "web")) == 2 })
		scale := func(group string, count int64) error {
			_, err := c.ScaleJob(c.Context(), "default", "web", &api.ScaleJobRequest{
				Target: map[string]string{"Group": group}, Count: &count, Message: "test",
			})
			return err
		}
		if err := scale("web", 5); err != nil {
			c.Fatal(err)
		}
		c.until("5 run", func(s *state.Snapshot) bool { return len(running(s, "web")) == 5 })
		if err := scale("web", 1); err != nil {
			c.Fatal(err)
		}
		c.until("1 runs", func(s *state.Snapshot) bool { return len(running(s, "web")) == 1 })
		if left := running(c.Store().Snapshot(), "web")[0]; left.Index() != 0 {
			c.Errorf("instance %d is left, want 0: the highest go first", left.Index())
		}
		c.refused(scale("web", 6), api.CodeInvalid, "no more than 5")
		c.refused(scale("web", 0), api.CodeInvalid, "no less than 1")
		c.refused(scale("db", 1), api.CodeInvalid, `it has "web"`)
		c.refused(scale("", 1), api.CodeInvalid, `has "web"`)
		events := c.Store().Snapshot().ScalingEvents("default", "web")["web"]
		if len(events) != 2 || *events[0].Count != 1 || events[0].PreviousCount != 5 {
			c.Errorf("scaling events: %+v, want 2, the last from 5 to 1", events)
		}
	})
}

func TestRevert(t *testing.T) {
	simulate(t, func(c *cluster) {
		c.addNode("n1", nil)
		job := serviceJob("web", 1)
		c.register(job)
		c.until("deployed", func(s *state.Snapshot) bool { return deploymentStatus(s, "web") == api.DeploymentSuccessful })
		c.register(changed(job, "v1"))
		revert := func(req *api.RevertJobRequest) error {
			req.JobID, req.Namespace = "web", "default"
			_, err := c.RevertJob(c.Context(), req)
			return err
		}
		c.refused(revert(&api.RevertJobRequest{JobVersion: 1}), api.CodeInvalid, "already")
		c.refused(revert(&api.RevertJobRequest{JobVersion: 9}), api.CodeNotFound, "it has 1, 0")
		c.refused(revert(&api.RevertJobRequest{JobVersion: 0, EnforcePriorVersion: ptr(uint64(7))}), api.CodeConflict, "not at 7")
		if err := revert(&api.RevertJobRequest{JobVersion: 0, EnforcePriorVersion: ptr(uint64(1))}); err != nil {
			c.Fatal(err)
		}
		c.until("version 2 deployed", func(s *state.Snapshot) bool {
			d := s.LatestDeployment("default", "web")
			return d.JobVersion == 2 && d.Status == api.DeploymentSuccessful
		})
		snap := c.Store().Snapshot()
		if !api.SpecEqual(snap.Job("default", "web"), snap.JobVersion("default", "web", 0)) {
			c.Error("version 2 is not what version 0 was")
		}
	})
}

func TestStopAllocationIsReplaced(t *testing.T) {
	simulate(t, func(c *cluster) {
		c.addNode("n1", nil)
		c.register(serviceJob("web", 1))
		c.until("runs", func(s *state.Snapshot) bool { return deploymentStatus(s, "web") == api.DeploymentSuccessful })
		old := running(c.Store().Snapshot(), "web")[0]
		if _, err := c.StopAllocation(c.Context(), old.ID, server.StopOptions{}); err != nil {
			c.Fatal(err)
		}
		c.until("another runs", func(s *state.Snapshot) bool {
			now := running(s, "web")
			return len(now) == 1 && now[0].ID != old.ID && s.Allocation(old.ID).IsClientTerminal()
		})
		_, err := c.StopAllocation(c.Context(), old.ID, server.StopOptions{})
		c.refused(err, api.CodeInvalid, "not running")
		_, err = c.StopAllocation(c.Context(), "nope", server.StopOptions{})
		c.refused(err, api.CodeNotFound, "nope")
	})
}

func TestStopAllocationMayCountAsAnAttempt(t *testing.T) {
	simulate(t, func(c *cluster) {
		c.addNode("n1", nil)
		c.addNode("n2", nil)
		c.register(serviceJob("web", 1))
		c.until("runs", func(s *state.Snapshot) bool { return deploymentStatus(s, "web") == api.DeploymentSuccessful })
		old := running(c.Store().Snapshot(), "web")[0]
		if _, err := c.StopAllocation(c.Context(), old.ID, server.StopOptions{Reschedule: true}); err != nil {
			c.Fatal(err)
		}
		c.until("another runs", func(s *state.Snapshot) bool {
			now := running(s, "web")
			return len(now) == 1 && now[0].ID != old.ID
		})
		a := running(c.Store().Snapshot(), "web")[0]
		if tr := a.RescheduleTracker; tr == nil || len(tr.Events) != 1 || tr.Events[0].PrevAllocID != old.ID || a.NodeID == old.NodeID {
			c.Errorf("%s runs on %s with the history %+v: want one attempt before, and another node than %s", a, a.NodeID, tr, old.NodeID)
		}
	})
}

func TestPlanChangesNothing(t *testing.T) {
	simulate(t, func(c *cluster) {
		c.addNode("n1", nil)
		job := serviceJob("web", 2)
		c.register(job)
		c.until("deployed", func(s *state.Snapshot) bool { return deploymentStatus(s, "web") == api.DeploymentSuccessful })
		c.pass(time.Second)
		before := c.Store().Index()
		plan := func(job *api.Job) *api.PlanJobResponse {
			res, err := c.PlanJob(c.Context(), &api.PlanJobRequest{Job: job, Diff: true})
			if err != nil {
				c.Fatal(err)
			}
			return res
		}
		same := plan(job)
		if same.Diff.Type != "None" {
			c.Errorf("diff of the same job is %q, want None", same.Diff.Type)
		}
		if u := same.Annotations.DesiredUpdates["web"]; u == nil || u.Ignore != 2 {
			c.Errorf("planned updates of the same job: %+v, want 2 ignored", u)
		}
		bigger := job.Copy()
		bigger.Groups[0].Count = ptr(20)
		res := plan(bigger)
		if u := res.Annotations.DesiredUpdates["web"]; u == nil || u.Place != 18 {
			c.Errorf("planned updates: %+v, want 18 placed", u)
		}
		if m := res.FailedGroups["web"]; m == nil {
			c.Error("20 instances do not fit on the node, but the plan does not say so")
		}
		if res.JobModifyIndex != c.Store().Snapshot().Job("default", "web").JobModifyIndex {
			c.Errorf("JobModifyIndex is %d, want the stored one", res.JobModifyIndex)
		}
		if now := c.Store().Index(); now != before {
			c.Errorf("planning moved the state from %d to %d", before, now)
		}
	})
}
