// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package plan

import "github.com/reeve-run/reeve/api"

// restartOrdered derives the step of tasks that an operator wants restarted in
// the allocation that runs them.
func (s *recoverer) restartOrdered(in *instance) step {
	orders := s.ordersOn(in)
	a := in.alloc
	g := a.Job.Group(in.group.name)
	if len(orders) == 0 || g == nil {
		return step{}
	}
	st := step{on: in, job: a.Job, tasks: []string{}}
	for _, t := range g.Tasks {
		d := orders.latest(t.Name, api.VerbRestart)
		if d == nil || d.Allocation != a.ID || s.ordersOn(in).pausedBy(t.Name) != nil {
			continue
		}
		l, _ := launchOf(a, t.Name)
		switch {
		case d.CreateIndex > l.Index && goesOn(a, g, t):
			if st.action == none {
				st.action, st.mutableExtra().launches = launch, make(map[string]*api.Launch)
			}
			st.status, st.why = Pending, describeDecision("restarted", d)
			st.mutableExtra().launches[t.Name] = &api.Launch{
				Token: d.ID, Await: l.Await, Index: d.CreateIndex, Env: l.Env, Why: describeDecision("restarted", d),
			}
		case l.Token == d.ID:
			is, why := relaunchStatus(a, t.Name)
			if is == Complete {
				continue
			}
			if st.action == none && st.status != Starting {
				st.status, st.why = is, describeDecision("restarted", d)+why
			}
		default:
			continue
		}
		st.tasks = append(st.tasks, t.Name)
	}
	if st.status != "" {
		st.mutableExtra().recovery = api.RecoveryTransient
	}
	return st
}

// relaunchStatus says how far a task is that was launched anew in place: STARTING until
// it runs, STARTED until its allocation is known to be well or not.
func relaunchStatus(a *api.Allocation, task string) (is Status, why string) {
	l, _ := launchOf(a, task)
	t := a.TaskStates[task]
	switch {
	case t == nil, t.Launch != l.Token, t.State == api.TaskStatePending:
		return Starting, ""
	case t.State == api.TaskStateDead:
		return Complete, ""
	}
	if h := a.LaunchStatus; h != nil && h.ID == a.Launches.ID && h.Healthy != nil {
		return Complete, ""
	}
	return Started, "; it runs, and is not known to be healthy yet"
}

// pauseStep shows tasks that are held and have not ended, and those that were let
// go and do not run yet.
func (s *recoverer) pauseStep(in *instance) step {
	orders := s.ordersOn(in)
	a := in.alloc
	g := a.Job.Group(in.group.name)
	if len(orders) == 0 || g == nil {
		return step{}
	}
	st := step{on: in, job: a.Job, tasks: []string{}}
	for _, t := range g.Tasks {
		d := orders.latest(t.Name, api.VerbPause, api.VerbResume)
		if d == nil {
			continue
		}
		if is, why := s.pauseProgress(a, t.Name, d); is != "" {
			if st.status != Starting {
				st.status, st.why = is, why
			}
			st.tasks = append(st.tasks, t.Name)
		}
	}
	return st
}

// pauseProgress says how far a task is on its way to what a decision to pause or to
// resume it asks for; "" once it is there.
func (s *recoverer) pauseProgress(a *api.Allocation, task string, d *api.Decision) (is Status, why string) {
	l, launched := launchOf(a, task)
	t := a.TaskStates[task]
	switch {
	case d.Verb == api.VerbPause && launched && (!l.Hold || t != nil && t.State == api.TaskStateRunning):
		return Starting, describeDecision("it is being paused: paused", d)
	case d.Verb == api.VerbResume && l.Hold:
		return Starting, describeDecision("resumed", d)
	case d.Verb == api.VerbResume && l.Token == d.ID:
		if is, why = relaunchStatus(a, task); is != Complete {
			return is, describeDecision("resumed", d) + why
		}
	}
	return "", ""
}
