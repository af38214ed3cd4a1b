// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package tree

import (
	"strings"

	"github.com/reeve-run/reeve/api"
)

// Status is the plan's.
func (t *Tree) Status() Status {
	var all Tally
	for _, ph := range t.Phases {
		count := ph.Tally()
		is := t.StatusOf(ph, &count)
		all.Add(is, ph.Open && is != Complete)
	}
	return t.Combined(&all)
}

func (t *Tree) Combined(all *Tally) Status {
	if len(t.Errors) > 0 {
		return Error
	}
	return all.status(t.Held)
}

// Tally counts the phase's steps by status.
func (p *Phase) Tally() (t Tally) {
	for i := range p.Steps {
		st := &p.Steps[i]
		t.Add(st.Shown(), st.Next || st.Action == None && MaskOf(st.Status)&restful == 0)
	}
	return t
}

// Shown is the status that people see. A candidate that has not been placed by
// now waits for room.
func (st *Step) Shown() Status {
	if st.Next && (st.Action == Start || st.Action == Replace) {
		return Prepared
	}
	return st.Status
}

// Ahead is the step that step i comes after, where first is the first of the
// phase that is not complete. Steps of a parallel phase only come after others of
// the same instance.
func (p *Phase) Ahead(i int, first *Step) *Step {
	switch {
	case p.Strategy != api.StrategyParallel:
		return first
	case i > 0 && p.Steps[i].On != nil && p.Steps[i-1].On == p.Steps[i].On && p.Steps[i-1].Status != Complete:
		return &p.Steps[i-1]
	}
	return nil
}

// Name is instance:[task, task], unless it is about something else.
func (st *Step) Name() string {
	if st.Extra != nil && st.Extra.Name != "" {
		return st.Extra.Name
	}
	name := api.InstanceName(st.On.Group.Name, st.On.Index) + ":[" + strings.Join(st.TaskNames(), ", ") + "]"
	if st.On.Canary {
		name += " canary"
	}
	return name
}

// TaskNames are the tasks that the step is about.
func (st *Step) TaskNames() []string {
	if st.Tasks != nil || st.On == nil || st.Job == nil {
		return st.Tasks
	}
	var names []string
	if g := st.Job.Group(st.On.Group.Name); g != nil {
		for _, t := range g.Tasks {
			names = append(names, t.Name)
		}
	}
	return names
}
