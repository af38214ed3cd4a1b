// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package derive

import (
	"slices"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/plan/decision"
	"github.com/reeve-run/reeve/internal/plan/facts"
	"github.com/reeve-run/reeve/internal/plan/launch"
	"github.com/reeve-run/reeve/internal/plan/tree"
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
	phaseInstances = "instances"
	whyNewer       = "it is newer than the restart"
)

// A restarter builds the plan restart.
type restarter struct {
	*Rollout
	dirty  *tree.DirtySet
	unwell []string
}

// Restart is the job's newest restart, as far as it concerns the job, with its plan.
type Restart struct {
	Job  *api.JobRestart
	Tree *tree.Tree
	// Unwell are allocations that it restarted, that did not become healthy again, and that
	// the stored restart does not list yet.
	Unwell []string
}

// IsActive reports whether the job has a restart that has not ended.
func (r *Restart) IsActive() bool { return r != nil && r.Job.IsActive() }

// buildRestart derives the plan of the job's newest restart; nil if it has none.
func buildRestart(r *Rollout, dirty *tree.DirtySet) *Restart {
	s := restarter{Rollout: r, dirty: dirty}
	j := r.R.LatestRestart(r.Key.Namespace, r.Key.ID)
	if j == nil || r.Job == nil || j.JobCreateIndex != r.Job.CreateIndex {
		return nil
	}
	return &Restart{Job: j, Tree: s.restartTree(j), Unwell: s.unwell}
}

// restartTree derives the plan of a restart.
func (r *restarter) restartTree(j *api.JobRestart) *tree.Tree {
	t := &tree.Tree{Name: api.PlanRestart, Strategy: api.StrategySerial, Run: j.ID, Message: j.StatusDescription, Literal: true}
	p := &tree.Phase{Name: phaseInstances, Strategy: api.StrategySerial, Limit: j.BatchSize, Open: true}
	t.Phases = []*tree.Phase{p}
	switch {
	case !j.IsActive():
		r.restarted(p, j)
		if j.Status == api.RestartFailed {
			t.Errors = append(t.Errors, j.StatusDescription)
		}
		return t
	case j.Status == api.RestartPaused:
		t.Held = true
	}
	if j.StatusReason == api.ReasonRestartRunning {
		t.Message = ""
	}
	r.judgeRestarted(j)
	r.restartSteps(p, j)
	t.ApplyRulings(r.Decisions.RulingsOf(api.PlanRestart, func(d *api.Decision) bool {
		return d.Run == j.ID && (d.Verb == api.VerbForceComplete || d.Phase != "") // the rest is in its status
	}))
	r.nextBatch(p, j)
	return t
}

// restartSteps derives a step for each instance.
func (r *restarter) restartSteps(p *tree.Phase, j *api.JobRestart) {
	told := make(map[string]bool, len(j.RestartedAllocs))
	for _, id := range j.RestartedAllocs {
		told[id] = true
	}
	for _, g := range r.Groups {
		if g.Def == nil || len(j.Groups) > 0 && !slices.Contains(j.Groups, g.Name) {
			continue
		}
		for i := range g.Instances {
			in := &g.Instances[i]
			tasks := r.restartable(in, j)
			if j.Templates && len(tasks) == 0 && (in.Alloc == nil || !told[in.Alloc.ID]) {
				continue // it has the newest rendering
			}
			if len(tasks) == 0 && (in.Alloc == nil || !told[in.Alloc.ID]) && len(j.Tasks) > 0 && !hasTask(g.Def, j.Tasks) {
				continue
			}
			p.Steps = append(p.Steps, r.restartStep(in, j, tasks, told))
		}
	}
}

func hasTask(g *api.Group, tasks []string) bool {
	return slices.ContainsFunc(g.Tasks, func(t *api.Task) bool { return slices.Contains(tasks, t.Name) })
}

// restartable are the tasks of the instance that the restart is about.
func (r *restarter) restartable(in *facts.Instance, j *api.JobRestart) (tasks []string) {
	a := in.Alloc
	if a == nil || a.Job == nil {
		return nil
	}
	g := a.Job.Group(in.Group.Name)
	if g == nil {
		return nil
	}
	for _, t := range g.Tasks {
		l, _ := launch.Of(a, t.Name)
		if (len(j.Tasks) == 0 || slices.Contains(j.Tasks, t.Name)) && (!j.Templates || l.Token == j.ID || hasNewerRendering(a, t.Name)) && (l.Token == j.ID || !l.Hold && launch.KeepsRunning(a, g, t)) {
			tasks = append(tasks, t.Name)
		}
	}
	return tasks
}

// hasNewerRendering reports whether a task waits for a rolling restart with a newer rendering of a template.
func hasNewerRendering(a *api.Allocation, task string) bool {
	all, _ := a.TaskStates[task].PendingTemplates()
	return len(all) > 0
}

func (r *restarter) restartStep(in *facts.Instance, j *api.JobRestart, tasks []string, told map[string]bool) tree.Step {
	st := tree.Step{On: in, Job: r.OwnVersion(in), Tasks: tasks, Status: tree.Complete}
	a := in.Alloc
	switch {
	case a == nil, a.IsClientTerminal(), in.State == facts.Lost:
		st.Why = "it does not run: its next start counts as the restart"
	case told[a.ID]:
		st.Status, st.Why = r.cameBack(j, a)
	case a.CreateIndex > j.CreateIndex && !j.Templates:
		st.Why = whyNewer
	case r.Paused(in, nil) != nil:
		st.Why = decision.Describe("paused", r.Paused(in, nil)) + "; resuming it starts it again"
	case len(tasks) == 0:
		st.Why = "none of the tasks to restart runs"
	case in.State == facts.Unknown:
		st.Status, st.Why = tree.Pending, "its node is out of reach: it is restarted when the node returns"
	case r.dirty.IsTouched(in):
		st.Status, st.Why = tree.Pending, "another plan works on it"
	default:
		st.Action, st.Status = tree.Launch, tree.Pending
		wanted := make(map[string]*api.Launch, len(tasks))
		for _, name := range tasks {
			l, _ := launch.Of(a, name)
			wanted[name] = &api.Launch{
				Token: j.ID, Await: l.Await, Env: l.Env, Index: max(l.Index, j.CreateIndex),
				Why: "restarted by " + j.By + ", restart " + api.ShortID(j.ID),
			}
		}
		st.MutableExtra().Launches = wanted
	}
	return st
}

// cameBack says how far an allocation is that was told to restart.
func (r *restarter) cameBack(j *api.JobRestart, a *api.Allocation) (is tree.Status, why string) {
	if slices.Contains(j.UnhealthyAllocs, a.ID) || slices.Contains(r.unwell, a.ID) {
		return tree.Complete, "it did not become healthy again"
	}
	if a.Launches == nil {
		return tree.Complete, ""
	}
	least := tree.Complete
	for name, l := range a.Launches.Tasks {
		if l.Token != j.ID || l.Hold {
			continue
		}
		switch t := a.TaskStates[name]; {
		case t == nil, t.Launch != j.ID, t.State == api.TaskStatePending:
			least = tree.Starting
		case j.HealthGate && least == tree.Complete && t.State == api.TaskStateRunning && !isJudged(a):
			least, why = tree.Started, "it runs, and is not known to be healthy yet"
		}
	}
	switch {
	case least == tree.Starting && r.IsUnreachable(a):
		why = "its node is out of reach"
	case least != tree.Started:
		why = ""
	}
	return least, why
}

// isJudged reports whether the node has said how well the allocation is since its
// launches last changed.
func isJudged(a *api.Allocation) bool {
	return a.Launches != nil && a.LaunchStatus != nil && a.LaunchStatus.ID == a.Launches.ID && a.LaunchStatus.Healthy != nil
}

// judgeRestarted finds what did not become healthy again, and is not noted yet.
func (r *restarter) judgeRestarted(j *api.JobRestart) {
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
	for a := range r.R.AllocationsByJob(r.Key.Namespace, r.Key.ID) {
		if told[a.ID] && restartedBadly(j, a) {
			r.unwell = append(r.unwell, a.ID)
		}
	}
	slices.Sort(r.unwell)
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

// Tripped reports whether too many allocations became unhealthy for the restart to
// continue by itself.
func Tripped(j *api.JobRestart, unwell []string) bool {
	return len(unwell) > 0 && j.OnError != api.RestartOnErrorContinue && len(j.UnhealthyAllocs)+len(unwell) > j.MaxUnhealthy
}

// nextBatch leaves those steps to be done that are the next batch: none while
// one is under way, or the time between batches is not over.
func (r *restarter) nextBatch(p *tree.Phase, j *api.JobRestart) {
	begins := !r.IsUnderWay() && !Tripped(j, r.unwell)
	due := r.batchDue(p, j)
	if due.After(r.Now) || p.Begun() > 0 {
		begins = false
	}
	room := j.BatchSize
	for i := range p.Steps {
		st := &p.Steps[i]
		if st.Action != tree.Launch {
			continue
		}
		switch {
		case room == 0 || !begins && !due.After(r.Now):
			st.Action = tree.None
		case due.After(r.Now):
			st.Action, st.Status, st.Until = tree.None, tree.Delayed, due
			st.Why = "the next batch begins then"
		}
		if room > 0 {
			room--
		}
	}
}

// batchDue is when the next batch may begin; zero: at once.
func (r *restarter) batchDue(p *tree.Phase, j *api.JobRestart) (due time.Time) {
	switch {
	case j.BatchWait <= 0 || len(j.RestartedAllocs) == 0 || p.Begun() > 0:
		return due
	case j.NextBatch.IsZero():
		return r.Now.Add(j.BatchWait)
	}
	return j.NextBatch
}

// restarted shows what a restart that has ended did.
func (r *restarter) restarted(p *tree.Phase, j *api.JobRestart) {
	told := make(map[string]int, len(j.RestartedAllocs))
	for i, id := range j.RestartedAllocs {
		told[id] = i + 1
	}
	for _, g := range r.Groups {
		for i := range g.Instances {
			in := &g.Instances[i]
			if in.Alloc != nil && told[in.Alloc.ID] > 0 {
				st := tree.Step{On: in, Job: in.Alloc.Job, Tasks: r.restartable(in, j), Status: tree.Complete}
				if slices.Contains(j.UnhealthyAllocs, in.Alloc.ID) {
					st.Why = "it did not become healthy again"
				}
				p.Steps = append(p.Steps, st)
			}
		}
	}
}
