// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package control

import (
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/plan/view"
	"github.com/reeve-run/reeve/internal/state"
)

// FailDeployment ends a deployment as failed. If one of its groups says
// auto_revert, the same command registers the latest stable version again.
func FailDeployment(snap *state.Snapshot, d *api.Deployment, reason api.Reason, now time.Time) *state.UpdateDeployment {
	return failDeployment(snap, d, reason, revertsItself(d), now)
}

func failDeployment(snap *state.Snapshot, d *api.Deployment, reason api.Reason, revert bool, now time.Time) *state.UpdateDeployment {
	cmd := &state.UpdateDeployment{
		ID: d.ID, Status: api.DeploymentFailed, Reason: reason, Description: reason.Text(), Time: now.UnixNano(),
		Evaluation: deploymentEvaluation(snap, d, now), Troubles: troublesOf(snap, d, now),
	}
	current := snap.Job(d.Namespace, d.JobID)
	if revert = revert && current != nil && current.Version == d.JobVersion; !revert {
		return cmd // what was registered since is not gone back over
	}
	if version := StableVersion(snap, d); version != nil {
		job := snap.JobVersion(d.Namespace, d.JobID, *version).Copy()
		job.SubmitTime = now.UnixNano()
		cmd.Job, cmd.JobIndex = job, current.JobModifyIndex
		cmd.Description = api.RevertText(reason, *version)
	}
	return cmd
}

// troublesOf are what keeps the deployment from going on, to be kept with it.
func troublesOf(snap *state.Snapshot, d *api.Deployment, now time.Time) []*api.Trouble {
	all := view.Troubles(snap, d.JobKey(), snap.Job(d.Namespace, d.JobID), view.TroubleFilter{Version: &d.JobVersion}, now)
	return all[:min(len(all), api.TroublesKept)]
}

func revertsItself(d *api.Deployment) bool {
	for _, g := range d.Groups {
		if g.AutoRevert {
			return true
		}
	}
	return false
}

// StableVersion returns the newest stable version before the deployment's, if it differs: a
// revert to an equal version would fail again, without end.
func StableVersion(snap *state.Snapshot, d *api.Deployment) *uint64 {
	current := snap.JobVersion(d.Namespace, d.JobID, d.JobVersion)
	for _, v := range snap.JobVersions(d.Namespace, d.JobID) {
		if v.Version >= d.JobVersion || !v.Stable {
			continue
		}
		if current != nil && api.SpecEqual(v, current) {
			return nil
		}
		return &v.Version
	}
	return nil
}

// deploymentEvaluation is the next evaluation of a deployment's job; nil when
// the job is gone.
func deploymentEvaluation(snap *state.Snapshot, d *api.Deployment, now time.Time) *api.Evaluation {
	job := snap.Job(d.Namespace, d.JobID)
	if job == nil {
		return nil
	}
	e := newEvaluation(job, api.TriggerDeploymentWatcher, now)
	e.DeploymentID = d.ID
	return e
}
