// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package deployment

import (
	"slices"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/plan/derive"
	"github.com/reeve-run/reeve/internal/plan/facts"
	"github.com/reeve-run/reeve/internal/plan/tree"
)

// promotable are the groups that are promoted by themselves, if the canaries of
// every group are healthy: as Promote counts them, for which those that somebody
// called healthy also have to run.
func promotable(r facts.Reader, phases []*tree.Phase, d *api.Deployment) (groups []string) {
	for _, p := range phases {
		switch {
		case !p.Canaries:
		case !p.AreHealthy(), HealthyCanaries(r, d, p.Group.Name) < d.Groups[p.Group.Name].DesiredCanaries:
			return nil
		case d.Groups[p.Group.Name].AutoPromote:
			groups = append(groups, p.Group.Name)
		}
	}
	return groups
}

// IsDeployed reports whether every step under the deployment is complete, or
// will be with this evaluation.
func IsDeployed(phases []*tree.Phase) bool {
	for _, p := range phases {
		if p.Rolling && !p.IsComplete() {
			return false
		}
	}
	return true
}

// hasExcess reports whether allocations of the deployed groups are yet to be told to
// stop: an evaluation does that.
func (c *checker) hasExcess() bool {
	return slices.ContainsFunc(c.Groups, func(g *facts.Group) bool { return g.Rolling && len(g.Excess) > 0 })
}

// A Verdict is the result of Check. Status is "" while the deployment is active; then
// the caller checks again when an allocation of the job changes, and at Wake at the
// latest (never, if zero).
type Verdict struct {
	Status     string // api.DeploymentSuccessful, api.DeploymentFailed or ""
	Reason     api.Reason
	AutoRevert bool     // reports whether the failed group wants the last stable version back
	Promote    []string // groups whose canaries are to be promoted automatically, now
	Wake       time.Time
}

// Check decides whether the running deployment d of the job has succeeded or failed.
// The caller writes state.UpdateDeployment.
//
// A group fails if its progress deadline passes without another instance having
// become healthy (counted from the group's turn), at its first unhealthy instance if
// the deadline is 0, and if an instance may no longer be rescheduled. The same holds
// for canaries. No deadline runs while the deployment waits for an operator to promote
// or continue it; it starts again afterwards.
func Check(r facts.Reader, job *api.Job, d *api.Deployment, now time.Time) Verdict {
	p := derive.DeployOnly(r, d.JobKey(), job, nil, now)
	defer p.Release()
	if len(p.Trees) == 0 || p.Rollout.Stands != derive.Ongoing || d.Status != api.DeploymentRunning || p.Deployment.ID != d.ID {
		return Verdict{}
	}
	s, phases := checker{p.Facts}, p.Trees[0].Phases
	if IsDeployed(phases) {
		if s.hasExcess() {
			return Verdict{} // whoever has them stopped ends it, in one commit with that
		}
		return Verdict{Status: api.DeploymentSuccessful, Reason: api.ReasonDeploymentSuccessful}
	}
	var v Verdict
	base := s.lastProgress(phases)
	for _, p := range phases {
		g := d.Groups[p.Group.Name]
		if g == nil || !p.Rolling || !p.Open || !p.IsMoving() {
			continue
		}
		reason, due := s.judge(p, g, base)
		if reason != 0 {
			return Verdict{Status: api.DeploymentFailed, Reason: reason, AutoRevert: g.AutoRevert}
		}
		if !due.IsZero() && (v.Wake.IsZero() || due.Before(v.Wake)) {
			v.Wake = due
		}
	}
	v.Promote = promotable(r, phases, d)
	return v
}

// A checker judges the deployment of the newest version.
type checker struct{ *facts.Facts }

// judge says why the group's deployment failed, or when its deadline is.
func (c *checker) judge(p *tree.Phase, g *api.DeploymentState, base time.Time) (reason api.Reason, due time.Time) {
	for i := range p.Steps {
		switch st := &p.Steps[i]; {
		case st.Status == tree.Error:
			return api.ReasonDeploymentExhausted, due
		case g.ProgressDeadline == 0 && st.On.Alloc != nil && c.IsCurrent(st.On.Alloc) && st.On.Alloc.IsUnhealthy():
			return api.ReasonDeploymentUnhealthy, due
		}
	}
	if g.ProgressDeadline == 0 {
		return 0, due
	}
	due = base.Add(g.ProgressDeadline)
	if g.RequireProgressBy.After(due) {
		due = g.RequireProgressBy
	}
	if !due.After(c.Now) {
		return api.ReasonDeploymentDeadline, due
	}
	return 0, due
}

// lastProgress is when the deployment last moved: it was made, resumed, promoted
// or continued, or an instance became healthy.
func (c *checker) lastProgress(phases []*tree.Phase) time.Time {
	d := c.Deployment
	at := time.Unix(0, max(d.CreateTime, d.ModifyTime))
	for _, p := range phases {
		for in := range p.Group.Every {
			if a := in.Alloc; a != nil && a.DeploymentID == d.ID && a.IsHealthy() && a.DeploymentStatus.Timestamp.After(at) {
				at = a.DeploymentStatus.Timestamp
			}
		}
	}
	for _, decided := range c.Decisions.All {
		if decided.Plan == api.PlanDeploy && c.Decisions.IsOnVersion(decided) {
			if t := time.Unix(0, decided.Time); t.After(at) {
				at = t
			}
		}
	}
	return at
}
