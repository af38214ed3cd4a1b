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

// restartOrdered derives the step of tasks that an operator wants restarted in
// the allocation that runs them.
func (r *recoverer) restartOrdered(in *facts.Instance) tree.Step {
	orders := r.OrdersOn(in)
	a := in.Alloc
	g := a.Job.Group(in.Group.Name)
	if len(orders) == 0 || g == nil {
		return tree.Step{}
	}
	st := tree.Step{On: in, Job: a.Job, Tasks: []string{}}
	for _, t := range g.Tasks {
		d := orders.Latest(t.Name, api.VerbRestart)
		if d == nil || d.Allocation != a.ID || r.OrdersOn(in).PausedBy(t.Name) != nil {
			continue
		}
		l, _ := launch.Of(a, t.Name)
		switch {
		case d.CreateIndex > l.Index && launch.KeepsRunning(a, g, t):
			if st.Action == tree.None {
				st.Action, st.MutableExtra().Launches = tree.Launch, make(map[string]*api.Launch)
			}
			st.Status, st.Why = tree.Pending, decision.Describe("restarted", d)
			st.MutableExtra().Launches[t.Name] = &api.Launch{
				Token: d.ID, Await: l.Await, Index: d.CreateIndex, Env: l.Env, Why: decision.Describe("restarted", d),
			}
		case l.Token == d.ID:
			is, why := relaunchStatus(a, t.Name)
			if is == tree.Complete {
				continue
			}
			if st.Action == tree.None && st.Status != tree.Starting {
				st.Status, st.Why = is, decision.Describe("restarted", d)+why
			}
		default:
			continue
		}
		st.Tasks = append(st.Tasks, t.Name)
	}
	if st.Status != "" {
		st.MutableExtra().Recovery = api.RecoveryTransient
	}
	return st
}

// relaunchStatus says how far a task is that was launched anew in place: STARTING until
// it runs, STARTED until its allocation is known to be well or not.
func relaunchStatus(a *api.Allocation, task string) (is tree.Status, why string) {
	l, _ := launch.Of(a, task)
	t := a.TaskStates[task]
	switch {
	case t == nil, t.Launch != l.Token, t.State == api.TaskStatePending:
		return tree.Starting, ""
	case t.State == api.TaskStateDead:
		return tree.Complete, ""
	}
	if h := a.LaunchStatus; h != nil && h.ID == a.Launches.ID && h.Healthy != nil {
		return tree.Complete, ""
	}
	return tree.Started, "; it runs, and is not known to be healthy yet"
}

// pauseStep shows tasks that are held and have not ended, and those that were let
// go and do not run yet.
func (r *recoverer) pauseStep(in *facts.Instance) tree.Step {
	orders := r.OrdersOn(in)
	a := in.Alloc
	g := a.Job.Group(in.Group.Name)
	if len(orders) == 0 || g == nil {
		return tree.Step{}
	}
	st := tree.Step{On: in, Job: a.Job, Tasks: []string{}}
	for _, t := range g.Tasks {
		d := orders.Latest(t.Name, api.VerbPause, api.VerbResume)
		if d == nil {
			continue
		}
		if is, why := r.pauseProgress(a, t.Name, d); is != "" {
			if st.Status != tree.Starting {
				st.Status, st.Why = is, why
			}
			st.Tasks = append(st.Tasks, t.Name)
		}
	}
	return st
}

// pauseProgress says how far a task is on its way to what a decision to pause or to
// resume it asks for; "" once it is there.
func (r *recoverer) pauseProgress(a *api.Allocation, task string, d *api.Decision) (is tree.Status, why string) {
	l, launched := launch.Of(a, task)
	t := a.TaskStates[task]
	switch {
	case d.Verb == api.VerbPause && launched && (!l.Hold || t != nil && t.State == api.TaskStateRunning):
		return tree.Starting, decision.Describe("it is being paused: paused", d)
	case d.Verb == api.VerbResume && l.Hold:
		return tree.Starting, decision.Describe("resumed", d)
	case d.Verb == api.VerbResume && l.Token == d.ID:
		if is, why = relaunchStatus(a, task); is != tree.Complete {
			return is, decision.Describe("resumed", d) + why
		}
	}
	return "", ""
}
