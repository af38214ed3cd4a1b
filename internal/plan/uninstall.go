// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"slices"
	"strings"

	"github.com/reeve-run/reeve/api"
)

// Names of what the plan uninstall is made of.
const (
	phaseKill       = "kill"
	phaseDeregister = "deregister"
)

// buildUninstall derives the plan uninstall; nil if the job stays.
func buildUninstall(f *facts, m *scratch) *tree {
	s := leaver{facts: f, scratch: m}
	return s.uninstallTree()
}

// uninstallTree derives the plan that removes a job: a step for each of its
// allocations that has not ended, then one that forgets the job. What is stuck
// because its node does not answer can be forced: then it counts as lost.
func (s *leaver) uninstallTree() *tree {
	if !s.uninstalls() {
		return nil
	}
	kill := &phase{name: phaseKill, strategy: api.StrategyParallel, open: true}
	for _, g := range s.leavingOrder() {
		steps := s.leavingSteps(g)
		for i := range steps {
			st := &steps[i]
			a := st.on.alloc
			st.mutableExtra().name = killName(a.Group, a.Index(), a.ID)
			if st.action == none && st.status == Starting {
				st.why = whyKillWaits
				if n := s.node(a); n == nil || isSilent(n) {
					st.why = whyKillStuck
				}
			}
			if st.action == leave && s.isLost(a) {
				st.settles = true // nobody will report its end
			}
			s.giveUpStep(st, api.PlanUninstall, phaseKill)
		}
		kill.steps = append(kill.steps, steps...)
		gone := s.scratch.facts.instancesFor(len(g.gone))
		for i, a := range g.gone {
			gone[i] = instance{group: g, index: a.Index(), alloc: a, state: ended}
			st := step{on: &gone[i], status: Complete, job: a.Job}
			st.mutableExtra().name = killName(a.Group, a.Index(), a.ID)
			if d := s.decisions.givenUp(a, api.PlanUninstall, phaseKill); d != nil && a.ClientStatus == api.AllocClientLost {
				st.extra.forced = d
			}
			kill.steps = append(kill.steps, st)
		}
	}
	slices.SortStableFunc(kill.steps, func(a, b step) int { return strings.Compare(a.extra.name, b.extra.name) })
	last := step{action: deregister, status: Pending, job: s.job}
	last.mutableExtra().name = phaseDeregister
	forget := &phase{name: phaseDeregister, strategy: api.StrategySerial, after: []string{phaseKill}, steps: []step{last}}
	t := &tree{name: api.PlanUninstall, strategy: api.StrategySerial, phases: []*phase{kill, forget}}
	t.rule(s.decisions.holdsOn(api.PlanUninstall, s.decisions.isOnVersion))
	if forget.open = kill.isComplete(); !forget.open && forget.steps[0].action != none {
		forget.steps[0].why = "nothing of the job may be left"
	}
	return t
}

const (
	whyKillWaits = "it was told to stop, and its node has not said yet that it has ended"
	whyKillStuck = "it was told to stop, and its node does not answer: force the step to complete if it never will"
)

// killName is what the step that ends an allocation is called.
func killName(group string, index int, allocation string) string {
	return "kill-" + api.InstanceName(group, index) + "-" + api.ShortID(allocation)
}
