// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package derive

import (
	"slices"
	"strings"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/plan/facts"
	"github.com/reeve-run/reeve/internal/plan/tree"
)

// Names of what the plan uninstall is made of.
const (
	PhaseKill       = "kill"
	PhaseDeregister = "deregister"
)

// buildUninstall derives the plan uninstall; nil if the job stays.
func buildUninstall(f *facts.Facts, m *scratch) *tree.Tree {
	s := leaver{Facts: f, scratch: m}
	return s.uninstallTree()
}

// uninstallTree derives the plan that removes a job: a step for each of its
// allocations that has not ended, then one that forgets the job. What is stuck
// because its node does not answer can be forced: then it counts as lost.
func (l *leaver) uninstallTree() *tree.Tree {
	if !l.Uninstalls() {
		return nil
	}
	kill := &tree.Phase{Name: PhaseKill, Strategy: api.StrategyParallel, Open: true}
	for _, g := range l.leavingOrder() {
		steps := l.leavingSteps(g)
		for i := range steps {
			st := &steps[i]
			a := st.On.Alloc
			st.MutableExtra().Name = KillName(a.Group, a.Index(), a.ID)
			if st.Action == tree.None && st.Status == tree.Starting {
				st.Why = whyKillWaits
				if n := l.Node(a); n == nil || facts.IsSilent(n) {
					st.Why = whyKillStuck
				}
			}
			if st.Action == tree.Leave && l.IsLost(a) {
				st.Settles = true // nobody will report its end
			}
			l.giveUpStep(st, api.PlanUninstall, PhaseKill)
		}
		kill.Steps = append(kill.Steps, steps...)
		gone := l.scratch.facts.InstancesFor(len(g.Gone))
		for i, a := range g.Gone {
			gone[i] = facts.Instance{Group: g, Index: a.Index(), Alloc: a, State: facts.Ended}
			st := tree.Step{On: &gone[i], Status: tree.Complete, Job: a.Job}
			st.MutableExtra().Name = KillName(a.Group, a.Index(), a.ID)
			if d := l.Decisions.GivenUpBy(a, api.PlanUninstall, PhaseKill); d != nil && a.ClientStatus == api.AllocClientLost {
				st.Extra.Forced = d
			}
			kill.Steps = append(kill.Steps, st)
		}
	}
	slices.SortStableFunc(kill.Steps, func(a, b tree.Step) int { return strings.Compare(a.Extra.Name, b.Extra.Name) })
	last := tree.Step{Action: tree.Deregister, Status: tree.Pending, Job: l.Job}
	last.MutableExtra().Name = PhaseDeregister
	forget := &tree.Phase{Name: PhaseDeregister, Strategy: api.StrategySerial, After: []string{PhaseKill}, Steps: []tree.Step{last}}
	t := &tree.Tree{Name: api.PlanUninstall, Strategy: api.StrategySerial, Phases: []*tree.Phase{kill, forget}}
	t.ApplyRulings(l.Decisions.HoldsOn(api.PlanUninstall, l.Decisions.IsOnVersion))
	if forget.Open = kill.IsComplete(); !forget.Open && forget.Steps[0].Action != tree.None {
		forget.Steps[0].Why = "all allocations of the job must end first"
	}
	return t
}

const (
	whyKillWaits = "a stop is requested; its node has not reported the allocation's end yet"
	whyKillStuck = "a stop is requested, but its node does not answer: force the step to complete if the node is lost"
)

// KillName is what the step that ends an allocation is called.
func KillName(group string, index int, allocation string) string {
	return "kill-" + api.InstanceName(group, index) + "-" + api.ShortID(allocation)
}
