// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package e2e_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/testbed"
)

// canaryJob runs the script in three instances, and a canary of a new version.
func canaryJob(script string) *api.Job {
	job := testbed.ShellJob("web", 3, script)
	job.Groups[0].Update = &api.Update{
		Canary: new(1), MaxParallel: new(2), AutoRevert: new(true), HealthCheck: new(api.HealthCheckTaskStates),
		MinHealthyTime: new(100 * time.Millisecond), HealthyDeadline: new(2 * time.Second), ProgressDeadline: new(3 * time.Second),
	}
	job.Groups[0].Restart = &api.Restart{Attempts: new(0), Mode: new(api.RestartModeFail)}
	job.Groups[0].Reschedule = &api.Reschedule{Attempts: new(0), Unlimited: new(false)}
	return job
}

// rolledOut waits for a deployment to be as a test wants it.
func (m *machine) rolledOut(version uint64, what string, ok func(*api.Deployment) bool) *api.Deployment {
	m.t.Helper()
	var found *api.Deployment
	m.eventually(what, func(ctx context.Context) error {
		d, _, err := m.Client.Jobs().LatestDeployment(ctx, "web", nil)
		switch {
		case err != nil:
			return err
		case d == nil || d.JobVersion != version || !ok(d):
			return fmt.Errorf("the deployment is %+v", d)
		}
		found = d
		return nil
	})
	return found
}

// TestCanaryPromotedThenABadVersionReverted goes through both ends of a canary
// with real processes.
func TestCanaryPromotedThenABadVersionReverted(t *testing.T) {
	m := newMachine(t)
	successful := func(d *api.Deployment) bool { return d.Status == api.DeploymentSuccessful }
	m.register(canaryJob("exec sleep 3600"))
	m.rolledOut(0, "the first version is deployed without canaries", successful)

	m.register(canaryJob("exec sleep 3601"))
	d := m.rolledOut(1, "a canary is healthy", func(d *api.Deployment) bool { return d.Groups["main"].HealthyAllocs == 1 })
	if n := len(m.pidsOf("sleep", "3600")); n != 3 {
		t.Fatalf("%d processes of the old version run beside the canary, want 3", n)
	}
	shown, _, err := m.Client.Plans().Get(t.Context(), "web", api.PlanDeploy, nil)
	if err != nil {
		t.Fatal(err)
	}
	if st := shown.Phases[0].Steps[0]; shown.Status != api.PlanWaiting || st.Name != "main-0:[task] canary" || !strings.Contains(st.Message, "reeve deployment promote") {
		t.Errorf("the plan is %s, its first step %q says %q; want it to wait for promotion", shown.Status, st.Name, st.Message)
	}
	canary := d.Groups["main"].PlacedCanaries[0]
	if _, err := m.Client.Deployments().Promote(t.Context(), d.ID); err != nil {
		t.Fatal(err)
	}
	m.rolledOut(1, "the rest has followed", successful)
	good := m.allocations("web", "the new version runs", running(3))
	if !slices.ContainsFunc(good, func(a *api.AllocationListStub) bool { return a.ID == canary }) {
		t.Errorf("the canary %s is not among %d instances that run", canary, len(good))
	}

	m.register(canaryJob("exit 1"))
	m.rolledOut(3, "a bad version is reverted", successful)
	for _, a := range m.allocations("web", "the good version runs", running(3)) {
		if a.DesiredStatus == api.AllocDesiredRun && !slices.ContainsFunc(good, func(g *api.AllocationListStub) bool { return g.ID == a.ID }) {
			t.Errorf("%s was started anew because of a canary that failed", a.Name)
		}
	}
	if n := len(m.pidsOf("sleep", "3601")); n != 3 {
		t.Errorf("%d processes of the good version run, want 3", n)
	}
}
