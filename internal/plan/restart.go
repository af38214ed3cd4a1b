// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"fmt"
	"slices"
	"time"

	"github.com/reeve-run/reeve/api"
)

// A restart goes through the instances that ran when it was asked for, batch by
// batch. To restart an allocation is to launch its tasks anew, under the
// restart's id: the node does that once, however often it is told. The same
// commit notes the allocation in the restart, so there is no moment in which
// one is known and not the other, and nothing is told twice.
//
// What is newer than the restart, or has ended, counts as restarted. A batch is
// under way until each of its allocations runs again (or is known to be well, if
// the restart has a health gate), and the next one begins a while after that.

const (
	describeRestarting = "Restart is running"
	phaseInstances     = "instances"
	whyNewer           = "it is newer than the restart"
)

// A restarter builds the plan restart.
type restarter struct {
	*rollout
	dirty  *dirtySet
	unwell []string
}

// restarting is the job's newest restart, as far as it concerns the job, with its plan.
type restarting struct {
	job  *api.JobRestart
	tree *tree
	// unwell are allocations that it restarted, that did not come back well, and that
	// the stored restart does not list yet.
	unwell []string
}

// isActive reports whether there is a restart that goes on.
func (r *restarting) isActive() bool { return r != nil && r.job.IsActive() }

// buildRestart derives the plan of the job's newest restart; nil if it has none.
func buildRestart(r *rollout, dirty *dirtySet) *restarting {
	s := restarter{rollout: r, dirty: dirty}
	j := r.r.LatestRestart(r.key.Namespace, r.key.ID)
	if j == nil || r.job == nil || j.JobCreateIndex != r.job.CreateIndex {
		return nil
	}
	return &restarting{job: j, tree: s.restartTree(j), unwell: s.unwell}
}

// restartTree derives the plan of a restart.
func (s *restarter) restartTree(j *api.JobRestart) *tree {
	t := &tree{name: api.PlanRestart, strategy: api.StrategySerial, run: j.ID, message: j.StatusDescription, literal: true}
	p := &phase{name: phaseInstances, strategy: api.StrategySerial, limit: j.BatchSize, open: true}
	t.phases = []*phase{p}
	switch {
	case !j.IsActive():
		s.restarted(p, j)
		if j.Status == api.RestartFailed {
			t.errors = append(t.errors, j.StatusDescription)
		}
		return t
	case j.Status == api.RestartPaused:
		t.held = true
	}
	if j.StatusDescription == describeRestarting {
		t.message = ""
	}
	s.judgeRestarted(j)
	s.restartSteps(p, j)
	t.rule(s.decisions.rulingsOf(api.PlanRestart, func(d *api.Decision) bool {
		return d.Run == j.ID && (d.Verb == api.VerbForceComplete || d.Phase != "") // the rest is in its status
	}))
	s.nextBatch(p, j)
	return t
}

// restartSteps derives a step for each instance.
func (s *restarter) restartSteps(p *phase, j *api.JobRestart) {
	told := make(map[string]bool, len(j.RestartedAllocs))
	for _, id := range j.RestartedAllocs {
		told[id] = true
	}
	for _, g := range s.groups {
		if g.def == nil || len(j.Groups) > 0 && !slices.Contains(j.Groups, g.name) {
			continue
		}
		for i := range g.instances {
			in := &g.instances[i]
			tasks := s.restartable(in, j)
			if len(tasks) == 0 && (in.alloc == nil || !told[in.alloc.ID]) && len(j.Tasks) > 0 && !hasTask(g.def, j.Tasks) {
				continue
			}
			p.steps = append(p.steps, s.restartStep(in, j, tasks, told))
		}
	}
}

func hasTask(g *api.Group, tasks []string) bool {
	return slices.ContainsFunc(g.Tasks, func(t *api.Task) bool { return slices.Contains(tasks, t.Name) })
}

// restartable are the tasks of the instance that the restart is about.
func (s *restarter) restartable(in *instance, j *api.JobRestart) (tasks []string) {
	a := in.alloc
	if a == nil || a.Job == nil {
		return nil
	}
	g := a.Job.Group(in.group.name)
	if g == nil {
		return nil
	}
	for _, t := range g.Tasks {
		l, _ := launchOf(a, t.Name)
		if (len(j.Tasks) == 0 || slices.Contains(j.Tasks, t.Name)) && (l.Token == j.ID || !l.Hold && goesOn(a, g, t)) {
			tasks = append(tasks, t.Name)
		}
	}
	return tasks
}

func (s *restarter) restartStep(in *instance, j *api.JobRestart, tasks []string, told map[string]bool) step {
	st := step{on: in, job: s.ownVersion(in), tasks: tasks, status: Complete}
	a := in.alloc
	switch {
	case a == nil, a.IsClientTerminal(), in.state == lost:
		st.why = "it does not run: what starts it anew restarts it"
	case told[a.ID]:
		st.status, st.why = s.cameBack(j, a)
	case a.CreateIndex > j.CreateIndex:
		st.why = whyNewer
	case s.paused(in, nil) != nil:
		st.why = describeDecision("paused", s.paused(in, nil)) + "; resuming it starts it anew"
	case len(tasks) == 0:
		st.why = "none of its tasks that are to be restarted runs"
	case in.state == unknown:
		st.status, st.why = Pending, "its node is out of reach: it is restarted when that is back"
	case s.dirty.isTouched(in):
		st.status, st.why = Pending, "another plan works on it"
	default:
		st.action, st.status = launch, Pending
		wanted := make(map[string]*api.Launch, len(tasks))
		for _, name := range tasks {
			l, _ := launchOf(a, name)
			wanted[name] = &api.Launch{
				Token: j.ID, Await: l.Await, Env: l.Env, Index: max(l.Index, j.CreateIndex),
				Why: "restarted by " + j.By + ", restart " + api.ShortID(j.ID),
			}
		}
		st.mutableExtra().launches = wanted
	}
	return st
}

// cameBack says how far an allocation is that was told to restart.
func (s *restarter) cameBack(j *api.JobRestart, a *api.Allocation) (is Status, why string) {
	if slices.Contains(j.UnhealthyAllocs, a.ID) || slices.Contains(s.unwell, a.ID) {
		return Complete, "it did not come back well"
	}
	if a.Launches == nil {
		return Complete, ""
	}
	least := Complete
	for name, l := range a.Launches.Tasks {
		if l.Token != j.ID || l.Hold {
			continue
		}
		switch t := a.TaskStates[name]; {
		case t == nil, t.Launch != j.ID, t.State == api.TaskStatePending:
			least = Starting
		case j.HealthGate && least == Complete && t.State == api.TaskStateRunning && !isJudged(a):
			least, why = Started, "it runs, and is not known to be healthy yet"
		}
	}
	switch {
	case least == Starting && s.isUnreachable(a):
		why = "its node is out of reach"
	case least != Started:
		why = ""
	}
	return least, why
}

// isJudged reports whether the node has said how well the allocation is since its
// launches last changed.
func isJudged(a *api.Allocation) bool {
	return a.Launches != nil && a.LaunchStatus != nil && a.LaunchStatus.ID == a.Launches.ID && a.LaunchStatus.Healthy != nil
}

// judgeRestarted finds what did not come back well, and is not noted yet.
func (s *restarter) judgeRestarted(j *api.JobRestart) {
	if len(j.RestartedAllocs) == 0 {
		return
	}
	told := make(map[string]bool, len(j.RestartedAllocs))
	for _, id := range j.RestartedAllocs {
		told[id] = true
	}
	for _, id := range j.UnhealthyAllocs {
		delete(told, id)
	}
	for a := range s.r.AllocationsByJob(s.key.Namespace, s.key.ID) {
		if told[a.ID] && restartedBadly(j, a) {
			s.unwell = append(s.unwell, a.ID)
		}
	}
	slices.Sort(s.unwell)
}

// restartedBadly reports whether an allocation is known not to have come back.
func restartedBadly(j *api.JobRestart, a *api.Allocation) bool {
	if a.Launches == nil {
		return false
	}
	under := false
	for name, l := range a.Launches.Tasks {
		t := a.TaskStates[name]
		if l.Token == j.ID {
			under = true
			if t != nil && t.Launch == j.ID && t.State == api.TaskStateDead && t.Failed && !a.IsServerTerminal() {
				return true
			}
		}
	}
	return under && !a.IsServerTerminal() && (a.ClientStatus == api.AllocClientFailed || isJudged(a) && !*a.LaunchStatus.Healthy)
}

// tripped reports whether too much has come back badly for the restart to go on
// by itself.
func tripped(j *api.JobRestart, unwell []string) bool {
	return len(unwell) > 0 && j.OnError != api.RestartOnErrorContinue && len(j.UnhealthyAllocs)+len(unwell) > j.MaxUnhealthy
}

// nextBatch leaves those steps to be done that are the next batch: none while
// one is under way, or the time between batches is not over.
func (s *restarter) nextBatch(p *phase, j *api.JobRestart) {
	begins := !s.isUnderWay() && !tripped(j, s.unwell)
	due := s.batchDue(p, j)
	if due.After(s.now) || p.begun() > 0 {
		begins = false
	}
	room := j.BatchSize
	for i := range p.steps {
		st := &p.steps[i]
		if st.action != launch {
			continue
		}
		switch {
		case room == 0 || !begins && !due.After(s.now):
			st.action = none
		case due.After(s.now):
			st.action, st.status, st.until = none, Delayed, due
			st.why = "the next batch begins then"
		}
		if room > 0 {
			room--
		}
	}
}

// batchDue is when the next batch may begin; zero: at once.
func (s *restarter) batchDue(p *phase, j *api.JobRestart) (due time.Time) {
	switch {
	case j.BatchWait <= 0 || len(j.RestartedAllocs) == 0 || p.begun() > 0:
		return due
	case j.NextBatch.IsZero():
		return s.now.Add(j.BatchWait)
	}
	return j.NextBatch
}

// restarted shows what a restart that has ended did.
func (s *restarter) restarted(p *phase, j *api.JobRestart) {
	told := make(map[string]int, len(j.RestartedAllocs))
	for i, id := range j.RestartedAllocs {
		told[id] = i + 1
	}
	for _, g := range s.groups {
		for i := range g.instances {
			in := &g.instances[i]
			if in.alloc != nil && told[in.alloc.ID] > 0 {
				st := step{on: in, job: in.alloc.Job, tasks: s.restartable(in, j), status: Complete}
				if slices.Contains(j.UnhealthyAllocs, in.alloc.ID) {
					st.why = "it did not come back well"
				}
				p.steps = append(p.steps, st)
			}
		}
	}
}

// noteRestart notes in the restart what this evaluation does for it, and whether it
// is over.
func (w *work) noteRestart() {
	if !w.restart.isActive() {
		return
	}
	j := w.restart.job
	next := j.Copy()
	switch {
	case !w.wanted():
		next.Status, next.StatusDescription = api.RestartCancelled, "Cancelled because the job is stopped"
	case w.rollout.isUnderWay():
		next.Status, next.StatusDescription = api.RestartCancelled, fmt.Sprintf("Cancelled because version %d of the job is deployed", w.job.Version)
	default:
		w.continueRestart(next)
	}
	if !sameRestart(j, next) {
		next.UpdatedAt = w.now.UTC()
		w.result.Restart = next
	}
}

// continueRestart continues the restart with what its plan does now.
func (w *work) continueRestart(j *api.JobRestart) {
	p := w.restart.tree.phases[0]
	if unwell := w.restart.unwell; len(unwell) > 0 {
		tripped := tripped(j, unwell)
		j.UnhealthyAllocs = append(j.UnhealthyAllocs, unwell...)
		if tripped && j.OnError == api.RestartOnErrorFail {
			j.Status, j.NextBatch = api.RestartFailed, time.Time{}
			j.StatusDescription = fmt.Sprintf("Failed because %s", badly(j))
			return
		}
		if tripped {
			j.Status, j.StatusDescription = api.RestartPaused, fmt.Sprintf("Paused because %s: resume it to go on", badly(j))
		}
	}
	if len(p.chosen) > 0 {
		for _, st := range p.chosen {
			j.RestartedAllocs = append(j.RestartedAllocs, st.on.alloc.ID)
		}
		j.NextBatch = time.Time{}
		return
	}
	open, waits := 0, false
	for i := range p.steps {
		if st := &p.steps[i]; st.status != Complete {
			open++
			waits = waits || st.status == Delayed
		}
	}
	switch {
	case open == 0 && j.Status == api.RestartPaused && j.OnError == api.RestartOnErrorPause && len(j.UnhealthyAllocs) > j.MaxUnhealthy:
		// The last batch came back badly: nobody is to take it for done unseen.
	case open == 0:
		j.Status, j.NextBatch = api.RestartComplete, time.Time{}
		j.StatusDescription = fmt.Sprintf("Restarted %s", counted(len(j.RestartedAllocs), "allocation"))
		if len(j.UnhealthyAllocs) > 0 {
			j.StatusDescription += "; " + badly(j)
		}
	case waits && j.NextBatch.IsZero():
		j.NextBatch = w.now.Add(j.BatchWait).UTC()
	}
	if waits && j.IsActive() && j.NextBatch.After(w.now) {
		w.addFollowUp(deriveID("batch", j.ID, fmt.Sprint(len(j.RestartedAllocs)), fmt.Sprint(j.NextBatch.UnixNano())), j.NextBatch, api.TriggerRestart, "begins the next batch of a restart")
	}
}

// badly tells how many did not come back.
func badly(j *api.JobRestart) string {
	return fmt.Sprintf("%s did not come back well", counted(len(j.UnhealthyAllocs), "allocation"))
}

func counted(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// sameRestart reports whether nothing of it has changed.
func sameRestart(a, b *api.JobRestart) bool {
	return a.Status == b.Status && len(a.RestartedAllocs) == len(b.RestartedAllocs) &&
		len(a.UnhealthyAllocs) == len(b.UnhealthyAllocs) && a.NextBatch.Equal(b.NextBatch)
}
