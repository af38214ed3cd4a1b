// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"fmt"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/plan/deployment"
	"github.com/reeve-run/reeve/internal/plan/derive"
	"github.com/reeve-run/reeve/internal/plan/ident"
	"github.com/reeve-run/reeve/internal/plan/opt"
	"github.com/reeve-run/reeve/internal/plan/tree"
)

// settleDeployment ends one that is of no use any more, and makes the one that is
// needed.
func (w *work) settleDeployment(phases []*tree.Phase) {
	d := w.Deployment
	switch {
	case d == nil || !d.IsActive():
	case !w.IsWanted():
		w.end(d, api.DeploymentCancelled, api.ReasonDeploymentJobStopped)
	case !w.DeploysCurrent(d):
		w.end(d, api.DeploymentCancelled, api.ReasonDeploymentSuperseded)
	case d.Status == api.DeploymentRunning && deployment.IsDeployed(phases):
		w.end(d, api.DeploymentSuccessful, api.ReasonDeploymentSuccessful)
	}
	switch w.Rollout.Stands {
	case derive.Ongoing:
		w.active = d
	case derive.Needed:
		w.active = w.newDeployment(phases)
		w.result.Deployment = w.active
		if deployment.IsDeployed(phases) { // all of it happens in place, now
			w.end(w.active, api.DeploymentSuccessful, api.ReasonDeploymentSuccessful)
		}
	}
}

func (w *work) end(d *api.Deployment, status string, reason api.Reason) {
	w.result.DeploymentUpdates = append(w.result.DeploymentUpdates, DeploymentUpdate{d.ID, status, reason, reason.Text()})
}

func (w *work) newDeployment(phases []*tree.Phase) *api.Deployment {
	d := &api.Deployment{
		ID: ident.Derive(w.Eval.ID, "deployment", fmt.Sprint(w.Job.Version)), Namespace: w.Key.Namespace, JobID: w.Key.ID,
		JobVersion: w.Job.Version, JobModifyIndex: w.Job.JobModifyIndex,
		JobSpecModifyIndex: w.Job.JobModifyIndex, JobCreateIndex: w.Job.CreateIndex,
		Groups: make(map[string]*api.DeploymentState),
		Status: api.DeploymentRunning, EvalPriority: w.Eval.Priority,
		CreateTime: w.Now.UnixNano(), ModifyTime: w.Now.UnixNano(),
	}
	for _, p := range phases {
		if !p.Rolling {
			continue
		}
		u := p.Group.Def.Update
		d.Groups[p.Group.Name] = &api.DeploymentState{
			AutoRevert: opt.Of(u.AutoRevert), AutoPromote: opt.Of(u.AutoPromote),
			ProgressDeadline: opt.Of(u.ProgressDeadline), DesiredTotal: len(p.Group.Instances),
			DesiredCanaries: p.Group.CountCanaries(),
		}
	}
	d.StatusReason = deployment.Standing(d)
	d.StatusDescription = d.StatusReason.Text()
	if by := w.Rollout.HeldBy; by != nil {
		d.Status, d.StatusReason, d.StatusDescription = api.DeploymentPaused, api.ReasonDeploymentPaused, api.PausedText(by.By, by.Reason)
	}
	return d
}
