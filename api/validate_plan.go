// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package api

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// A Problem is an error in a part of a job.
type Problem struct {
	At   any    // invalid object: a *Job, *JobCallback, *Group, *Task, *PlanSpec, *PhaseSpec or *StepSpec
	Key  string // its invalid key in a job file; "": the whole object
	Text string
}

var (
	planStrategies  = []string{StrategySerial, StrategyParallel, StrategyDependency}
	phaseStrategies = append(planStrategies[:len(planStrategies):len(planStrategies)], StrategySerialCanary, StrategyParallelCanary)
	// derivedPlans are made by Reeve; a job cannot declare them.
	derivedPlans = []string{PlanRecovery, PlanDecommission, PlanUninstall, PlanRestart, PlanDrain}
	// stackPlans are made by Reeve for jobs with a stack block; other jobs can declare them.
	stackPlans = []string{PlanWarming, PlanShift}
)

// PlanProblems returns the errors in the plans that a job declares, including plans that could
// never complete.
func (j *Job) PlanProblems() []Problem {
	c := planCheck{job: j}
	if slices.ContainsFunc(j.Groups, func(g *Group) bool { return g != nil && g.Size() > maxInstances }) {
		return nil // validate rejects the count, and the checks below visit each index
	}
	seen := map[string]bool{}
	for _, p := range j.Plans {
		if p == nil {
			c.add(p, "a plan is null")
			continue
		}
		if seen[p.Name] {
			c.add(p, "plan %q is declared twice", p.Name)
		}
		seen[p.Name] = true
		c.plan(p)
	}
	return c.problems
}

// A planCheck collects the problems of a job's plans.
type planCheck struct {
	job      *Job
	problems []Problem
}

func (c *planCheck) add(at any, format string, args ...any) {
	c.problems = append(c.problems, Problem{At: at, Text: fmt.Sprintf(format, args...)})
}

func (c *planCheck) plan(p *PlanSpec) {
	name := fmt.Sprintf("plan %q", p.Name)
	switch {
	case !isTaskName(p.Name):
		c.add(p, "%s: a name must be 1 to 128 characters without white space or slashes", name)
	case slices.Contains(derivedPlans, p.Name), c.job.Stack != nil && slices.Contains(stackPlans, p.Name):
		c.add(p, "%s: Reeve makes that plan itself; a job may declare %q, %q and plans of its own names", name, PlanDeploy, PlanUpdate)
	}
	if !slices.Contains(planStrategies, orSerial(p.Strategy)) {
		c.add(p, "%s: strategy %q: must be one of %s", name, p.Strategy, strings.Join(planStrategies, ", "))
	}
	deploys := p.Name == PlanDeploy || p.Name == PlanUpdate
	switch {
	case len(p.Phases) > 0:
	case !deploys:
		c.add(p, "%s has no phase: it needs at least one", name)
	case p.Strategy == StrategyDependency:
		c.add(p, "%s has no phase that says what it comes after: declare its phases, or use strategy %q", name, StrategySerial)
	}
	phases := map[string]*PhaseSpec{}
	for _, ph := range p.Phases {
		switch {
		case ph == nil:
			c.add(p, "%s: a phase is null", name)
			return
		case phases[ph.Name] != nil:
			c.add(ph, "%s: phase %q is declared twice", name, ph.Name)
		}
		phases[ph.Name] = ph
	}
	for _, ph := range p.Phases {
		at := fmt.Sprintf("%s, phase %q", name, ph.Name)
		if len(ph.After) > 0 && p.Strategy != StrategyDependency {
			c.add(ph, "%s: after: only phases of a plan with strategy = %q name what they come after", at, StrategyDependency)
		}
		for _, before := range ph.After {
			if phases[before] == nil {
				c.add(ph, "%s: after: there is no phase %q; there are %s", at, before, quoted(namesOf(p.Phases, func(o *PhaseSpec) string { return o.Name })))
			}
		}
		c.phase(at, ph)
	}
	if cycle := findCycle(p.Phases, func(ph *PhaseSpec) string { return ph.Name }, func(ph *PhaseSpec) []string { return ph.After }); cycle != nil {
		c.add(phases[cycle[0]], "%s: its phases wait for each other: %s", name, strings.Join(cycle, " after "))
	}
	if deploys && len(p.Phases) > 0 { // otherwise it has a phase for every group
		c.deploys(name, p)
	}
}

func (c *planCheck) phase(at string, ph *PhaseSpec) {
	if !isTaskName(ph.Name) {
		c.add(ph, "%s: a name must be 1 to 128 characters without white space or slashes", at)
	}
	strategy := orSerial(ph.Strategy)
	if !slices.Contains(phaseStrategies, strategy) {
		c.add(ph, "%s: strategy %q: must be one of %s", at, ph.Strategy, strings.Join(phaseStrategies, ", "))
	}
	if _, _, err := ParseShare(ph.MaxParallel); err != nil {
		c.add(ph, "%s: max_parallel %q: %v", at, ph.MaxParallel, err)
	}
	if ph.MaxParallel != "" && strategy != StrategySerial && strategy != StrategySerialCanary {
		c.add(ph, "%s: max_parallel: only a serial phase has a limit, this one is %s", at, strategy)
	}
	if ph.Stagger != nil && *ph.Stagger < 0 {
		c.add(ph, "%s: stagger %s: must not be negative", at, *ph.Stagger)
	}
	group := ph.Group
	if group == "" {
		group = ph.Name
	}
	g := c.job.Group(group)
	if g == nil {
		c.add(ph, "%s: there is no group %q; there are %s", at, group, quoted(namesOf(c.job.Groups, func(g *Group) string { return g.Name })))
		return
	}
	steps := c.steps(at, ph, g)
	if steps == 0 && strings.HasSuffix(strategy, "-canary") && !c.job.RunsOnEveryNode() {
		c.add(ph, "%s: strategy %s: a canary phase needs at least one step, and group %q has no instance for one", at, strategy, group)
	}
}

// steps checks the steps of a phase and returns their current number.
func (c *planCheck) steps(at string, ph *PhaseSpec, g *Group) int {
	if len(ph.Steps) == 0 {
		return max(g.Size(), 0)
	}
	perIndex, total := map[int][]*StepSpec{}, 0
	const everyOther = -1
	for _, st := range ph.Steps {
		if st == nil {
			c.add(ph, "%s: a step is null", at)
			return 0
		}
		index := everyOther
		if st.Index != nil {
			index = *st.Index
		}
		switch {
		case st.Index == nil:
		case c.job.RunsOnEveryNode():
			c.add(st, "%s: step for index %d: a %s job's instances have no index: leave it out", at, index, c.job.Type)
		case index < 0 || index >= g.Size():
			c.add(st, "%s: step for index %d: group %q has %s", at, index, g.Name, indexes(g.Size()))
		}
		seen := map[string]bool{}
		for _, name := range st.Tasks {
			if g.Task(name) == nil {
				c.add(st, "%s: there is no task %q in group %q; there are %s", at, name, g.Name, quoted(namesOf(g.Tasks, func(t *Task) string { return t.Name })))
			}
			if seen[name] {
				c.add(st, "%s: task %q is named twice in one step", at, name)
			}
			seen[name] = true
		}
		if len(st.After) > 0 && ph.Strategy != StrategyDependency {
			c.add(st, "%s: after: only steps of a phase with strategy = %q name what they come after", at, StrategyDependency)
		}
		if len(st.Tasks) > 0 {
			perIndex[index] = append(perIndex[index], st)
		} else if _, known := perIndex[index]; !known {
			perIndex[index] = nil
		}
	}
	_, others := perIndex[everyOther]
	for i := range max(g.Size(), 0) {
		own, named := perIndex[i]
		switch {
		case named:
			total += len(own)
		case others:
			total += len(perIndex[everyOther])
		default:
			c.add(ph, "%s: no step is for index %d of group %q: add one, or one without index for all others", at, i, g.Name)
		}
	}
	if ph.Strategy == StrategyDependency {
		c.after(at, ph, g, perIndex)
	}
	return total
}

// after checks the dependencies of a phase's steps.
func (c *planCheck) after(at string, ph *PhaseSpec, g *Group, perIndex map[int][]*StepSpec) {
	const everyOther = -1
	type node struct {
		name  string // instance:[task, task]
		after []string
	}
	var nodes []node
	known := map[string]bool{}
	complained := map[string]bool{}
	for i := range max(g.Size(), 0) {
		own, named := perIndex[i]
		if !named {
			own = perIndex[everyOther]
		}
		siblings := map[string]string{}
		for _, st := range own {
			if st.Name != "" {
				siblings[st.Name] = StepName(g.Name, i, st.Tasks)
			}
		}
		for _, st := range own {
			n := node{name: StepName(g.Name, i, st.Tasks)}
			for _, before := range st.After {
				if full := siblings[before]; full != "" {
					before = full
				}
				n.after = append(n.after, before)
			}
			known[n.name] = true
			nodes = append(nodes, n)
		}
	}
	for _, n := range nodes {
		for _, before := range n.after {
			if !known[before] && !complained[before] {
				complained[before] = true
				c.add(ph, "%s: step %s: after: there is no step %q: name one of the same instance by its name, or any as in %q", at, n.name, before, nodes[0].name)
			}
		}
	}
	if cycle := findCycle(nodes, func(n node) string { return n.name }, func(n node) []string { return n.after }); cycle != nil {
		c.add(ph, "%s: its steps wait for each other: %s", at, strings.Join(cycle, " after "))
	}
}

// deploys checks that a deploy plan deploys everything exactly once.
func (c *planCheck) deploys(name string, p *PlanSpec) {
	named := map[string]bool{} // groups in any plan
	for _, other := range c.job.Plans {
		if other != nil {
			eachTask(c.job, other, func(_ *PhaseSpec, group, task string, _ int) { named[group+"/"+task] = true })
		}
	}
	groups, launched := map[string]bool{}, map[string]bool{}
	eachTask(c.job, p, func(ph *PhaseSpec, group, task string, index int) {
		groups[group] = true
		key := fmt.Sprintf("%s/%s/%d", group, task, index)
		if launched[key] {
			c.add(ph, "%s, phase %q: task %q of group %q is launched a second time for the same instance: a deploy plan launches each once", name, ph.Name, task, group)
		}
		launched[key] = true
	})
	for _, g := range c.job.Groups {
		if g == nil {
			continue
		}
		if !groups[g.Name] && g.Size() > 0 {
			c.add(p, "%s: group %q is in no phase of it, and would never be started", name, g.Name)
			continue
		}
		for _, t := range g.Tasks {
			if t != nil && groups[g.Name] && !named[g.Name+"/"+t.Name] {
				c.add(p, "%s: task %q of group %q is in no step of any plan, and would never be started", name, t.Name, g.Name)
			}
		}
	}
}

// eachTask calls f for every task that the plan launches, with the index of the steps'
// instance, or -1 for all other instances.
func eachTask(j *Job, p *PlanSpec, f func(ph *PhaseSpec, group, task string, index int)) {
	for _, ph := range p.Phases {
		if ph == nil {
			continue
		}
		group := ph.Group
		if group == "" {
			group = ph.Name
		}
		g := j.Group(group)
		if g == nil {
			continue
		}
		if len(ph.Steps) == 0 {
			for _, t := range g.Tasks {
				if t != nil && !j.IsCustomOnly(g, t) {
					f(ph, group, t.Name, -1)
				}
			}
		}
		for _, st := range ph.Steps {
			if st == nil {
				continue
			}
			index := -1
			if st.Index != nil {
				index = *st.Index
			}
			for _, t := range st.Tasks {
				f(ph, group, t, index)
			}
		}
	}
}

// IsCustomOnly reports whether a task is launched only by plans that operators start: the task
// ends, a step of such a plan names it, and no step of a deploy plan does.
func (j *Job) IsCustomOnly(g *Group, t *Task) bool {
	if t.Goal != GoalFinish && t.Goal != GoalOnce {
		return false
	}
	custom := false
	for _, p := range j.Plans {
		if p == nil {
			continue
		}
		for _, ph := range p.Phases {
			if ph == nil || ph.Group != g.Name && (ph.Group != "" || ph.Name != g.Name) {
				continue
			}
			for _, st := range ph.Steps {
				if st == nil || !slices.Contains(st.Tasks, t.Name) {
					continue
				}
				if p.Name == PlanDeploy || p.Name == PlanUpdate {
					return false
				}
				custom = true
			}
		}
	}
	return custom
}

// StepName returns the name of a step: group-index:[task, task].
func StepName(group string, index int, tasks []string) string {
	return InstanceName(group, index) + ":[" + strings.Join(tasks, ", ") + "]"
}

// ParseShare parses a limit: a number ("2") or a share ("25%"). The other result is 0; both
// are 0 for "".
func ParseShare(s string) (number, percent int, err error) {
	if s == "" {
		return 0, 0, nil
	}
	digits, isShare := strings.CutSuffix(s, "%")
	n, err := strconv.Atoi(digits)
	switch {
	case err != nil:
		return 0, 0, fmt.Errorf("must be a number like 2 or a share like \"25%%\"")
	case isShare && (n < 1 || n > 100):
		return 0, 0, fmt.Errorf("a share must be from 1%% to 100%%")
	case isShare:
		return 0, n, nil
	case n < 1:
		return 0, 0, fmt.Errorf("must be at least 1")
	}
	return n, 0, nil
}

// ShareOf converts a limit to a number: number itself, or percent of total, rounded up and at
// least 1.
func ShareOf(number, percent, total int) int {
	if percent > 0 {
		number = (total*percent + 99) / 100
	}
	return max(number, 1)
}

// findCycle returns names that wait for each other in a cycle, with the first one repeated at
// the end; nil if no cycle exists.
func findCycle[T any](elements []T, name func(T) string, after func(T) []string) []string {
	waits := make(map[string][]string, len(elements))
	for _, e := range elements {
		waits[name(e)] = after(e)
	}
	const (
		open = iota + 1
		done
	)
	state, path := map[string]int{}, []string(nil)
	var visit func(n string) []string
	visit = func(n string) []string {
		switch state[n] {
		case done:
			return nil
		case open:
			return append(slices.Clone(path[slices.Index(path, n):]), n)
		}
		state[n], path = open, append(path, n)
		for _, before := range waits[n] {
			if cycle := visit(before); cycle != nil {
				return cycle
			}
		}
		state[n], path = done, path[:len(path)-1]
		return nil
	}
	for _, e := range elements {
		if cycle := visit(name(e)); cycle != nil {
			return cycle
		}
	}
	return nil
}

func orSerial(strategy string) string {
	if strategy == "" {
		return StrategySerial
	}
	if strategy == "canary" {
		return StrategySerialCanary
	}
	return strategy
}

func namesOf[T any](list []*T, name func(*T) string) (names []string) {
	for _, x := range list {
		if x != nil {
			names = append(names, name(x))
		}
	}
	return names
}

func quoted(names []string) string {
	for i, n := range names {
		names[i] = strconv.Quote(n)
	}
	if len(names) == 0 {
		return "none"
	}
	return strings.Join(names, ", ")
}

func indexes(count int) string {
	switch {
	case count <= 0:
		return "no instance"
	case count == 1:
		return "only index 0"
	}
	return fmt.Sprintf("indexes 0 to %d", count-1)
}
