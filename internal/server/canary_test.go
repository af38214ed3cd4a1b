// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package server_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/state"
)

// canaryJob has three instances and as many canaries as told.
func canaryJob(canaries int) *api.Job {
	job := serviceJob("web", 3)
	job.Groups[0].Update.Canary = ptr(canaries)
	return job
}

// updated registers the job, and when that is deployed a changed one; it returns
// the second's deployment when its canaries are as told.
func (c *cluster) updated(job, to *api.Job, ready func(*api.DeploymentState) bool) *api.Deployment {
	c.Helper()
	c.register(job)
	c.until("deployed", func(s *state.Snapshot) bool { return deploymentStatus(s, "web") == api.DeploymentSuccessful })
	c.register(to)
	c.until("canaries", func(s *state.Snapshot) bool {
		d := s.LatestDeployment("default", "web")
		return d.JobVersion == 1 && ready(d.Groups["web"])
	})
	return c.Store().Snapshot().LatestDeployment("default", "web")
}

func versions(snap *state.Snapshot) (all []uint64) {
	for _, a := range running(snap, "web") {
		all = append(all, a.JobVersion())
	}
	slices.Sort(all)
	return all
}

func TestCanaryIsPromotedByHand(t *testing.T) {
	simulate(t, func(c *cluster) {
		c.addNode("n1", nil)
		d := c.updated(canaryJob(1), changed(canaryJob(1), "v1"), func(g *api.DeploymentState) bool { return g.HealthyAllocs == 1 })
		c.pass(time.Hour)
		snap := c.Store().Snapshot()
		if got := versions(snap); !slices.Equal(got, []uint64{0, 0, 0, 1}) {
			c.Fatalf("after an hour versions %v run, want the canary beside the old ones", got)
		}
		if d = snap.Deployment(d.ID); d.Status != api.DeploymentRunning || !strings.Contains(d.StatusDescription, "requires manual promotion") {
			c.Errorf("the deployment is %s (%s), want it to wait for promotion", d.Status, d.StatusDescription)
		}
		_, err := c.PromoteDeployment(c.Context(), d.ID, []string{"nope"})
		c.refused(err, api.CodeInvalid, `it has "web"`)
		if _, err := c.PromoteDeployment(c.Context(), d.ID, nil); err != nil {
			c.Fatal(err)
		}
		c.until("successful", func(s *state.Snapshot) bool { return s.Deployment(d.ID).Status == api.DeploymentSuccessful })
		c.until("only the new version runs", func(s *state.Snapshot) bool { return slices.Equal(versions(s), []uint64{1, 1, 1}) })
		snap = c.Store().Snapshot()
		if g := snap.Deployment(d.ID).Groups["web"]; !g.Promoted || len(g.PlacedCanaries) != 1 || g.PlacedAllocs != 3 || g.HealthyAllocs != 3 {
			c.Errorf("the deployment's group is %+v, want one canary promoted, and three placed and healthy", g)
		}
		_, err = c.PromoteDeployment(c.Context(), d.ID, nil)
		c.refused(err, api.CodeInvalid, "ended")
		_, err = c.UnblockDeployment(c.Context(), d.ID)
		c.refused(err, api.CodeInvalid, "ended")
	})
}

func TestCanariesArePromotedByThemselves(t *testing.T) {
	simulate(t, func(c *cluster) {
		c.addNode("n1", nil)
		to := changed(canaryJob(3), "v1")
		to.Groups[0].Update.AutoPromote = ptr(true)
		d := c.updated(canaryJob(3), to, func(g *api.DeploymentState) bool { return g.Promoted })
		c.until("successful", func(s *state.Snapshot) bool { return s.Deployment(d.ID).Status == api.DeploymentSuccessful })
		c.until("only the new version runs", func(s *state.Snapshot) bool { return slices.Equal(versions(s), []uint64{1, 1, 1}) })
	})
}

func TestFailingCanaryIsReverted(t *testing.T) {
	simulate(t, func(c *cluster) {
		c.addNode("n1", func(_ *api.Allocation, job *api.Job) []event {
			well := job.Version != 1
			return []event{{status: api.AllocClientRunning}, {status: api.AllocClientRunning, healthy: healthy(well)}}
		})
		to := changed(canaryJob(1), "v1")
		to.Groups[0].Update.AutoRevert = ptr(true)
		d := c.updated(canaryJob(1), to, func(g *api.DeploymentState) bool { return g.UnhealthyAllocs == 1 })
		_, err := c.PromoteDeployment(c.Context(), d.ID, nil)
		c.refused(err, api.CodeInvalid, "0 healthy canaries of 1")
		old := running(c.Store().Snapshot(), "web")
		c.until("reverted", func(s *state.Snapshot) bool {
			latest := s.LatestDeployment("default", "web")
			return s.Deployment(d.ID).Status == api.DeploymentFailed && latest.JobVersion == 2 && latest.Status == api.DeploymentSuccessful
		})
		c.pass(time.Minute)
		snap := c.Store().Snapshot()
		if got := versions(snap); !slices.Equal(got, []uint64{2, 2, 2}) {
			c.Errorf("versions %v run, want the old instances at version 2", got)
		}
		for _, a := range running(snap, "web") {
			if !slices.ContainsFunc(old, func(o *api.Allocation) bool { return o.ID == a.ID }) {
				c.Errorf("%s was started anew by the revert", a.Name)
			}
		}
		if g := snap.LatestDeployment("default", "web").Groups["web"]; g.DesiredCanaries != 0 {
			c.Errorf("the revert went through %d canaries", g.DesiredCanaries)
		}
	})
}

func TestSomebodySaysWhatIsHealthy(t *testing.T) {
	simulate(t, func(c *cluster) {
		c.addNode("n1", func(*api.Allocation, *api.Job) []event { return []event{{status: api.AllocClientRunning}} })
		job := serviceJob("web", 2)
		u := job.Groups[0].Update
		u.HealthCheck, u.MaxParallel, u.AutoRevert = ptr(api.HealthCheckManual), ptr(2), ptr(true)
		c.register(job)
		c.until("running", func(s *state.Snapshot) bool { return len(running(s, "web")) == 2 })
		ids := func() (ids []string) {
			for _, a := range running(c.Store().Snapshot(), "web") {
				ids = append(ids, a.ID)
			}
			return ids
		}
		d := c.Store().Snapshot().LatestDeployment("default", "web")
		_, err := c.SetAllocationHealth(c.Context(), d.ID, []string{"nope"}, nil)
		c.refused(err, api.CodeInvalid, `"nope" is not part`)
		if _, err := c.SetAllocationHealth(c.Context(), d.ID, ids(), nil); err != nil {
			c.Fatal(err)
		}
		c.until("successful", func(s *state.Snapshot) bool { return s.Deployment(d.ID).Status == api.DeploymentSuccessful })
		c.register(changed(job, "v1"))
		c.until("updated", func(s *state.Snapshot) bool { return slices.Equal(versions(s), []uint64{1, 1}) })
		d = c.Store().Snapshot().LatestDeployment("default", "web")
		res, err := c.SetAllocationHealth(c.Context(), d.ID, nil, ids()[:1])
		if err != nil {
			c.Fatal(err)
		}
		if res.RevertedJobVersion == nil || *res.RevertedJobVersion != 0 {
			c.Errorf("an unhealthy allocation reverts to %v, want version 0", res.RevertedJobVersion)
		}
		c.until("reverted", func(s *state.Snapshot) bool { return slices.Equal(versions(s), []uint64{2, 2}) })
	})
}
