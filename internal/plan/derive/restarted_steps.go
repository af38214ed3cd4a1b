// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package derive

import (
	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/plan/decision"
	"github.com/reeve-run/reeve/internal/plan/facts"
	"github.com/reeve-run/reeve/internal/plan/launch"
	"github.com/reeve-run/reeve/internal/plan/tree"
)

// applyRestarts has what operators want restarted done again: tasks that run are launched
// once more where they are, and what failed is started anew without delay.
func (s *deployer) applyRestarts(t *tree.Tree, r *decision.Rulings) {
	if !r.RulesSteps() {
		return
	}
	for _, p := range t.Phases {
		for i := range p.Steps {
			st := &p.Steps[i]
			if d := r.OnStep(p.Name, st.Key()).Again; d != nil && st.On.Alloc != nil {
				s.applyRestart(p, st, d)
			}
		}
	}
}

func (s *deployer) applyRestart(p *tree.Phase, st *tree.Step, d *api.Decision) {
	a := st.On.Alloc
	if in := st.On; (s.Stands == succeeded || s.Stands == given) && p.Rolling && !in.Closed && in.Away == nil && s.IsOutdated(in.Group, a) {
		s.startOver(st) // the deployment left it out
		return
	}
	if st.Action == tree.Launch {
		for _, l := range st.Extra.Launches {
			l.Index = max(l.Index, d.CreateIndex) // its first run is the one that is wanted
		}
	}
	if st.Action != tree.Update && (st.Action != tree.None || !s.IsCurrent(a)) {
		return // it is done again anyway
	}
	if a.CreateIndex > d.CreateIndex {
		s.showRestartedStep(st, d)
		return
	}
	switch st.On.State {
	case facts.Failed, facts.Lost, facts.Moving, facts.Ended:
		s.startOver(st)
		return
	}
	if p.Limit == 0 && p.Rolling && s.spec == nil {
		p.Limit, p.Strategy = maxParallel(st.On.Group), api.StrategySerial
	}
	wanted := make(map[string]*api.Launch)
	least, known, goesOn := tree.Complete, true, false
	for _, name := range restartedTasks(st) {
		task := st.On.Group.Def.Task(name)
		goesOn = goesOn || task != nil && launch.GoalOf(s.Job, task) == api.GoalRunning
		if task == nil || a.Launches != nil && a.Launches.Tasks[name] != nil && a.Launches.Tasks[name].Index >= d.CreateIndex {
			if task != nil && taskStatus(s.Job, a, task) != tree.Complete {
				least = taskStatus(s.Job, a, task)
			}
			known = known && task != nil && isRestartedBy(a.Launches.Tasks[name], d)
			continue
		}
		wanted[name] = &api.Launch{Token: d.ID, Index: d.CreateIndex, Why: restartReason(d)}
	}
	if len(wanted) > 0 {
		st.MutableExtra().Launches, st.MutableExtra().Begun = wanted, st.Status == tree.Starting || st.Status == tree.Started
		st.Extra.Updates, st.Settles = !s.IsCurrent(a), false
		st.Action, st.Status, st.Why = tree.Launch, tree.Pending, ""
		return
	}
	if !known || st.Action != tree.None || st.Status != tree.Complete { // something else was wanted of them since
		return
	}
	if least == tree.Complete && p.Rolling && goesOn {
		if healthy, _ := launch.LaunchHealth(a); !healthy {
			least = tree.Started
		}
	}
	if least != tree.Complete {
		st.Status, st.Why = least, restartReason(d)
	}
}

// startOver has the step done again by the next allocation of its instance; one
// that is done for good is not run by that.
func (d *deployer) startOver(st *tree.Step) {
	if st.Action, st.Status, st.Why = tree.Replace, tree.Pending, ""; st.Tasks != nil && d.wasDone(st.On, st.Tasks) {
		st.Action, st.Status = tree.None, tree.Complete
	}
}

// isRestartedBy reports whether the launch is what the decision to restart asks for: another
// run of a task, or the first one of one that had yet to be launched.
func isRestartedBy(l *api.Launch, d *api.Decision) bool {
	return l.Token == d.ID || l.Token == launch.DeployToken && l.Index == d.CreateIndex
}

// showRestartedStep shows a step that was done again by an allocation that took over from
// one that had failed: also after the deployment, it is complete only once that runs.
func (s *deployer) showRestartedStep(st *tree.Step, d *api.Decision) {
	a, before := st.On.Alloc, st.On.Last
	switch {
	case before == nil, before.ID != a.PreviousAllocation, before.CreateIndex > d.CreateIndex && s.IsCurrent(before),
		st.Action != tree.None, st.Status != tree.Complete, st.On.State != facts.Placed && st.On.State != facts.Running:
		return
	}
	for _, name := range restartedTasks(st) {
		if task := st.On.Group.Def.Task(name); task != nil {
			if is := taskStatus(s.Job, a, task); is == tree.Starting || is == tree.Started && st.Status == tree.Complete {
				st.Status, st.Why = is, restartReason(d)
			}
		}
	}
}

// restartedTasks are the tasks that a restart of the step runs again: those that it
// names, or else those that go on running.
func restartedTasks(st *tree.Step) []string {
	if st.Tasks != nil {
		return st.Tasks
	}
	var names []string
	for _, t := range st.On.Group.Def.Tasks {
		if launch.GoalOf(st.Job, t) == api.GoalRunning {
			names = append(names, t.Name)
		}
	}
	return names
}

func restartReason(d *api.Decision) string { return "restarted by " + decision.OrUnknown(d.By) }
