// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package derive

import (
	"cmp"
	"slices"
	"strings"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/plan/facts"
	"github.com/reeve-run/reeve/internal/plan/tree"
)

const (
	whyEvacuates  = "a replacement starts on another node; the original runs until the replacement serves"
	whyDrainWaits = "it waits: the group's migrate block limits how many instances move at a time"
	whyDrainEnds  = "its node is drained: it runs until it ends, at most until the drain's deadline"
	whyDrainLast  = "its node is drained: instances that run on every node leave last"
)

// A drainer builds the plan drain.
type drainer struct {
	*Rollout
	dirty *tree.DirtySet
}

// buildDrain derives the plan drain; nil if no instance leaves a drained node.
func buildDrain(r *Rollout, dirty *tree.DirtySet) *tree.Tree {
	s := drainer{Rollout: r, dirty: dirty}
	return s.drainTree()
}

// drainTree derives the plan that empties nodes of the job's instances: a phase
// per node that is drained, a step per instance that is, or was, there. Whose
// turn it is the drain says, by marking allocations; what follows from that is
// done here.
func (s *drainer) drainTree() *tree.Tree {
	if !s.Drains {
		return nil
	}
	byNode := make(map[string]*tree.Phase)
	var phases []*tree.Phase
	for _, g := range s.Groups {
		for in := range g.Every {
			if s.dirty.IsTouched(in) {
				continue
			}
			node, st := s.drainStep(in)
			if node == nil {
				continue
			}
			p := byNode[node.ID]
			if p == nil {
				p = &tree.Phase{Name: cmp.Or(node.Name, node.ID), Strategy: api.StrategyParallel, Open: true, Node: node}
				byNode[node.ID] = p
				phases = append(phases, p)
			}
			p.Steps = append(p.Steps, st)
		}
	}
	if len(phases) == 0 {
		return nil
	}
	slices.SortFunc(phases, func(a, b *tree.Phase) int {
		return cmp.Or(a.Node.DrainStrategy.StartedAt.Compare(b.Node.DrainStrategy.StartedAt), strings.Compare(a.Node.ID, b.Node.ID))
	})
	names := make(map[string]int, len(phases))
	for _, p := range phases {
		names[p.Name]++
	}
	for _, p := range phases {
		if names[p.Name] > 1 { // several nodes have that name
			p.Name += "@" + p.Node.ID
		}
	}
	t := &tree.Tree{Name: api.PlanDrain, Strategy: api.StrategyParallel, Phases: phases}
	t.ApplyRulings(s.Decisions.HoldsOn(api.PlanDrain, func(d *api.Decision) bool { return isOnDrain(t.Phases, d) }))
	t.ResetHeld()
	return t
}

// isOnDrain reports whether the decision is on the drains that go on, or on one
// of them: not on an earlier drain of that node.
func isOnDrain(phases []*tree.Phase, d *api.Decision) bool {
	return slices.ContainsFunc(phases, func(p *tree.Phase) bool {
		return (d.Phase == "" || d.Phase == p.Name) && d.Time >= p.Node.DrainStrategy.StartedAt.UnixNano()
	})
}

// drainStep derives what a drain has to do with the instance: nothing if node is
// nil.
func (d *drainer) drainStep(in *facts.Instance) (node *api.Node, st tree.Step) {
	st = tree.Step{On: in, Job: d.OwnVersion(in)}
	a, last := in.Alloc, in.Last
	switch {
	case d.isLeaving(in) && a == nil:
		st.Action, st.Status, st.Why = tree.Start, tree.Prepared, api.ReasonMigrated.Text()
		return d.Node(last), st
	case d.isLeaving(in):
		st.Action, st.Status, st.Why = tree.Replace, tree.Prepared, api.ReasonMigrated.Text()
		return d.Node(a), st
	case a == nil || in.State == facts.Failed || in.State == facts.Ended || in.State == facts.Lost || in.State == facts.Moving:
		return nil, st // recovery's
	case d.IsDrained(a) && d.Node(a).HasToLeave(a):
		st.Status, st.Why = tree.Pending, whyDrainWaits
		if d.Job.RunsOnEveryNode() {
			st.Why = whyDrainLast
		} else if d.Job.RunsToCompletion() {
			st.Why = whyDrainEnds
		}
		return d.Node(a), st
	case d.Evacuated(in) != nil:
		st.Status, st.Why = tree.Starting, whyEvacuates
		return d.Node(d.Evacuated(in)), st
	case last == nil || last.ID != a.PreviousAllocation || last.DesiredReason != api.ReasonMigrated || !d.IsDrained(last):
		return nil, st
	}
	switch st.Status = tree.Complete; {
	case in.State == facts.Placed:
		st.Status = tree.Starting
	case a.IsUnhealthy():
		st.Status, st.Why = tree.Started, "it runs elsewhere, and did not become healthy in time"
	case in.State == facts.Running && !a.IsHealthy() && d.AwaitsHealth(in):
		st.Status, st.Why = tree.Started, "it runs elsewhere, and is not known to be healthy yet"
	}
	return d.Node(last), st
}
