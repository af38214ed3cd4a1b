// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package server_test

import (
	"strings"
	"testing"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/state"
)

// rolling starts an update of a deployed job of four instances, one of which
// turns healthy every minute, and returns the update's deployment.
func (c *cluster) rolling(autoRevert bool) *api.Deployment {
	c.Helper()
	c.addNode("n1", func(_ *api.Allocation, job *api.Job) []event {
		wait := time.Duration(0)
		if job.Version > 0 {
			wait = time.Minute
		}
		return []event{{status: api.AllocClientRunning}, {after: wait, status: api.AllocClientRunning, healthy: healthy(true)}}
	})
	job := serviceJob("web", 4)
	job.Groups[0].Update.AutoRevert = &autoRevert
	job.Groups[0].Update.HealthyDeadline, job.Groups[0].Update.ProgressDeadline = ptr(3*time.Minute), ptr(4*time.Minute)
	c.register(job)
	c.until("deployed", func(s *state.Snapshot) bool { return deploymentStatus(s, "web") == api.DeploymentSuccessful })
	c.register(changed(job, "v1"))
	c.until("rolling", func(s *state.Snapshot) bool {
		d := s.LatestDeployment("default", "web")
		return d.JobVersion == 1 && d.Groups["web"].PlacedAllocs == 1
	})
	return c.Store().Snapshot().LatestDeployment("default", "web")
}

func TestPausedDeploymentHoldsStill(t *testing.T) {
	simulate(t, func(c *cluster) {
		d := c.rolling(false)
		_, err := c.PauseDeployment(c.Context(), d.ID, &api.DeploymentPauseRequest{Pause: false})
		c.refused(err, api.CodeInvalid, "not paused")
		if _, err := c.PauseDeployment(c.Context(), d.ID, &api.DeploymentPauseRequest{Pause: true, By: "ana", Reason: "lunch"}); err != nil {
			c.Fatal(err)
		}
		_, err = c.PauseDeployment(c.Context(), d.ID, &api.DeploymentPauseRequest{Pause: true})
		c.refused(err, api.CodeInvalid, "paused already")
		if all := c.Store().Snapshot().Decisions("default", "web"); len(all) != 1 || all[0].By != "ana" || all[0].Reason != "lunch" {
			c.Fatalf("decisions on the plan: %+v, want one of ana, because of lunch", all)
		}
		c.pass(time.Hour)
		d = c.Store().Snapshot().Deployment(d.ID)
		if d.Status != api.DeploymentPaused || d.Groups["web"].PlacedAllocs != 1 {
			c.Fatalf("after an hour the paused deployment is %s with %d placed, want it paused with 1", d.Status, d.Groups["web"].PlacedAllocs)
		}
		if _, err := c.PauseDeployment(c.Context(), d.ID, &api.DeploymentPauseRequest{Pause: false}); err != nil {
			c.Fatal(err)
		}
		c.until("successful", func(s *state.Snapshot) bool { return s.Deployment(d.ID).Status == api.DeploymentSuccessful })
		_, err = c.PauseDeployment(c.Context(), d.ID, &api.DeploymentPauseRequest{Pause: true})
		c.refused(err, api.CodeInvalid, "ended")
		_, err = c.PauseDeployment(c.Context(), "nope", &api.DeploymentPauseRequest{Pause: true})
		c.refused(err, api.CodeNotFound, "nope")
	})
}

func TestFailDeploymentByHand(t *testing.T) {
	for _, revert := range []bool{false, true} {
		simulate(t, func(c *cluster) {
			d := c.rolling(revert)
			res, err := c.FailDeployment(c.Context(), d.ID)
			if err != nil {
				c.Fatal(err)
			}
			if (res.RevertedJobVersion != nil) != revert {
				c.Errorf("auto_revert %t: reverted to %v", revert, res.RevertedJobVersion)
			}
			c.pass(10 * time.Minute)
			snap := c.Store().Snapshot()
			failed := snap.Deployment(d.ID)
			if failed.Status != api.DeploymentFailed || strings.Contains(failed.StatusDescription, "rolling back") != revert {
				c.Errorf("auto_revert %t: the deployment is %s (%s)", revert, failed.Status, failed.StatusDescription)
			}
			if want := uint64(1); revert {
				want = 2
				if v := snap.Job("default", "web").Version; v != want {
					c.Errorf("the job is at version %d, want %d", v, want)
				}
			} else if v := snap.Job("default", "web").Version; v != want {
				c.Errorf("the job is at version %d, want it left at %d", v, want)
			}
			if n := len(running(snap, "web")); n != 4 {
				c.Errorf("auto_revert %t: %d instances run, want 4\n%s", revert, n, describe(snap))
			}
		})
	}
}

// The cause of a failure may have been outside of the job.
func TestAnEqualJobIsDeployedAgainAfterAFailure(t *testing.T) {
	simulate(t, func(c *cluster) {
		c.addNode("n1", func(*api.Allocation, *api.Job) []event {
			return []event{{status: api.AllocClientRunning}, {status: api.AllocClientRunning, healthy: healthy(false)}}
		})
		job := serviceJob("web", 2)
		c.register(job.Copy())
		c.until("failed", func(s *state.Snapshot) bool { return deploymentStatus(s, "web") == api.DeploymentFailed })
		planned, err := c.PlanJob(c.Context(), &api.PlanJobRequest{Job: job.Copy()})
		if err != nil || planned.Annotations == nil || planned.Annotations.DesiredUpdates["web"].InPlaceUpdate != 2 {
			c.Errorf("the plan is %+v, %v; want both instances updated in place", planned, err)
		}
		c.register(job.Copy())
		c.until("deployed again", func(s *state.Snapshot) bool {
			d := s.LatestDeployment("default", "web")
			return d.JobVersion == 1 && d.IsActive() && len(s.JobVersions("default", "web")) == 2
		})
		for _, a := range running(c.Store().Snapshot(), "web") {
			if a.JobVersion() != 1 || a.IsUnhealthy() {
				c.Errorf("%s is of version %d, unhealthy %t; want it to be judged anew", a.Name, a.JobVersion(), a.IsUnhealthy())
			}
		}
		c.register(job.Copy())
		if v := c.Store().Snapshot().Job("default", "web").Version; v != 1 {
			c.Errorf("a job whose deployment runs is at version %d, want 1", v)
		}
	})
}

func TestDeploymentWithoutProgressFails(t *testing.T) {
	simulate(t, func(c *cluster) {
		c.addNode("n1", func(*api.Allocation, *api.Job) []event {
			return []event{{status: api.AllocClientRunning}} // never healthy
		})
		began := time.Now()
		c.register(serviceJob("web", 2))
		c.until("failed", func(s *state.Snapshot) bool { return deploymentStatus(s, "web") == api.DeploymentFailed })
		if took := time.Since(began); took < 2*time.Minute || took > 2*time.Minute+time.Second {
			c.Errorf("failed after %s, want the progress deadline of 2m", took)
		}
		if d := c.Store().Snapshot().LatestDeployment("default", "web"); !strings.Contains(d.StatusDescription, "progress deadline") {
			c.Errorf("description %q does not name the progress deadline", d.StatusDescription)
		}
	})
}

func TestDeploymentFailsWithItsLastAttempt(t *testing.T) {
	simulate(t, func(c *cluster) {
		c.addNode("n1", func(*api.Allocation, *api.Job) []event {
			return []event{{status: api.AllocClientRunning}, {after: time.Second, status: api.AllocClientFailed}}
		})
		job := serviceJob("web", 1)
		job.Groups[0].Reschedule = &api.Reschedule{Attempts: ptr(0), Unlimited: ptr(false)}
		c.register(job)
		c.within(2*time.Second, "failed", func(s *state.Snapshot) bool { return deploymentStatus(s, "web") == api.DeploymentFailed })
	})
}

func TestForcedEvaluationRestartsWhatGaveUp(t *testing.T) {
	simulate(t, func(c *cluster) {
		c.addNode("n1", func(*api.Allocation, *api.Job) []event {
			return []event{{status: api.AllocClientRunning}, {after: time.Second, status: api.AllocClientFailed}}
		})
		job := batchJob("once", 1)
		job.Groups[0].Reschedule = &api.Reschedule{Attempts: ptr(0), Unlimited: ptr(false)}
		c.register(job)
		c.pass(time.Hour)
		if n := attempts(c.Store().Snapshot(), "once"); n != 1 {
			c.Fatalf("%d attempts without rescheduling, want 1", n)
		}
		if _, err := c.EvaluateJob(c.Context(), "default", "once", false); err != nil {
			c.Fatal(err)
		}
		c.pass(time.Minute)
		if n := attempts(c.Store().Snapshot(), "once"); n != 1 {
			c.Errorf("%d attempts after an evaluation, want still 1", n)
		}
		if _, err := c.EvaluateJob(c.Context(), "default", "once", true); err != nil {
			c.Fatal(err)
		}
		c.pass(time.Minute)
		if n := attempts(c.Store().Snapshot(), "once"); n != 2 {
			c.Errorf("%d attempts after a forced evaluation, want 2", n)
		}
	})
}

func attempts(s *state.Snapshot, job string) (n int) {
	for range s.AllocationsByJob("default", job) {
		n++
	}
	return n
}
