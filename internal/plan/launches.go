// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"slices"

	"github.com/reeve-run/reeve/api"
)

// launchOf is what the allocation is told of the task; a task that simply runs
// from the beginning is told nothing, and launched.
func launchOf(a *api.Allocation, task string) (l api.Launch, launched bool) {
	if a.Launches != nil {
		if told := a.Launches.Tasks[task]; told != nil {
			return *told, told.Token != ""
		}
	}
	return l, true
}

// goesOn reports whether the task is one that can be restarted in place: it has
// been launched, it keeps running (or, if nobody has said what it is to reach,
// runs now), and no operator's plan runs it.
func goesOn(a *api.Allocation, g *api.Group, t *api.Task) bool {
	l, launched := launchOf(a, t.Name)
	if !launched || l.Alone || a.Job.IsCustomOnly(g, t) {
		return false
	}
	is := a.TaskStates[t.Name]
	return goalOf(a.Job, t) == api.GoalRunning || t.Goal == "" && is != nil && is.State == api.TaskStateRunning
}

// hasDone reports whether the allocation's task has ended well, or had nothing
// to do because a predecessor's has.
func hasDone(a *api.Allocation, task string) bool {
	l, launched := launchOf(a, task)
	is := a.TaskStates[task]
	switch {
	case l.Done:
		return true
	case !launched || l.Hold || is == nil || l.Token != "" && is.Launch != l.Token:
		return false
	}
	return is.IsSuccessful()
}

// firstLaunches are what an allocation begins with that takes over from previous
// (nil: nothing): tasks that an operator holds, those that only operators' plans
// run, and those that were done before. Kind is how it is recovered, if it is.
func (s *work) firstLaunches(in *instance, previous *api.Allocation, job *api.Job, kind string) map[string]*api.Launch {
	g := job.Group(in.group.name)
	if g == nil || len(s.ordersOn(in)) == 0 && !slices.ContainsFunc(g.Tasks, func(t *api.Task) bool { return t.Goal != "" }) {
		return nil
	}
	tasks := make(map[string]*api.Launch)
	for _, t := range g.Tasks {
		l := firstLaunch(previous, job, g, t, kind)
		if by := s.ordersOn(in).pausedBy(t.Name); by != nil {
			if l == nil {
				l = &api.Launch{Token: by.ID}
			}
			l.Hold, l.Index, l.Why = true, by.CreateIndex, describeDecision("paused", by)
		}
		if l != nil {
			tasks[t.Name] = l
		}
	}
	return tasks
}

// firstLaunch is that of one task; nil if it runs from the beginning.
func firstLaunch(previous *api.Allocation, job *api.Job, g *api.Group, t *api.Task, kind string) *api.Launch {
	custom := job.IsCustomOnly(g, t)
	inherits := false
	// What a job did that was purged says nothing about the one that has its id now.
	if previous != nil && previous.Job != nil && previous.Job.CreateIndex == job.CreateIndex && hasDone(previous, t.Name) {
		same := previous.Job.Version == job.Version
		switch {
		case custom, t.Goal == api.GoalOnce:
			inherits = true
		case t.Goal == api.GoalFinish:
			inherits = same && kind == api.RecoveryTransient
		}
	}
	switch {
	case inherits:
		was, _ := launchOf(previous, t.Name)
		l := &api.Launch{Token: was.Token, Done: true, Alone: was.Alone, Index: was.Index, Why: "done by allocation " + api.ShortID(previous.ID)}
		if l.Token == "" {
			l.Token = "first"
		}
		return l
	case custom:
		return &api.Launch{Why: "waits for an operator to start the plan that runs it"}
	}
	return nil
}

// mergeLaunches are the launches of a new allocation: what it begins with, and what the
// step that places it says of its tasks. What is done or held stays so.
func mergeLaunches(first, step map[string]*api.Launch) map[string]*api.Launch {
	if len(first) == 0 {
		return step
	}
	for name, l := range step {
		switch was := first[name]; {
		case was == nil || !was.Done && !was.Hold:
			first[name] = l
		case was.Hold && !was.Done:
			held := *l
			held.Hold, held.Index, held.Why = true, was.Index, was.Why
			first[name] = &held
		}
	}
	return first
}
