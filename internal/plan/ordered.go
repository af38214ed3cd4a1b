// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package plan

import "github.com/reeve-run/reeve/api"

// restartOrdered derives the step of tasks that an operator wants restarted in
// the allocation that runs them.
func (s *survey) restartOrdered(in *instance) step {
	orders := s.orders(in)
	a := in.alloc
	g := a.Job.Group(in.group.name)
	if len(orders) == 0 || g == nil {
		return step{}
	}
	st := step{on: in, job: a.Job, tasks: []string{}}
	for _, t := range g.Tasks {
		d := latest(orders, t.Name, api.VerbRestart)
		if d == nil || d.Allocation != a.ID || s.pausedBy(in, t.Name) != nil {
			continue
		}
		l, _ := launchOf(a, t.Name)
		switch {
		case d.CreateIndex > l.Index && goesOn(a, g, t):
			if st.do == none {
				st.do, st.also().launches = launch, make(map[string]*api.Launch)
			}
			st.status, st.why = Pending, said("restarted", d)
			st.also().launches[t.Name] = &api.Launch{
				Token: d.ID, Await: l.Await, Index: d.CreateIndex, Env: l.Env, Why: said("restarted", d),
			}
		case l.Token == d.ID:
			is, why := upAgain(a, t.Name)
			if is == Complete {
				continue
			}
			if st.do == none && st.status != Starting {
				st.status, st.why = is, said("restarted", d)+why
			}
		default:
			continue
		}
		st.tasks = append(st.tasks, t.Name)
	}
	if st.status != "" {
		st.also().recovery = api.RecoveryTransient
	}
	return st
}

// upAgain says how far a task is that was launched anew in place: STARTING until
// it runs, STARTED until its allocation is known to be well or not.
func upAgain(a *api.Allocation, task string) (is Status, why string) {
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

// pausing shows tasks that are held and have not ended, and those that were let
// go and do not run yet.
func (s *survey) pausing(in *instance) step {
	orders := s.orders(in)
	a := in.alloc
	g := a.Job.Group(in.group.name)
	if len(orders) == 0 || g == nil {
		return step{}
	}
	st := step{on: in, job: a.Job, tasks: []string{}}
	for _, t := range g.Tasks {
		d := latest(orders, t.Name, api.VerbPause, api.VerbResume)
		if d == nil {
			continue
		}
		if is, why := s.passing(a, t.Name, d); is != "" {
			if st.status != Starting {
				st.status, st.why = is, why
			}
			st.tasks = append(st.tasks, t.Name)
		}
	}
	return st
}

// passing says how far a task is on its way to what a decision to pause or to
// resume it asks for; "" once it is there.
func (s *survey) passing(a *api.Allocation, task string, d *api.Decision) (is Status, why string) {
	l, launched := launchOf(a, task)
	t := a.TaskStates[task]
	switch {
	case d.Verb == api.VerbPause && launched && (!l.Hold || t != nil && t.State == api.TaskStateRunning):
		return Starting, said("it is being paused: paused", d)
	case d.Verb == api.VerbResume && l.Hold:
		return Starting, said("resumed", d)
	case d.Verb == api.VerbResume && l.Token == d.ID:
		if is, why = upAgain(a, task); is != Complete {
			return is, said("resumed", d) + why
		}
	}
	return "", ""
}
