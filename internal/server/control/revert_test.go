// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package control

import (
	"fmt"
	"testing"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/state"
)

func TestRevertOnlyOfTheVersionThatFailed(t *testing.T) {
	store := state.New()
	apply := func(c state.Command) {
		t.Helper()
		if err := store.Apply(store.Index()+1, []state.Command{c})[0]; err != nil {
			t.Fatal(err)
		}
	}
	register := func(version int) {
		job := &api.Job{
			ID: "web", Namespace: api.DefaultNamespace, Type: api.JobTypeService, Meta: map[string]string{"v": fmt.Sprint(version)},
			Groups: []*api.Group{{Name: "web", Tasks: []*api.Task{{Name: "web", Driver: "mock_driver"}}}},
		}
		job.Canonicalize()
		apply(&state.RegisterJob{Job: job})
	}
	register(0)
	apply(&state.SetJobStability{Namespace: api.DefaultNamespace, ID: "web", Stable: true})
	register(1)
	job := store.Snapshot().Job(api.DefaultNamespace, "web")
	apply(&state.CommitPlacement{Placement: &state.Placement{Deployment: &api.Deployment{
		ID: "d", Namespace: api.DefaultNamespace, JobID: "web", JobVersion: 1, JobCreateIndex: job.CreateIndex, Status: api.DeploymentRunning,
		Groups: map[string]*api.DeploymentState{"web": {AutoRevert: true}},
	}}})
	fail := func() *state.UpdateDeployment {
		snap := store.Snapshot()
		return FailDeployment(snap, snap.Deployment("d"), api.ReasonDeploymentUnhealthy, time.Unix(1, 0))
	}
	if cmd := fail(); cmd.Reason != api.ReasonDeploymentUnhealthy || cmd.Description != api.RevertText(cmd.Reason, 0) {
		t.Errorf("the deployment failed for reason %s (%s), want unhealthy allocations, and the version of the revert", cmd.Reason, cmd.Description)
	}
	if cmd := fail(); cmd.Job == nil || cmd.Job.Version != 0 || cmd.JobIndex != job.JobModifyIndex {
		t.Errorf("the failed version is not gone back from: %+v", cmd)
	}
	register(2)
	if cmd := fail(); cmd.Job != nil {
		t.Errorf("version 2 was registered meanwhile, and version %d would replace it", cmd.Job.Version)
	}
}
