// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package placement

import (
	"slices"

	"github.com/reeve-run/reeve/api"
)

// What requests replace is stopped only when they are placed: until then it runs
// on, and distinct_hosts and distinct_property count it, for all requests but
// its own. Otherwise an instance could be put beside one that stays after all,
// because its own replacement has no place.

// runningPredecessor is what still runs of what the request replaces; nil if nothing does.
func (r *Request) runningPredecessor() *api.Allocation {
	if s := r.Replaces; s != nil && s.ClientStatus == "" && s.Alloc.HoldsResources() {
		return s.Alloc
	}
	return nil
}

// startCountingReplaced begins counting, if any rule asks for it.
func (p *pass) startCountingReplaced() {
	var last *Request
	distinct := false
	for _, r := range p.order.Requests {
		if r.runningPredecessor() == nil {
			continue
		}
		if last == nil || last.Job != r.Job || last.Group != r.Group {
			last, distinct = r, isDistinct(r.Job.Constraints) || isDistinct(r.Group.Constraints) ||
				slices.ContainsFunc(r.Group.Tasks, func(t *api.Task) bool { return isDistinct(t.Constraints) })
		}
		if distinct {
			if p.leaving == nil {
				p.leaving = make(map[string]map[int32]int32)
			}
			p.countReplaced(r, 1)
		}
	}
}

func isDistinct(constraints []*api.Constraint) bool {
	return slices.ContainsFunc(constraints, func(c *api.Constraint) bool {
		return c.Operand == api.OperandDistinctHosts || c.Operand == api.OperandDistinctValue
	})
}

// countReplaced counts what the request replaces n more times.
func (p *pass) countReplaced(r *Request, n int32) {
	a := r.runningPredecessor()
	slot, ok := p.view.slots.Get(a.NodeID)
	if !ok {
		return
	}
	if p.leaving[a.Group] == nil {
		p.leaving[a.Group] = make(map[int32]int32)
	}
	p.leaving[a.Group][slot] += n
}

// ignorePredecessor counts what the request replaces no more: the request may take its
// place. Accuse takes that back.
func (b *batch) ignorePredecessor(r *Request) { b.adjustPredecessor(r, -1) }

// countPredecessor counts what the request replaces again: it stays where it is.
func (b *batch) countPredecessor(r *Request) { b.adjustPredecessor(r, 1) }

func (b *batch) adjustPredecessor(r *Request, n int32) {
	a := r.runningPredecessor()
	if b.pass.leaving == nil || a == nil {
		return
	}
	b.pass.countReplaced(r, n)
	if slot, ok := b.pass.view.slots.Get(a.NodeID); ok {
		b.countProperties(a.Group, slot, int(n))
	}
}

// countProperties counts instances of the group on the slot for the distinct
// properties that look at them.
func (b *batch) countProperties(group string, slot int32, n int) {
	node, _ := b.node(slot)
	if node == nil {
		return
	}
	for i := len(b.rules.spreads); i < len(b.tally); i++ {
		t := b.tally[i]
		if name, ok := t.target.of(node); ok && (group == b.rules.group.Name || b.overJob(i)) {
			t.count[t.value(name)] += n
		}
	}
}

// placeOnPredecessorsNode puts the request's instance on the node of what it replaces; nil if that
// cannot take it. No scan of the fleet has found that node: for it, what is
// replaced was in the way.
func (b *batch) placeOnPredecessorsNode(r *Request) *api.Allocation {
	if b.pass.leaving == nil || !b.rules.distinctHosts || r.runningPredecessor() == nil || slices.Contains(r.Penalised, r.Replaces.Alloc.NodeID) {
		return nil
	}
	slot, ok := b.pass.view.slots.Get(r.Replaces.Alloc.NodeID)
	if !ok {
		return nil
	}
	bk, o, why := b.findObstacle(slot)
	if why.reason != "" {
		return nil
	}
	return b.assign(r, slot, bk, o)
}
