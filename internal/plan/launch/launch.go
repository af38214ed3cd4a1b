// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package launch

import (
	"maps"
	"slices"
	"strings"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/plan/ident"
)

// New returns the launches of an allocation's tasks; nil if all tasks simply run from
// the beginning.
func New(tasks map[string]*api.Launch) *api.Launches {
	if len(tasks) == 0 {
		return nil
	}
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(tasks)) {
		l := tasks[name]
		b.WriteString(name + "\x00" + l.Token + "\x00")
		for _, is := range []bool{l.Await, l.Hold, l.Done, l.Alone} {
			if is {
				b.WriteByte('1')
			}
			b.WriteByte('|')
		}
		for _, key := range slices.Sorted(maps.Keys(l.Env)) {
			b.WriteString(key + "\x00" + l.Env[key] + "\x00")
		}
	}
	return &api.Launches{ID: ident.Derive("launches", b.String()), Tasks: tasks}
}

// Of returns the launch of the task. A task that simply runs from the beginning has an
// empty one, and counts as launched.
func Of(a *api.Allocation, task string) (l api.Launch, launched bool) {
	if a.Launches != nil {
		if told := a.Launches.Tasks[task]; told != nil {
			return *told, told.Token != ""
		}
	}
	return l, true
}

// KeepsRunning reports whether the task can be restarted in place: it has been
// launched, it keeps running (or runs now, if the job does not declare its goal), and
// no custom plan runs it.
func KeepsRunning(a *api.Allocation, g *api.Group, t *api.Task) bool {
	l, launched := Of(a, t.Name)
	if !launched || l.Alone || a.Job.IsCustomOnly(g, t) {
		return false
	}
	is := a.TaskStates[t.Name]
	return GoalOf(a.Job, t) == api.GoalRunning || t.Goal == "" && is != nil && is.State == api.TaskStateRunning
}

// IsDone reports whether the allocation's task has ended well, or had nothing
// to do because a predecessor's has.
func IsDone(a *api.Allocation, task string) bool {
	l, launched := Of(a, task)
	is := a.TaskStates[task]
	switch {
	case l.Done:
		return true
	case !launched || l.Hold || is == nil || l.Token != "" && is.Launch != l.Token:
		return false
	}
	return is.IsSuccessful()
}

// First returns the first launch of one task; nil if it runs from the beginning.
func First(previous *api.Allocation, job *api.Job, g *api.Group, t *api.Task, kind string) *api.Launch {
	custom := job.IsCustomOnly(g, t)
	inherits := false
	// What a job did that was purged says nothing about the one that has its id now.
	if previous != nil && previous.Job != nil && previous.Job.CreateIndex == job.CreateIndex && IsDone(previous, t.Name) {
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
		was, _ := Of(previous, t.Name)
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

// Merge returns the launches of a new allocation: its first launches, changed by those
// of the step that places it. Launches that are done or held stay so.
func Merge(first, step map[string]*api.Launch) map[string]*api.Launch {
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
