// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package server_test

import (
	"testing"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/server"
	"github.com/reeve-run/reeve/internal/server/control"
	"github.com/reeve-run/reeve/internal/state"
)

// purge has a job run and purged, and waits until it is gone.
func (c *cluster) purge(job *api.Job) *api.Uninstalled {
	c.Helper()
	c.register(job)
	c.until("the job runs", func(s *state.Snapshot) bool {
		return len(running(s, job.ID)) == *job.Groups[0].Count
	})
	if _, err := c.DeregisterJob(c.Context(), "default", job.ID, server.DeregisterOptions{Purge: true}); err != nil {
		c.Fatal(err)
	}
	c.until("the job is gone", func(s *state.Snapshot) bool { return s.Job("default", job.ID) == nil })
	u := c.Store().Snapshot().Uninstalled("default", job.ID)
	if u == nil {
		c.Fatal("nothing is remembered of the purged job")
	}
	return u
}

func TestUninstallPlanCanBeReadForTenMinutes(t *testing.T) {
	simulate(t, func(c *cluster) {
		c.addNode("n1", nil)
		u := c.purge(serviceJob("web", 3))

		p, index, err := c.JobPlan(c.Context(), "default", "web", api.PlanUninstall)
		if err != nil {
			c.Fatalf("the plan of a removed job: %v", err)
		}
		if p.Status != api.PlanComplete || p.Completed != 4 || p.Total != 4 || len(p.Phases) != 2 || len(p.Phases[0].Steps) != 3 {
			c.Errorf("the plan is %+v, want it complete, with three kills and one deregister", p)
		}
		if again, _, err := c.JobPlan(c.Context(), "", "web", p.ID); err != nil || again.ID != p.ID {
			c.Errorf("the plan by its id is %+v (%v)", again, err)
		}
		if _, _, err := c.JobPlan(c.Context(), "default", "web", api.PlanDeploy); api.CodeOf(err) != api.CodeNotFound {
			c.Errorf("another plan of a removed job: %v, want not found", err)
		}
		for _, list := range []func() ([]*api.Plan, uint64, error){
			func() ([]*api.Plan, uint64, error) { return c.JobPlans(c.Context(), "default", "web") },
			func() ([]*api.Plan, uint64, error) { return c.Plans(c.Context(), "*") },
		} {
			if plans, _, err := list(); err != nil || len(plans) != 1 || plans[0].ID != p.ID || plans[0].Phases != nil {
				c.Errorf("listed are %v (%v), want the plan uninstall without phases", plans, err)
			}
		}
		if plans, _, err := c.Plans(c.Context(), "other"); err != nil || len(plans) != 0 {
			c.Errorf("in another namespace %v (%v) are listed", plans, err)
		}

		if err := c.CollectGarbage(c.Context()); err != nil {
			c.Fatal(err)
		}
		end := time.Unix(0, u.EndedAt).Add(control.UninstalledKept)
		c.pass(time.Until(end) - time.Second)
		if _, _, err := c.JobPlan(c.Context(), "default", "web", api.PlanUninstall); err != nil {
			c.Errorf("the plan a second before its time: %v", err)
		}
		c.pass(2 * time.Second)
		if _, _, err := c.JobPlan(c.Context(), "default", "web", api.PlanUninstall); api.CodeOf(err) != api.CodeNotFound {
			c.Errorf("the plan after ten minutes: %v, want not found", err)
		}
		if got := c.Store().Snapshot().TableIndex(state.TableUninstalled); got <= index {
			c.Errorf("the index of uninstalled jobs is %d; want it past %d, so that blocking queries return", got, index)
		}
	})
}

func TestUninstallPlanEndsWhenTheJobIsRegisteredAgain(t *testing.T) {
	simulate(t, func(c *cluster) {
		c.addNode("n1", nil)
		c.purge(serviceJob("web", 1))
		c.pass(9 * time.Minute)
		first := c.Store().Snapshot().Uninstalled("default", "web")
		second := c.purge(serviceJob("web", 2))
		if second.EndedAt <= first.EndedAt || second.Allocations != 2 {
			c.Errorf("remembered is %+v, want the second purge", second)
		}
		c.pass(5 * time.Minute) // beyond the first one's time
		if _, _, err := c.JobPlan(c.Context(), "default", "web", api.PlanUninstall); err != nil {
			c.Errorf("the plan of the second purge: %v", err)
		}
		c.register(serviceJob("web", 1))
		if _, _, err := c.JobPlan(c.Context(), "default", "web", api.PlanUninstall); api.CodeOf(err) != api.CodeNotFound {
			c.Errorf("the plan uninstall of a job that is registered again: %v, want not found", err)
		}
	})
}
