// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"fmt"
	"slices"
	"time"

	"github.com/reeve-run/reeve/api"
)

// Descriptions of how a deployment stands, as users read them.
const (
	describeRunning    = "Deployment is running"
	describeManual     = "Deployment is running but requires manual promotion"
	describeAuto       = "Deployment is running pending automatic promotion"
	describePaused     = "Deployment is paused"
	describeSuccessful = "Deployment completed successfully"
	describeNewer      = "Cancelled due to newer version of job"
	describeStopped    = "Cancelled because job is stopped"
	describeDeadline   = "Failed due to progress deadline"
	describeExhausted  = "Failed because an instance failed too often"
)

// FailedUnhealthy describes a deployment that failed for an unhealthy allocation.
const FailedUnhealthy = "Failed due to unhealthy allocations"

// settleDeployment ends one that is of no use any more, and makes the one that is
// needed.
func (w *work) settleDeployment(phases []*phase) {
	d := w.deployment
	switch {
	case d == nil || !d.IsActive():
	case !w.wanted():
		w.end(d, api.DeploymentCancelled, describeStopped)
	case !w.deploysCurrent(d):
		w.end(d, api.DeploymentCancelled, describeNewer)
	case d.Status == api.DeploymentRunning && isDeployed(phases):
		w.end(d, api.DeploymentSuccessful, describeSuccessful)
	}
	switch w.rollout.stands {
	case ongoing:
		w.active = d
	case needed:
		w.active = w.newDeployment(phases)
		w.result.Deployment = w.active
		if isDeployed(phases) { // all of it happens in place, now
			w.end(w.active, api.DeploymentSuccessful, describeSuccessful)
		}
	}
}

func (w *work) end(d *api.Deployment, status, description string) {
	w.result.DeploymentUpdates = append(w.result.DeploymentUpdates, DeploymentUpdate{d.ID, status, description})
}

// isDeployed reports whether every step under the deployment is complete, or
// will be with this evaluation.
func isDeployed(phases []*phase) bool {
	for _, p := range phases {
		if p.rolling && !p.isComplete() {
			return false
		}
	}
	return true
}

// hasExcess reports whether allocations of the deployed groups are yet to be told to
// stop: an evaluation does that.
func (s *checker) hasExcess() bool {
	return slices.ContainsFunc(s.groups, func(g *group) bool { return g.rolling && len(g.excess) > 0 })
}

func (w *work) newDeployment(phases []*phase) *api.Deployment {
	d := &api.Deployment{
		ID: deriveID(w.eval.ID, "deployment", fmt.Sprint(w.job.Version)), Namespace: w.key.Namespace, JobID: w.key.ID,
		JobVersion: w.job.Version, JobModifyIndex: w.job.JobModifyIndex,
		JobSpecModifyIndex: w.job.JobModifyIndex, JobCreateIndex: w.job.CreateIndex,
		Groups: make(map[string]*api.DeploymentState),
		Status: api.DeploymentRunning, EvalPriority: w.eval.Priority,
		CreateTime: w.now.UnixNano(), ModifyTime: w.now.UnixNano(),
	}
	if w.rollout.held {
		d.Status, d.StatusDescription = api.DeploymentPaused, describePaused
	}
	for _, p := range phases {
		if !p.rolling {
			continue
		}
		u := p.group.def.Update
		d.Groups[p.group.name] = &api.DeploymentState{
			AutoRevert: of(u.AutoRevert), AutoPromote: of(u.AutoPromote),
			ProgressDeadline: of(u.ProgressDeadline), DesiredTotal: len(p.group.instances),
			DesiredCanaries: p.group.countCanaries(),
		}
	}
	d.StatusDescription = Standing(d)
	return d
}

// A Verdict is what CheckDeployment finds. Status is "" while the deployment
// goes on; then it is to be asked again when an allocation of the job changes,
// and at Wake (never, if zero) at the latest.
type Verdict struct {
	Status      string // api.DeploymentSuccessful, api.DeploymentFailed or ""
	Description string
	AutoRevert  bool     // failed, and a group that failed wants the last stable version back
	Promote     []string // groups whose canaries are to be promoted now, with nobody asked
	Wake        time.Time
}

// CheckDeployment says whether the running deployment d of the job has
// succeeded or failed by now. Whoever acts on it writes state.UpdateDeployment.
//
// A group fails when its progress deadline passes without another instance
// having become healthy, counted from when its turn came; at its first
// unhealthy instance if the deadline is 0; and when an instance may not be
// rescheduled any more. That goes for canaries too. While nothing is under way
// because somebody has to promote or continue it, there is no deadline; when that
// is done it begins again.
func CheckDeployment(r Reader, job *api.Job, d *api.Deployment, now time.Time) Verdict {
	p := deriveDeploy(r, d.JobKey(), job, nil, now)
	defer p.release()
	if len(p.trees) == 0 || p.rollout.stands != ongoing || d.Status != api.DeploymentRunning || p.deployment.ID != d.ID {
		return Verdict{}
	}
	s, phases := checker{p.facts}, p.trees[0].phases
	if isDeployed(phases) {
		if s.hasExcess() {
			return Verdict{} // whoever has them stopped ends it, in one commit with that
		}
		return Verdict{Status: api.DeploymentSuccessful, Description: describeSuccessful}
	}
	var v Verdict
	base := s.lastProgress(phases)
	for _, p := range phases {
		g := d.Groups[p.group.name]
		if g == nil || !p.rolling || !p.open || !p.isMoving() {
			continue
		}
		why, due := s.judge(p, g, base)
		if why != "" {
			return Verdict{Status: api.DeploymentFailed, Description: why, AutoRevert: g.AutoRevert}
		}
		if !due.IsZero() && (v.Wake.IsZero() || due.Before(v.Wake)) {
			v.Wake = due
		}
	}
	v.Promote = promotable(r, phases, d)
	return v
}

// A checker judges the deployment of the newest version.
type checker struct{ *facts }

// judge says why the group's deployment failed, or when its deadline is.
func (s *checker) judge(p *phase, g *api.DeploymentState, base time.Time) (why string, due time.Time) {
	for i := range p.steps {
		switch st := &p.steps[i]; {
		case st.status == Error:
			return describeExhausted, due
		case g.ProgressDeadline == 0 && st.on.alloc != nil && s.isCurrent(st.on.alloc) && st.on.alloc.IsUnhealthy():
			return FailedUnhealthy, due
		}
	}
	if g.ProgressDeadline == 0 {
		return "", due
	}
	due = base.Add(g.ProgressDeadline)
	if g.RequireProgressBy.After(due) {
		due = g.RequireProgressBy
	}
	if !due.After(s.now) {
		return describeDeadline, due
	}
	return "", due
}

// lastProgress is when the deployment last moved: it was made, resumed, promoted
// or continued, or an instance became healthy.
func (s *checker) lastProgress(phases []*phase) time.Time {
	d := s.deployment
	at := time.Unix(0, max(d.CreateTime, d.ModifyTime))
	for _, p := range phases {
		for in := range p.group.every {
			if a := in.alloc; a != nil && a.DeploymentID == d.ID && a.IsHealthy() && a.DeploymentStatus.Timestamp.After(at) {
				at = a.DeploymentStatus.Timestamp
			}
		}
	}
	for _, decided := range s.decisions.all {
		if decided.Plan == api.PlanDeploy && s.decisions.isOnVersion(decided) {
			if t := time.Unix(0, decided.Time); t.After(at) {
				at = t
			}
		}
	}
	return at
}

// NeedsEvaluation reports whether what a node said of an allocation (old is
// what was known before) calls for an evaluation of its job, and the trigger to
// give it.
func NeedsEvaluation(old, new *api.Allocation) (trigger string, needed bool) {
	switch {
	case old.ClientStatus == api.AllocClientUnknown && new.ClientStatus != api.AllocClientUnknown:
		return api.TriggerAllocReconnect, true
	case old.ClientStatus != new.ClientStatus && new.IsClientTerminal():
		if new.ClientStatus == api.AllocClientFailed {
			return api.TriggerAllocFailure, true
		}
		return api.TriggerAllocStop, true
	case hasMoved(old, new):
		if new.DeploymentID != "" {
			return api.TriggerDeploymentWatcher, true
		}
		return api.TriggerPlanOperation, true
	case isOfDeployment(new) && (old.IsHealthy() != new.IsHealthy() || old.IsUnhealthy() != new.IsUnhealthy()):
		return api.TriggerDeploymentWatcher, true
	case isOfDeployment(new) && old.ClientStatus != new.ClientStatus && new.Job != nil && len(new.Job.Groups) > 1:
		return api.TriggerDeploymentWatcher, true // the next group may begin
	case isAwaited(old, new): // the last: callers may pass over it where nothing is contested
		return api.TriggerAllocReconnect, true
	}
	return "", false
}

func isOfDeployment(a *api.Allocation) bool { return a.DeploymentID != "" && !a.IsServerTerminal() }

// isAwaited reports whether an allocation is up or serves now that may be the
// replacement of one whose node is silent, back again or drained, or the one that
// is back.
func isAwaited(old, new *api.Allocation) bool {
	return (new.PreviousAllocation != "" || new.NextAllocation != "") && !new.IsServerTerminal() &&
		(isUpNow(new) && !isUpNow(old) || servesNow(new) && !servesNow(old))
}
