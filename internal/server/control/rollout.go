// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package control

import (
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/plan/deployment"
	"github.com/reeve-run/reeve/internal/state"
)

// rollout ends deployments: successfully when all instances are healthy, and as failed without
// progress. The evaluation that follows every change of an allocation's health advances them.
type rollout struct{}

// NewRollout returns the controller of deployments. Its keys are jobs.
func NewRollout() Controller { return rollout{} }

func (rollout) Name() string { return "rollout" }

func (rollout) All(snap *state.Snapshot) (keys []string) {
	for d := range snap.Deployments() {
		if d.IsActive() {
			keys = append(keys, jobKey(d.JobKey()))
		}
	}
	return keys
}

func (rollout) Touched(c *state.Change, add func(string)) {
	switch c.Table {
	case state.TableDeployments:
		if d, _ := c.New.(*api.Deployment); d != nil && d.IsActive() {
			add(jobKey(d.JobKey()))
		}
	case state.TableAllocations:
		if a, _ := c.New.(*api.Allocation); a != nil && a.DeploymentID != "" && (a.DeploymentStatus != nil || a.IsClientTerminal()) {
			add(jobKey(a.JobKey()))
		}
	}
}

func (rollout) Act(snap *state.Snapshot, key string, now time.Time) ([]state.Command, time.Time) {
	id := parseJobKey(key)
	d := snap.LatestDeployment(id.Namespace, id.ID)
	if d == nil || d.Status != api.DeploymentRunning {
		return nil, time.Time{}
	}
	job := snap.Job(id.Namespace, id.ID)
	if job == nil || job.Stop || job.Version != d.JobVersion {
		return nil, time.Time{} // the job's next evaluation cancels it
	}
	verdict := deployment.Check(snap, job, d, now)
	switch verdict.Status {
	case "":
		if len(verdict.Promote) > 0 {
			if cmd, err := PromoteDeployment(snap, d, verdict.Promote, now); err == nil {
				return []state.Command{cmd}, time.Time{}
			}
		}
		return nil, verdict.Wake
	case api.DeploymentFailed:
		return []state.Command{failDeployment(snap, d, verdict.Reason, verdict.AutoRevert, now)}, time.Time{}
	}
	return []state.Command{&state.UpdateDeployment{
		ID: d.ID, Status: verdict.Status, Reason: verdict.Reason, Description: verdict.Reason.Text(), Time: now.UnixNano(),
	}}, time.Time{}
}
