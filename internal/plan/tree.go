// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"fmt"
	"strings"
	"time"

	"github.com/reeve-run/reeve/api"
)

// A Plan is a tree of work between what is and what should be.
type Plan struct {
	Name     string // "deploy", "recovery" or "decommission"
	Strategy string // of its phases: "serial" or "parallel"
	Status   Status
	Phases   []*Phase
	Errors   []string `json:",omitempty"`
}

// A Phase is steps under one strategy.
type Phase struct {
	Name        string // of the group
	Strategy    string // of its steps: "serial" or "parallel"
	MaxParallel int    `json:",omitempty"` // of a serial one: steps at a time
	Status      Status
	Steps       []*Step
	Errors      []string `json:",omitempty"`
}

// A Step is the work on one instance. A job that runs on every node has one for
// each of its nodes.
type Step struct {
	Name       string // group-index:[task, task]
	Status     Status
	Message    string    `json:",omitempty"` // why, in words
	Until      time.Time `json:",omitzero"`  // when a DELAYED step goes on
	Group      string
	Index      int
	Node       string `json:",omitempty"` // id of the only one that it may run on
	Allocation string `json:",omitempty"` // id of the one that it is about
	JobVersion uint64 // that the instance is to have
}

// Strategies of plans and phases.
const (
	Serial   = "serial"
	Parallel = "parallel"
)

// Derive returns the job's plans as they are now, to be shown: deploy, and
// recovery and decommission if they have something to do. Nothing is changed
// by it. Job may be nil if it was purged.
func Derive(r Reader, key api.NamespacedID, job *api.Job, now time.Time) []*Plan {
	s := newSurvey(r, key, job, nil, now, nil)
	phases, stands := s.deploy()
	var plans []*Plan
	if len(phases) > 0 {
		plans = append(plans, s.show("deploy", Serial, phases))
	}
	for _, ph := range phases {
		for _, st := range ph.candidates(nil) {
			st.on.taken = true // a dirty instance
		}
	}
	if phases = s.recovery(stands); len(phases) > 0 {
		plans = append(plans, s.show("recovery", Parallel, phases))
	}
	if all := s.decommission(); len(all) > 0 {
		plans = append(plans, showLeaving(all))
	}
	return plans
}

// show turns phases into the tree that people see.
func (s *survey) show(name, strategy string, phases []*phase) *Plan {
	p := &Plan{Name: name, Strategy: strategy}
	var children, candidates []Status
	held := false
	for _, ph := range phases {
		shown := s.showPhase(ph)
		p.Phases = append(p.Phases, shown)
		p.Errors = append(p.Errors, shown.Errors...)
		children = append(children, shown.Status)
		if ph.open && shown.Status != Complete {
			candidates = append(candidates, shown.Status)
		}
		held = held || ph.held
	}
	p.Status = aggregate(children, candidates, held)
	return p
}

func (s *survey) showPhase(ph *phase) *Phase {
	p := &Phase{Name: ph.group.name, Strategy: Parallel}
	if ph.rule.limit > 0 {
		p.Strategy, p.MaxParallel = Serial, ph.rule.limit
	}
	next := make(map[*step]bool)
	for _, st := range ph.candidates(nil) {
		next[st] = true
	}
	var children, candidates []Status
	for i := range ph.steps {
		st := &ph.steps[i]
		if next[st] && (st.do == start || st.do == replace) {
			st.status = Prepared // if it has not been placed by now, it waits for room
		}
		shown := showStep(st)
		p.Steps = append(p.Steps, shown)
		children = append(children, st.status)
		if next[st] || st.do == none && st.status != Complete {
			candidates = append(candidates, st.status)
		}
		if st.status == Error {
			p.Errors = append(p.Errors, shown.Name+": "+st.why)
		}
	}
	p.Status = aggregate(children, candidates, ph.held)
	return p
}

func showStep(st *step) *Step {
	shown := &Step{
		Name: stepName(st.job, st.on.group.name, st.on.index), Status: st.status, Message: st.why,
		Until: st.until, Group: st.on.group.name, Index: st.on.index, Node: st.on.node, JobVersion: st.job.Version,
	}
	if st.on.alloc != nil {
		shown.Allocation = st.on.alloc.ID
	}
	return shown
}

func showLeaving(all []leaving) *Plan {
	p := &Plan{Name: "decommission", Strategy: Serial, Status: Pending}
	var ph *Phase
	for _, l := range all {
		if ph == nil || ph.Name != l.group.name {
			ph = &Phase{Name: l.group.name, Strategy: Serial, Status: Pending}
			p.Phases = append(p.Phases, ph)
		}
		node := ""
		if l.alloc.Job != nil && l.alloc.Job.RunsOnEveryNode() {
			node = l.alloc.NodeID
		}
		ph.Steps = append(ph.Steps, &Step{
			Node: node, Name: stepName(l.alloc.Job, l.group.name, l.alloc.Index()), Status: Pending, Message: l.why,
			Group: l.group.name, Index: l.alloc.Index(), Allocation: l.alloc.ID, JobVersion: l.alloc.JobVersion(),
		})
	}
	return p
}

// stepName is group-index:[task, task].
func stepName(job *api.Job, name string, index int) string {
	var tasks []string
	if job != nil {
		if g := job.Group(name); g != nil {
			for _, t := range g.Tasks {
				tasks = append(tasks, t.Name)
			}
		}
	}
	return fmt.Sprintf("%s-%d:[%s]", name, index, strings.Join(tasks, ", "))
}

// String draws the tree.
func (p *Plan) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s (%s strategy) (%s)\n", p.Name, p.Strategy, p.Status)
	for i, ph := range p.Phases {
		branch, trunk := "├─ ", "│  "
		if i == len(p.Phases)-1 {
			branch, trunk = "└─ ", "   "
		}
		strategy := ph.Strategy
		if ph.MaxParallel > 1 {
			strategy += fmt.Sprintf(", %d at a time", ph.MaxParallel)
		}
		fmt.Fprintf(&b, "%s%s (%s strategy) (%s)\n", branch, ph.Name, strategy, ph.Status)
		for j, st := range ph.Steps {
			leaf := "├─ "
			if j == len(ph.Steps)-1 {
				leaf = "└─ "
			}
			fmt.Fprintf(&b, "%s%s%s", trunk, leaf, st.Name)
			if st.Node != "" {
				fmt.Fprintf(&b, " on %s", api.ShortID(st.Node))
			}
			fmt.Fprintf(&b, " (%s)", st.Status)
			if st.Message != "" {
				b.WriteString(" " + st.Message)
			}
			b.WriteByte('\n')
		}
	}
	return b.String()
}
