// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"time"

	"github.com/reeve-run/reeve/api"
)

// whyClosed is why an instance is left alone that would be replaced elsewhere.
const whyClosed = "its node takes nothing new: it stays as it is until that changes"

// What the deploy plan says of instances that a deployment that failed left out.
const (
	whyKept      = "the deployment failed; the instance keeps its older version"
	whyUnstarted = "the deployment failed before the instance was started"
)

// whyWaits is why an instance keeps an older version although its turn has come.
const whyWaits = "its node is out of reach, and the disconnect block does not let it be replaced yet"

// A progress is how the deployment of the newest version stands.
type progress uint8

const (
	notNeeded progress = iota // nothing has to be moved under one
	needed                    // there is none yet
	ongoing                   // it runs, or is paused
	succeeded
	given // it failed, or nobody knows any more: what is old stays old
)

// A deployer builds the plan deploy.
type deployer struct {
	rollout
	scratch *scratch
	tree    tree
}

// buildDeploy derives the plan that moves instances to the newest version (nil if
// nothing has to be deployed), and what later plans must respect of it.
func buildDeploy(f *facts, m *scratch) (*tree, *rollout) {
	d := &m.deployer
	*d = deployer{rollout: rollout{facts: f}, scratch: m}
	return d.deployTree(), &d.rollout
}

// deployTree derives the plan that moves instances to the newest version: as the
// job declares it, or else a phase per group, and a step per instance.
func (s *deployer) deployTree() *tree {
	s.stands = s.progress()
	if s.stands == succeeded && s.hasStragglers() {
		s.stands = needed
	}
	s.spec = s.deploySpec()
	phases := s.wholePhases()
	if len(phases) == 0 {
		return nil
	}
	s.tree = tree{name: api.PlanDeploy, strategy: api.StrategySerial, phases: phases}
	t := &s.tree
	spec := s.spec
	s.rulings = s.decisions.rulingsOf(api.PlanDeploy, s.decisions.isOnVersion)
	if spec != nil {
		whole := make(map[string][]step, len(phases))
		for _, p := range phases {
			whole[p.name] = p.steps
		}
		t.strategy, t.phases, t.literal = spec.Strategy, s.declaredPhases(spec, whole), true
	}
	s.addCanaries(t, spec)
	if s.hasFailed() {
		t.run, t.failed, t.errors = s.deployment.ID, true, []string{s.deployment.StatusDescription}
	}
	if s.stands == ongoing {
		t.run, t.held = s.deployment.ID, s.deployment.Status != api.DeploymentRunning
	}
	if r := s.rulings; r != nil {
		s.applyRestarts(t, r)
		t.rule(r)
	}
	switch {
	case s.stands == ongoing && s.deployment.Status == api.DeploymentRunning:
		t.held, t.heldBy = false, nil // whoever resumed it continued the plan too
	case s.stands == needed:
		s.held = t.held
	}
	if spec == nil {
		s.openPhases(t.phases)
	}
	return t
}

// wholePhases derives a phase per group, and a step per instance.
func (s *deployer) wholePhases() []*phase {
	var phases []*phase
	for _, g := range s.groups {
		if g.def == nil || !s.wanted() {
			continue
		}
		p := &phase{
			name: g.name, group: g, strategy: api.StrategyParallel, limit: s.limitOf(g), rolling: g.rolling,
			steps: s.scratch.tree.stepsFor(len(g.instances)),
		}
		p.reverts = p.limit > 0 && s.reverts()
		if g.rolling && (p.limit > 0 || s.wasDeployed()) {
			p.strategy, p.most = api.StrategySerial, maxParallel(g)
		}
		for i := range g.instances {
			s.deployStep(&p.steps[i], &g.instances[i], s.stands)
			if s.stands == notNeeded && g.rolling && (p.steps[i].action != none || g.unpromoted) {
				s.stands = needed
			}
		}
		phases = append(phases, p)
	}
	if s.stands == needed {
		// Steps before the first that needs it were derived without it: health
		// counts for them too.
		for _, p := range phases {
			clear(p.steps)
			for i := range p.steps {
				s.deployStep(&p.steps[i], &p.group.instances[i], s.stands)
			}
		}
	}
	return phases
}

// applyRestarts has what operators want restarted done again: tasks that run are launched
// once more where they are, and what failed is started anew without delay.
func (s *deployer) applyRestarts(t *tree, r *rulings) {
	if !r.rulesSteps() {
		return
	}
	for _, p := range t.phases {
		for i := range p.steps {
			st := &p.steps[i]
			if d := r.onStep(p.name, st.key()).again; d != nil && st.on.alloc != nil {
				s.applyRestart(p, st, d)
			}
		}
	}
}

func (s *deployer) applyRestart(p *phase, st *step, d *api.Decision) {
	a := st.on.alloc
	if in := st.on; (s.stands == succeeded || s.stands == given) && p.rolling && !in.closed && in.away == nil && s.outdated(in.group, a) {
		s.startOver(st) // the deployment left it out
		return
	}
	if st.action == launch {
		for _, l := range st.extra.launches {
			l.Index = max(l.Index, d.CreateIndex) // its first run is the one that is wanted
		}
	}
	if st.action != update && (st.action != none || !s.isCurrent(a)) {
		return // it is done again anyway
	}
	if a.CreateIndex > d.CreateIndex {
		s.showRestartedStep(st, d)
		return
	}
	switch st.on.state {
	case failed, lost, moving, ended:
		s.startOver(st)
		return
	}
	if p.limit == 0 && p.rolling && s.spec == nil {
		p.limit, p.strategy = maxParallel(st.on.group), api.StrategySerial
	}
	wanted := make(map[string]*api.Launch)
	least, known, goesOn := Complete, true, false
	for _, name := range restartedTasks(st) {
		task := st.on.group.def.Task(name)
		goesOn = goesOn || task != nil && goalOf(s.job, task) == api.GoalRunning
		if task == nil || a.Launches != nil && a.Launches.Tasks[name] != nil && a.Launches.Tasks[name].Index >= d.CreateIndex {
			if task != nil && taskStatus(s.job, a, task) != Complete {
				least = taskStatus(s.job, a, task)
			}
			known = known && task != nil && isRestartedBy(a.Launches.Tasks[name], d)
			continue
		}
		wanted[name] = &api.Launch{Token: d.ID, Index: d.CreateIndex, Why: restartReason(d)}
	}
	if len(wanted) > 0 {
		st.mutableExtra().launches, st.mutableExtra().begun = wanted, st.status == Starting || st.status == Started
		st.extra.updates, st.settles = !s.isCurrent(a), false
		st.action, st.status, st.why = launch, Pending, ""
		return
	}
	if !known || st.action != none || st.status != Complete { // something else was wanted of them since
		return
	}
	if least == Complete && p.rolling && goesOn {
		if healthy, _ := launchedWell(a); !healthy {
			least = Started
		}
	}
	if least != Complete {
		st.status, st.why = least, restartReason(d)
	}
}

// startOver has the step done again by the next allocation of its instance; one
// that is done for good is not run by that.
func (s *deployer) startOver(st *step) {
	if st.action, st.status, st.why = replace, Pending, ""; st.tasks != nil && s.wasDone(st.on, st.tasks) {
		st.action, st.status = none, Complete
	}
}

// isRestartedBy reports whether the launch is what the decision to restart asks for: another
// run of a task, or the first one of one that had yet to be launched.
func isRestartedBy(l *api.Launch, d *api.Decision) bool {
	return l.Token == d.ID || l.Token == deployToken && l.Index == d.CreateIndex
}

// showRestartedStep shows a step that was done again by an allocation that took over from
// one that had failed: also after the deployment, it is complete only once that runs.
func (s *deployer) showRestartedStep(st *step, d *api.Decision) {
	a, before := st.on.alloc, st.on.last
	switch {
	case before == nil, before.ID != a.PreviousAllocation, before.CreateIndex > d.CreateIndex && s.isCurrent(before),
		st.action != none, st.status != Complete, st.on.state != placed && st.on.state != running:
		return
	}
	for _, name := range restartedTasks(st) {
		if task := st.on.group.def.Task(name); task != nil {
			if is := taskStatus(s.job, a, task); is == Starting || is == Started && st.status == Complete {
				st.status, st.why = is, restartReason(d)
			}
		}
	}
}

// restartedTasks are the tasks that a restart of the step runs again: those that it
// names, or else those that go on running.
func restartedTasks(st *step) []string {
	if st.tasks != nil {
		return st.tasks
	}
	var names []string
	for _, t := range st.on.group.def.Tasks {
		if goalOf(st.job, t) == api.GoalRunning {
			names = append(names, t.Name)
		}
	}
	return names
}

func restartReason(d *api.Decision) string { return "restarted by " + orUnknown(d.By) }

// progress reads how the newest version's deployment stands, apart from
// whether one is needed.
func (s *deployer) progress() progress {
	d := s.deployment
	if !s.deploysCurrent(d) {
		if s.collected && s.job.Stable {
			return succeeded
		}
		if s.collected {
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
	return ongoing
}

// hasFailed reports whether the deployment of the newest version has failed: then
// so has the plan, whatever becomes of its instances.
func (s *facts) hasFailed() bool {
	return s.deploysCurrent(s.deployment) && s.deployment.Status == api.DeploymentFailed
}

// deploysCurrent reports whether the deployment is that of the newest version.
func (s *facts) deploysCurrent(d *api.Deployment) bool {
	return d != nil && s.job != nil && d.JobVersion == s.job.Version && d.JobCreateIndex == s.job.CreateIndex
}

// deployStep derives what is left to do for one instance to be of the newest
// version and well, into a step that is empty.
func (s *deployer) deployStep(st *step, in *instance, stands progress) {
	st.on, st.job, st.status = in, s.job, Pending
	g := in.group
	settled := g.rolling && (stands == succeeded || stands == given)
	switch {
	case s.isAbandoned(in):
		s.abandonStep(st)
	case in.alloc == nil && settled:
		st.status = Complete // what is missing now is recovery's
		if stands == given && !s.isMissed(in) && in.node == "" && (s.hasOutdated(g) || s.spec != nil) {
			st.status, st.why = Pending, whyUnstarted
		}
	case in.alloc == nil && stands == notNeeded && g.rolling && s.isMissed(in) && s.ownVersion(in) == s.job && needsRecovery(in.last):
		st.status = Complete // it ran without a deployment: recovery brings it back
	case in.alloc == nil:
		switch {
		case !s.isMissed(in):
			st.action = start
		case in.last.DesiredReason == api.ReasonUpdated:
			st.action, st.status = start, Prepared
		case !g.rolling, s.ownVersion(in) == s.job:
			st.action = start
		default: // recovery brings the older version back, unless its turn comes first
			st.action = replace
		}
	case in.closed && s.isPinned(in):
		st.status, st.why = Complete, whyClosed
	case s.isCurrent(in.alloc):
		st.status, st.why, st.until = s.goalStatus(in, stands)
	case s.isDone(in):
		st.status = Complete
	case settled:
		st.status = Complete
		if stands == given && (s.destructive(g, in.alloc) || s.proves(g, in.alloc)) {
			st.status, st.why = Pending, whyKept
		}
	case in.away != nil && !in.away.replaced && s.destructive(g, in.alloc):
		st.status, st.why = Started, whyWaits
	case in.state == failed, in.state == ended, s.destructive(g, in.alloc):
		st.action = replace // a new version is also a new attempt
	case in.state == lost, in.state == moving, in.isReplaced():
		st.why = "recovery starts it anew, at the newest version"
	default:
		st.action = update
		st.settles, st.proves = of(s.carried(in)), s.proves(g, in.alloc)
	}
}

// carriedHealth is what is known of an instance's health and goes on to hold
// when it is updated in place; nil if its node has yet to say.
func carriedHealth(in *instance) *bool {
	a := in.alloc
	switch {
	case a.DeploymentStatus != nil && a.DeploymentStatus.Healthy != nil:
		return a.DeploymentStatus.Healthy
	case a.DeploymentID == "" && in.state == running:
		return new(true) // it was never asked about, and serves
	}
	return nil
}

// goalStatus says how far an instance of the newest version is.
func (s *deployer) goalStatus(in *instance, stands progress) (status Status, why string, until time.Time) {
	if in.group.rolling && s.hasFailed() {
		if why = s.whyUnwell(in); why != "" {
			return Error, why, until
		}
	}
	healthy := !in.group.rolling || stands == succeeded || stands == notNeeded || of(carriedHealth(in))
	switch in.state {
	case placed:
		status = Starting
	case running, unknown:
		status = Started
		if healthy && !s.job.RunsToCompletion() {
			status = Complete
		} else if in.alloc.IsUnhealthy() {
			why = "it did not become healthy in time"
		}
	case failed, ended:
		if s.job.RunsToCompletion() && in.state == ended {
			return Complete, "", until
		}
		if a := s.attemptAt(in); a.never {
			status, why = Error, a.why
		} else if a.due.After(s.now) {
			status, why, until = Delayed, "it failed; the next attempt is due later", a.due
		} else {
			status, why = Pending, "it failed"
		}
	case lost:
		status, why = Pending, api.ReasonNodeDown.Text()
	case moving:
		status, why = Pending, api.ReasonMoved.Text()
	}
	if in.group.rolling && (stands == succeeded || stands == notNeeded) {
		status, why = Complete, "" // what happens to it now is recovery's
	}
	return status, why, until
}

// isPinned reports whether the instance would be replaced, if its node let it.
func (s *facts) isPinned(in *instance) bool {
	switch {
	case in.state == ended && s.job.RunsToCompletion():
		return !s.isCurrent(in.alloc) && !s.isDone(in)
	case in.state == failed, in.state == ended:
		return true
	}
	return !s.isCurrent(in.alloc) && s.destructive(in.group, in.alloc)
}

// isDone reports whether a task that runs to completion has done what the
// newest version asks for already, under an older one that was no different.
func (s *facts) isDone(in *instance) bool {
	return s.job.RunsToCompletion() && in.state == ended && !s.destructive(in.group, in.alloc)
}

// hasOutdated reports whether instances of an older version are left in the group,
// even if only to be recovered.
func (s *facts) hasOutdated(g *group) bool {
	old, known := s.old[g]
	if !known {
		for i := range g.instances {
			old = old || s.ownVersion(&g.instances[i]) != s.job
		}
		note(&s.old, g, old)
	}
	return old
}

// isMissed reports whether the last allocation of a vacant place says how that
// is to be filled. Any other last one might as well have been forgotten, and may
// not make a difference: one from before the job was removed and registered
// again, or that the job itself did not want any more.
func (s *facts) isMissed(in *instance) bool {
	return in.last != nil && s.knows(in.last) && leavesGap(in.last)
}

// IsMissed reports whether a stopped allocation, the last one of its instance,
// says how that is to be filled again: until that is done, it must not be
// forgotten.
func IsMissed(r Reader, job *api.Job, a *api.Allocation) bool {
	g := job.Group(a.Group)
	if g == nil || job.Stop || a.IsCanary() && !job.RunsOnEveryNode() || a.NextAllocation != "" || !rolls(job, g) || a.Job == nil || a.Job.CreateIndex != job.CreateIndex || !leavesGap(a) {
		return false
	}
	if job.RunsOnEveryNode() {
		n := r.Node(a.NodeID)
		return n != nil && n.Status != api.NodeStatusDown
	}
	return a.Index() < g.Size()
}

// HasInstance reports whether the job still has the instance that the allocation
// was made for. One that runs on every node may have it again at any time.
func HasInstance(job *api.Job, a *api.Allocation) bool {
	g := job.Group(a.Group)
	return g != nil && (job.RunsOnEveryNode() || a.Index() < g.Size())
}

// leavesGap reports whether what stopped an allocation was anything but that
// the job did not want its instance any more.
func leavesGap(a *api.Allocation) bool {
	switch a.DesiredReason {
	case api.ReasonScaledDown, api.ReasonGroupRemoved, api.ReasonJobStopped, api.ReasonPurged, api.ReasonInfeasible:
		return false
	}
	return true
}

// needsRecovery reports whether what stopped the last allocation of a vacant
// place was not a change of the job: then it is recovered as it was.
func needsRecovery(last *api.Allocation) bool {
	return leavesGap(last) && last.DesiredReason != api.ReasonUpdated
}
