// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package api

import (
	"fmt"
	"slices"
	"strings"
)

var fates = []string{FateShared, FateIndependent, FateCodependent}

// LifecycleProblems returns the errors in the order and the fates of tasks: cycles, fates that
// the job's type does not permit, and daemons without a liveness check.
func (j *Job) LifecycleProblems() []Problem {
	c := lifecycleCheck{job: j}
	for _, g := range j.Groups {
		if g != nil {
			c.group(g)
		}
	}
	return c.problems
}

// lifecycleCheck collects the problems of a job's lifecycles.
type lifecycleCheck struct {
	job      *Job
	problems []Problem
}

func (c *lifecycleCheck) add(at any, key, format string, args ...any) {
	c.problems = append(c.problems, Problem{At: at, Key: key, Text: fmt.Sprintf(format, args...)})
}

func (c *lifecycleCheck) group(g *Group) {
	at := fmt.Sprintf("group %q", g.Name)
	switch {
	case g.Fate != "" && !slices.Contains(fates, g.Fate):
		c.add(g, "fate", "%s: fate %q: must be one of %s", at, g.Fate, strings.Join(fates, ", "))
	case g.Fate == FateCodependent && c.job.RunsToCompletion():
		c.add(g, "fate", "%s: fate %q: in a %s job a task may end, which would be a failure here: name the task that the others serve leader instead", at, g.Fate, c.job.Type)
	}
	for _, t := range g.Tasks {
		if t != nil {
			c.task(g, t, fmt.Sprintf("%s, task %q", at, t.Name))
		}
	}
	c.circles(g, at)
}

func (c *lifecycleCheck) task(g *Group, t *Task, at string) {
	if t.Timeout != nil && *t.Timeout <= 0 {
		c.add(t, "timeout", "%s: timeout %s: must be more than 0; leave it out for a task without a limit", at, *t.Timeout)
	}
	if t.Daemon {
		c.daemon(g, t, at)
	}
	var wrong []string
	for i, name := range t.After {
		other := g.Task(name)
		switch {
		case slices.Contains(t.After[:i], name):
			wrong = append(wrong, fmt.Sprintf("%q twice", name))
		case name == t.Name:
			wrong = append(wrong, "the task itself")
		case other == nil:
			wrong = append(wrong, fmt.Sprintf("%q, which is not a task of the group (there are: %s)", name, strings.Join(otherTasks(g, t), ", ")))
		case hookName(other) != hookName(t):
			wrong = append(wrong, fmt.Sprintf("%q, which is a %s, while this is a %s: their order is fixed", name, hookName(other), hookName(t)))
		}
	}
	if len(wrong) > 0 {
		c.add(t, "after", "%s: after names %s", at, strings.Join(wrong, "; and "))
	}
}

// daemon reports a task that cannot be a daemon, or that has no liveness check.
func (c *lifecycleCheck) daemon(g *Group, t *Task, at string) {
	if !t.KeepsRunning(c.job) {
		c.add(t, "daemon", "%s: daemon: only a task that keeps running can be a daemon: the processes that this task leaves behind would end with it", at)
		return
	}
	if ConfinesPrograms(t.Driver) && t.Config["pid_mode"] == "host" {
		c.add(t, "daemon", "%s: daemon: with pid_mode \"host\" its background processes would be unsupervised: leave pid_mode out", at)
	}
	watched := t.Monitor != nil
	for _, s := range slices.Concat(t.Services, g.Services) {
		if s == nil {
			continue
		}
		for _, k := range s.Checks {
			if k == nil {
				continue
			}
			own := s.TaskName == t.Name || k.TaskName == t.Name || slices.Contains(t.Services, s)
			serves := t.IsMain() && s.TaskName == "" && k.TaskName == "" && !slices.Contains(t.Services, s)
			watched = watched || k.Kind == CheckKindLiveness && (own || serves)
		}
	}
	if !watched {
		c.add(t, "daemon", "%s: daemon: its failure would go unnoticed: add a monitor, or a check of kind liveness", at)
	}
}

// circles reports tasks that come after themselves through other tasks.
func (c *lifecycleCheck) circles(g *Group, at string) {
	done := map[string]bool{}
	for _, first := range g.Tasks {
		if first == nil {
			continue
		}
		var path []string
		var visit func(t *Task)
		visit = func(t *Task) {
			if i := slices.Index(path, t.Name); i >= 0 {
				if len(path)-i > 1 { // validated with the task itself
					c.add(g.Task(path[i]), "after", "%s: tasks come after one another in a circle: %s", at, strings.Join(append(path[i:], t.Name), " after "))
				}
				return
			}
			if done[t.Name] {
				return
			}
			path = append(path, t.Name)
			for _, name := range t.After {
				if next := g.Task(name); next != nil {
					visit(next)
				}
			}
			path = path[:len(path)-1]
			done[t.Name] = true
		}
		visit(first)
	}
}

func hookName(t *Task) string {
	if t.IsMain() {
		return "main task"
	}
	return t.Lifecycle.Hook + " task"
}

func otherTasks(g *Group, t *Task) []string {
	var names []string
	for _, o := range g.Tasks {
		if o != nil && o.Name != t.Name {
			names = append(names, o.Name)
		}
	}
	if len(names) == 0 {
		return []string{"no other"}
	}
	return names
}
