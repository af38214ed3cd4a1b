// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"slices"

	"github.com/reeve-run/reeve/api"
)

// Orders are what operators decided about instances: restart, replace, pause
// and resume. They are about an instance, whichever allocation holds it, but for
// restart and replace, which are about the allocation that held it then: what
// is carried out once is not carried out again on what comes after it.

// A place names an instance.
type place struct {
	group string
	index int
	node  string // of a job that runs on every node
}

func (i *instance) place() place { return place{i.group.name, i.index, i.node} }

// name is group-index, or group@node of a job that runs on every node; a canary
// is told apart from the instance whose place it is to take.
func (i *instance) name() string {
	name := instanceName(i.group.name, i.index, i.node)
	if i.canary {
		name += "-canary"
	}
	return name
}

func instanceName(group string, index int, node string) string {
	if node != "" {
		return group + "@" + api.ShortID(node)
	}
	return api.InstanceName(group, index)
}

// decisionsOn are the decisions about the instance, oldest first.
func (s *survey) decisionsOn(in *instance) []*api.Decision {
	if s.ordered == nil {
		s.ordered = make(map[place][]*api.Decision)
		for _, d := range s.decided() {
			if d.IsAboutInstance() {
				p := place{d.Group, d.Index, d.Node}
				s.ordered[p] = append(s.ordered[p], d)
			}
		}
	}
	if len(s.ordered) == 0 {
		return nil
	}
	return s.ordered[in.place()]
}

// latestDecision is the newest of the orders that is one of the verbs and covers the
// task; nil if none is.
func latestDecision(orders []*api.Decision, task string, verbs ...api.Verb) *api.Decision {
	for _, d := range slices.Backward(orders) {
		if slices.Contains(verbs, d.Verb) && (len(d.Tasks) == 0 || slices.Contains(d.Tasks, task)) {
			return d
		}
	}
	return nil
}

// pausedBy is the decision that holds the task of the instance; nil if none does.
func (s *survey) pausedBy(in *instance, task string) *api.Decision {
	if d := latestDecision(s.decisionsOn(in), task, api.VerbPause, api.VerbResume); d != nil && d.Verb == api.VerbPause {
		return d
	}
	return nil
}

// paused is the decision that holds all of the tasks of the instance (of none:
// of all that its group has); nil if one of them is not held.
func (s *survey) paused(in *instance, tasks []string) (by *api.Decision) {
	if len(s.decisionsOn(in)) == 0 {
		return nil
	}
	if len(tasks) == 0 {
		tasks = taskNames(in.group.def)
	}
	for _, task := range tasks {
		d := s.pausedBy(in, task)
		if d == nil {
			return nil
		}
		by = d
	}
	return by
}

// replacedBy is the decision to replace the allocation; nil if there is none.
func (s *survey) replacedBy(in *instance, a *api.Allocation) *api.Decision {
	if a == nil {
		return nil
	}
	for _, d := range slices.Backward(s.decisionsOn(in)) {
		if d.Verb == api.VerbReplace && d.Allocation == a.ID {
			return d
		}
	}
	return nil
}

func taskNames(g *api.Group) []string {
	if g == nil {
		return nil
	}
	names := make([]string, len(g.Tasks))
	for i, t := range g.Tasks {
		names[i] = t.Name
	}
	return names
}

// describeDecision tells what was done, by whom, and why.
func describeDecision(done string, d *api.Decision) string {
	text := done + " by " + d.By
	if d.Reason != "" {
		text += ": " + d.Reason
	}
	return text
}
