// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package derive

import (
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/plan/facts"
	"github.com/reeve-run/reeve/internal/plan/opt"
	"github.com/reeve-run/reeve/internal/plan/tree"
)

// whyClosed explains why an instance keeps its version although a new one is deployed.
const whyClosed = "its node accepts no new allocations: the instance stays unchanged until the node accepts them again"

// Sentences about instances that a failed deployment did not reach.
const (
	WhyKept      = "the deployment failed; the instance keeps its older version"
	WhyUnstarted = "the deployment failed before the instance was started"
)

// whyWaits is why an instance keeps an older version although its turn has come.
const whyWaits = "its node is out of reach, and the disconnect block does not let it be replaced yet"

// A progress is how the deployment of the newest version stands.
type progress uint8

const (
	notNeeded progress = iota // nothing has to be moved under one
	Needed                    // a deployment is needed, and does not exist yet
	Ongoing                   // it runs, or is paused
	succeeded
	given // it failed, or nobody knows any more: what is old stays old
)

// A deployer builds the plan deploy.
type deployer struct {
	Rollout
	scratch *scratch
	tree    tree.Tree
}

// buildDeploy derives the plan that moves instances to the newest version (nil if
// nothing has to be deployed), and what later plans must respect of it.
func buildDeploy(f *facts.Facts, m *scratch) (*tree.Tree, *Rollout) {
	d := &m.deployer
	*d = deployer{Rollout: Rollout{Facts: f}, scratch: m}
	return d.deployTree(), &d.Rollout
}

// deployTree derives the plan that moves instances to the newest version: as the
// job declares it, or else a phase per group, and a step per instance.
func (d *deployer) deployTree() *tree.Tree {
	d.Stands = d.progress()
	if d.Stands == succeeded && d.HasStragglers() {
		d.Stands = Needed
	}
	d.spec = d.DeploySpec()
	phases := d.wholePhases()
	if len(phases) == 0 {
		return nil
	}
	d.tree = tree.Tree{Name: api.PlanDeploy, Strategy: api.StrategySerial, Phases: phases}
	t := &d.tree
	spec := d.spec
	d.rulings = d.Decisions.RulingsOf(api.PlanDeploy, d.Decisions.IsOnVersion)
	if spec != nil {
		whole := make(map[string][]tree.Step, len(phases))
		for _, p := range phases {
			whole[p.Name] = p.Steps
		}
		t.Strategy, t.Phases, t.Literal = spec.Strategy, d.declaredPhases(spec, whole), true
	}
	d.addCanaries(t, spec)
	if d.HasFailed() {
		t.Run, t.Failed, t.Errors = d.Deployment.ID, true, []string{d.Deployment.StatusDescription}
	}
	if d.Stands == Ongoing {
		t.Run, t.Held = d.Deployment.ID, d.Deployment.Status != api.DeploymentRunning
	}
	if r := d.rulings; r != nil {
		d.applyRestarts(t, r)
		t.ApplyRulings(r)
	}
	switch {
	case d.Stands == Ongoing && d.Deployment.Status == api.DeploymentRunning:
		t.Held, t.HeldBy = false, nil // whoever resumed it continued the plan too
	case d.Stands == Needed:
		d.HeldBy = t.HeldBy
	}
	if spec == nil {
		d.openPhases(t.Phases)
	}
	return t
}

// wholePhases derives a phase per group, and a step per instance.
func (d *deployer) wholePhases() []*tree.Phase {
	var phases []*tree.Phase
	for _, g := range d.Groups {
		if g.Def == nil || !d.IsWanted() {
			continue
		}
		p := &tree.Phase{
			Name: g.Name, Group: g, Strategy: api.StrategyParallel, Limit: d.limitOf(g), Rolling: g.Rolling,
			Steps: d.scratch.tree.StepsFor(len(g.Instances)),
		}
		p.Reverts = p.Limit > 0 && d.Reverts()
		if g.Rolling && (p.Limit > 0 || d.WasDeployed()) {
			p.Strategy, p.Most = api.StrategySerial, maxParallel(g)
		}
		for i := range g.Instances {
			d.deployStep(&p.Steps[i], &g.Instances[i], d.Stands)
			if d.Stands == notNeeded && g.Rolling && (p.Steps[i].Action != tree.None || g.Unpromoted) {
				d.Stands = Needed
			}
		}
		phases = append(phases, p)
	}
	if d.Stands == Needed {
		// Steps before the first that needs it were derived without it: health
		// counts for them too.
		for _, p := range phases {
			clear(p.Steps)
			for i := range p.Steps {
				d.deployStep(&p.Steps[i], &p.Group.Instances[i], d.Stands)
			}
		}
	}
	return phases
}

// progress reads how the newest version's deployment stands, apart from
// whether one is needed.
func (s *deployer) progress() progress {
	d := s.Deployment
	if !s.DeploysCurrent(d) {
		if s.Collected && s.Job.Stable {
			return succeeded
		}
		if s.Collected {
			return given
		}
		return notNeeded
	}
	switch d.Status {
	case api.DeploymentSuccessful:
		return succeeded
	case api.DeploymentFailed, api.DeploymentCancelled:
		return given
	}
	return Ongoing
}

// deployStep derives what is left to do for one instance to be of the newest
// version and well, into a step that is empty.
func (d *deployer) deployStep(st *tree.Step, in *facts.Instance, stands progress) {
	st.On, st.Job, st.Status = in, d.Job, tree.Pending
	g := in.Group
	settled := g.Rolling && (stands == succeeded || stands == given)
	switch {
	case d.IsAbandoned(in):
		d.abandonStep(st)
	case in.Alloc == nil && settled:
		st.Status = tree.Complete // what is missing now is recovery's
		if stands == given && !d.IsMissed(in) && in.Node == "" && (d.HasOutdated(g) || d.spec != nil) {
			st.Status, st.Why = tree.Pending, WhyUnstarted
		}
	case in.Alloc == nil && stands == notNeeded && g.Rolling && d.IsMissed(in) && d.OwnVersion(in) == d.Job && facts.NeedsRecovery(in.Last):
		st.Status = tree.Complete // it ran without a deployment: recovery brings it back
	case in.Alloc == nil:
		switch {
		case !d.IsMissed(in):
			st.Action = tree.Start
		case in.Last.DesiredReason == api.ReasonUpdated:
			st.Action, st.Status = tree.Start, tree.Prepared
		case !g.Rolling, d.OwnVersion(in) == d.Job:
			st.Action = tree.Start
		default: // recovery brings the older version back, unless its turn comes first
			st.Action = tree.Replace
		}
	case in.Closed && d.IsPinned(in):
		st.Status, st.Why = tree.Complete, whyClosed
	case d.IsCurrent(in.Alloc):
		st.Status, st.Why, st.Until = d.goalStatus(in, stands)
	case d.IsDone(in):
		st.Status = tree.Complete
	case settled:
		st.Status = tree.Complete
		if stands == given && (d.IsDestructive(g, in.Alloc) || d.NeedsProof(g, in.Alloc)) {
			st.Status, st.Why = tree.Pending, WhyKept
		}
	case in.Away != nil && !in.Away.Replaced && d.IsDestructive(g, in.Alloc):
		st.Status, st.Why = tree.Started, whyWaits
	case in.State == facts.Failed, in.State == facts.Ended, d.IsDestructive(g, in.Alloc):
		st.Action = tree.Replace // a new version is also a new attempt
	case in.State == facts.Lost, in.State == facts.Moving, in.IsReplaced():
		st.Why = "recovery starts it again, at the newest version"
	default:
		st.Action = tree.Update
		st.Settles, st.Proves = opt.Of(d.CarriedHealth(in)), d.NeedsProof(g, in.Alloc)
	}
}

// goalStatus says how far an instance of the newest version is.
func (d *deployer) goalStatus(in *facts.Instance, stands progress) (status tree.Status, why string, until time.Time) {
	if in.Group.Rolling && d.HasFailed() {
		if why = d.whyUnwell(in); why != "" {
			return tree.Error, why, until
		}
	}
	healthy := !in.Group.Rolling || stands == succeeded || stands == notNeeded || opt.Of(facts.KnownHealth(in))
	switch in.State {
	case facts.Placed:
		status = tree.Starting
	case facts.Running, facts.Unknown:
		status = tree.Started
		if healthy && !d.Job.RunsToCompletion() {
			status = tree.Complete
		} else if in.Alloc.IsUnhealthy() {
			why = "it did not become healthy in time"
		}
	case facts.Failed, facts.Ended:
		if d.Job.RunsToCompletion() && in.State == facts.Ended {
			return tree.Complete, "", until
		}
		if a := d.AttemptAt(in); a.Never {
			status, why = tree.Error, a.Why
		} else if a.Due.After(d.Now) {
			status, why, until = tree.Delayed, "it failed; the next attempt is due later", a.Due
		} else {
			status, why = tree.Pending, "it failed"
		}
	case facts.Lost:
		status, why = tree.Pending, api.ReasonNodeDown.Text()
	case facts.Moving:
		status, why = tree.Pending, api.ReasonMoved.Text()
	}
	if in.Group.Rolling && (stands == succeeded || stands == notNeeded) {
		status, why = tree.Complete, "" // what happens to it now is recovery's
	}
	return status, why, until
}

// abandonStep makes the step of such an instance.
func (d *deployer) abandonStep(st *tree.Step) {
	st.Action, st.Status, st.Why = tree.None, tree.Error, "the job has failed: "+d.Job.Failure.Reason
}
