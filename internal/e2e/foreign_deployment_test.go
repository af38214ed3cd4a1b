// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package e2e_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	nomad "github.com/hashicorp/nomad/api"
)

// deployed waits until a job's newest deployment is as a test wants it, and
// returns it.
func (f *foreign) deployed(job, what string, ok func(*nomad.Deployment) bool) *nomad.Deployment {
	f.t.Helper()
	var found *nomad.Deployment
	f.eventually(job+": "+what, func(ctx context.Context) error {
		d, _, err := f.api.Jobs().LatestDeployment(job, (&nomad.QueryOptions{}).WithContext(ctx))
		if err != nil {
			return err
		}
		if d == nil || !ok(d) {
			return fmt.Errorf("the deployment is %+v, groups %+v", d, groupsOf(d))
		}
		found = d
		return nil
	})
	return found
}

func groupsOf(d *nomad.Deployment) (groups []nomad.DeploymentState) {
	if d == nil {
		return nil
	}
	for _, g := range d.TaskGroups {
		groups = append(groups, *g)
	}
	return groups
}

func ended(version uint64, status string) func(*nomad.Deployment) bool {
	return func(d *nomad.Deployment) bool { return d.JobVersion == version && d.Status == status }
}

// updatedJob is a foreignJob whose update block a test changes.
func updatedJob(id, word string, count int, change func(*nomad.UpdateStrategy)) *nomad.Job {
	job := foreignJob(id, word, count)
	change(job.TaskGroups[0].Update)
	return job
}

func TestForeignClientPromotesCanaries(t *testing.T) {
	f := newForeign(t)
	canary := func(u *nomad.UpdateStrategy) { u.Canary = ptr(1); u.MaxParallel = ptr(2) }
	f.registerJob(updatedJob("web", "one", 2, canary))
	f.running("web", 2, 0)
	f.deployed("web", "the first version is deployed", ended(0, "successful"))

	f.registerJob(updatedJob("web", "two", 2, canary))
	d := f.deployed("web", "a canary is healthy", func(d *nomad.Deployment) bool {
		g := d.TaskGroups["web"]
		return d.JobVersion == 1 && g.DesiredCanaries == 1 && len(g.PlacedCanaries) == 1 && g.HealthyAllocs == 1
	})
	if d.Status != "running" || d.TaskGroups["web"].Promoted {
		t.Fatalf("before promotion the deployment is %+v, %+v", d, groupsOf(d))
	}
	placed, _, err := f.api.Deployments().Allocations(d.ID, nil)
	if err != nil || len(placed) != 1 || placed[0].ID != d.TaskGroups["web"].PlacedCanaries[0] || !placed[0].DeploymentStatus.Canary {
		t.Fatalf("its allocations: %+v, %v; want the canary", placed, err)
	}

	if _, _, err := f.api.Deployments().PromoteGroups(d.ID, []string{"nope"}, nil); err == nil {
		t.Error("a group that there is not was promoted")
	}
	resp, meta, err := f.api.Deployments().PromoteAll(d.ID, nil)
	if err != nil || resp.EvalID == "" || meta.LastIndex == 0 {
		t.Fatalf("promote: %+v, %+v, %v", resp, meta, err)
	}
	f.running("web", 2, 1)
	d = f.deployed("web", "the second version is deployed", ended(1, "successful"))
	if !d.TaskGroups["web"].Promoted {
		t.Errorf("after promotion its groups are %+v", groupsOf(d))
	}
	if _, _, err := f.api.Deployments().PromoteAll(d.ID, nil); err == nil {
		t.Error("a deployment that has ended was promoted")
	}
}

func TestForeignClientPausesAndFailsADeployment(t *testing.T) {
	f := newForeign(t)
	serial := func(u *nomad.UpdateStrategy) { u.MaxParallel = ptr(1) }
	f.registerJob(updatedJob("web", "one", 2, serial))
	f.running("web", 2, 0)
	f.deployed("web", "the first version is deployed", ended(0, "successful"))

	// A version that is not healthy before it has run for long can be held.
	slow := func(u *nomad.UpdateStrategy) {
		u.MaxParallel, u.MinHealthyTime = ptr(1), ptr(time.Hour)
		u.HealthyDeadline, u.ProgressDeadline = ptr(2*time.Hour), ptr(3*time.Hour)
	}
	f.registerJob(updatedJob("web", "two", 2, slow))
	d := f.deployed("web", "the second version is on its way", ended(1, "running"))
	deployments := f.api.Deployments()
	if _, _, err := deployments.Pause(d.ID, true, nil); err != nil {
		t.Fatalf("pause: %v", err)
	}
	f.deployed("web", "it is paused", ended(1, "paused"))
	if _, _, err := deployments.Pause(d.ID, true, nil); err == nil {
		t.Error("it was paused twice")
	}
	if _, _, err := deployments.Pause(d.ID, false, nil); err != nil {
		t.Fatalf("resume: %v", err)
	}
	f.deployed("web", "it goes on", ended(1, "running"))
	if _, _, err := deployments.Fail(d.ID, nil); err != nil {
		t.Fatalf("fail: %v", err)
	}
	f.deployed("web", "it has failed", ended(1, "failed"))
	if _, _, err := deployments.Fail(d.ID, nil); err == nil {
		t.Error("it failed twice")
	}
	if _, _, err := deployments.Unblock(d.ID, nil); err == nil {
		t.Error("a deployment that is not blocked was unblocked")
	}
	list, _, err := deployments.List(nil)
	if err != nil || len(list) != 2 {
		t.Errorf("deployments: %d, %v; want 2", len(list), err)
	}
}

func TestForeignClientSaysWhatIsHealthy(t *testing.T) {
	f := newForeign(t)
	manual := func(u *nomad.UpdateStrategy) {
		u.MaxParallel, u.HealthCheck = ptr(1), ptr("manual")
		u.HealthyDeadline, u.ProgressDeadline = ptr(time.Hour), ptr(2*time.Hour)
	}
	f.registerJob(updatedJob("web", "one", 2, manual))
	d := f.deployed("web", "the first allocation is placed", func(d *nomad.Deployment) bool { return d.TaskGroups["web"].PlacedAllocs >= 1 })
	said := map[string]bool{}
	for range 2 {
		f.eventually("an allocation runs that nothing is said of", func(ctx context.Context) error {
			placed, _, err := f.api.Deployments().Allocations(d.ID, (&nomad.QueryOptions{}).WithContext(ctx))
			if err != nil {
				return err
			}
			for _, a := range placed {
				if a.ClientStatus == "running" && !said[a.ID] {
					said[a.ID] = true
					_, _, err := f.api.Deployments().SetAllocHealth(d.ID, []string{a.ID}, nil, nil)
					return err
				}
			}
			return fmt.Errorf("%d are placed, %d are said to be healthy", len(placed), len(said))
		})
	}
	f.deployed("web", "it is deployed", ended(0, "successful"))

	f.registerJob(updatedJob("web", "two", 2, manual))
	d = f.deployed("web", "the second version is placed", func(d *nomad.Deployment) bool {
		return d.JobVersion == 1 && d.TaskGroups["web"].PlacedAllocs >= 1
	})
	placed, _, err := f.api.Deployments().Allocations(d.ID, nil)
	if err != nil || len(placed) == 0 {
		t.Fatalf("its allocations: %d, %v", len(placed), err)
	}
	if _, _, err := f.api.Deployments().SetAllocHealth(d.ID, nil, []string{placed[0].ID}, nil); err != nil {
		t.Fatalf("say that it is unhealthy: %v", err)
	}
	f.deployed("web", "it has failed", ended(1, "failed"))
}
