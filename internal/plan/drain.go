// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"cmp"
	"slices"
	"strings"

	"github.com/reeve-run/reeve/api"
)

const (
	whyEvacuates  = "it is started elsewhere; where it was it goes on until that serves"
	whyDrainWaits = "it waits for the drain's turn: the group's migrate block says how many may move at a time"
	whyDrainEnds  = "its node is drained: it goes on until it ends, at most until the drain's deadline"
	whyDrainLast  = "its node is drained: what runs on every node leaves last"
)

// A drainer builds the plan drain.
type drainer struct {
	*rollout
	dirty *dirtySet
}

// buildDrain derives the plan drain; nil if no instance leaves a drained node.
func buildDrain(r *rollout, dirty *dirtySet) *tree {
	s := drainer{rollout: r, dirty: dirty}
	return s.drainTree()
}

// drainTree derives the plan that empties nodes of the job's instances: a phase
// per node that is drained, a step per instance that is, or was, there. Whose
// turn it is the drain says, by marking allocations; what follows from that is
// done here.
func (s *drainer) drainTree() *tree {
	if !s.drains {
		return nil
	}
	byNode := make(map[string]*phase)
	var phases []*phase
	for _, g := range s.groups {
		for in := range g.every {
			if s.dirty.isTouched(in) {
				continue
			}
			node, st := s.drainStep(in)
			if node == nil {
				continue
			}
			p := byNode[node.ID]
			if p == nil {
				p = &phase{name: cmp.Or(node.Name, node.ID), strategy: api.StrategyParallel, open: true, node: node}
				byNode[node.ID] = p
				phases = append(phases, p)
			}
			p.steps = append(p.steps, st)
		}
	}
	if len(phases) == 0 {
		return nil
	}
	slices.SortFunc(phases, func(a, b *phase) int {
		return cmp.Or(a.node.DrainStrategy.StartedAt.Compare(b.node.DrainStrategy.StartedAt), strings.Compare(a.node.ID, b.node.ID))
	})
	names := make(map[string]int, len(phases))
	for _, p := range phases {
		names[p.name]++
	}
	for _, p := range phases {
		if names[p.name] > 1 { // several nodes have that name
			p.name += "@" + p.node.ID
		}
	}
	t := &tree{name: api.PlanDrain, strategy: api.StrategyParallel, phases: phases}
	t.rule(s.decisions.holdsOn(api.PlanDrain, func(d *api.Decision) bool { return isOnDrain(t.phases, d) }))
	t.pend()
	return t
}

// isOnDrain reports whether the decision is on the drains that go on, or on one
// of them: not on an earlier drain of that node.
func isOnDrain(phases []*phase, d *api.Decision) bool {
	return slices.ContainsFunc(phases, func(p *phase) bool {
		return (d.Phase == "" || d.Phase == p.name) && d.Time >= p.node.DrainStrategy.StartedAt.UnixNano()
	})
}

// drainStep derives what a drain has to do with the instance: nothing if node is
// nil.
func (s *drainer) drainStep(in *instance) (node *api.Node, st step) {
	st = step{on: in, job: s.ownVersion(in)}
	a, last := in.alloc, in.last
	switch {
	case s.isLeaving(in) && a == nil:
		st.action, st.status, st.why = start, Prepared, api.ReasonMigrated.Text()
		return s.node(last), st
	case s.isLeaving(in):
		st.action, st.status, st.why = replace, Prepared, api.ReasonMigrated.Text()
		return s.node(a), st
	case a == nil || in.state == failed || in.state == ended || in.state == lost || in.state == moving:
		return nil, st // recovery's
	case s.isDrained(a) && s.node(a).HasToLeave(a):
		st.status, st.why = Pending, whyDrainWaits
		if s.job.RunsOnEveryNode() {
			st.why = whyDrainLast
		} else if s.job.RunsToCompletion() {
			st.why = whyDrainEnds
		}
		return s.node(a), st
	case s.evacuated(in) != nil:
		st.status, st.why = Starting, whyEvacuates
		return s.node(s.evacuated(in)), st
	case last == nil || last.ID != a.PreviousAllocation || last.DesiredReason != api.ReasonMigrated || !s.isDrained(last):
		return nil, st
	}
	switch st.status = Complete; {
	case in.state == placed:
		st.status = Starting
	case a.IsUnhealthy():
		st.status, st.why = Started, "it runs elsewhere, and did not become healthy in time"
	case in.state == running && !a.IsHealthy() && s.judged(in):
		st.status, st.why = Started, "it runs elsewhere, and is not known to be healthy yet"
	}
	return s.node(last), st
}

// evacuates reports whether an allocation that a drain moves continues to run until
// its replacement serves. Only an allocation that serves does: on a silent node it
// is not known to serve.
func (s *facts) evacuates(g *group, a *api.Allocation) bool {
	return s.wanted() && s.job.Type == api.JobTypeService && g.def != nil && !g.def.Recreates() &&
		a.DesiredTransition.ShouldMigrate() && !a.IsServerTerminal() && isUpNow(a) && s.mayStay(a) && !s.isLostWithNode(a) && !s.isUnreachable(a)
}

// evacuated is what the allocation that holds the instance is to relieve on a
// node that is drained; nil if there is none.
func (s *facts) evacuated(in *instance) *api.Allocation {
	for _, a := range in.group.behind {
		if a.ID == in.alloc.PreviousAllocation && a.DesiredTransition.ShouldMigrate() && s.isDrained(a) {
			return a
		}
	}
	return nil
}
