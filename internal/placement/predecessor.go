// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package placement

import (
	"slices"

	"github.com/reeve-run/reeve/api"
)

// A request's predecessor is stopped only when the request is placed. Until then it keeps
// running, and distinct_hosts and distinct_property count it for all requests except its
// own. Otherwise, an instance could be placed beside a predecessor that stays because its
// replacement found no node.

// runningPredecessor returns the allocation that the request replaces while it still holds
// resources, or nil.
func (r *Request) runningPredecessor() *api.Allocation {
	if s := r.Replaces; s != nil && s.ClientStatus == "" && s.Alloc.HoldsResources() {
		return s.Alloc
	}
	return nil
}

// startCountingReplaced starts counting predecessors if any rule counts them.
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

// countReplaced changes the count of the request's predecessor by n.
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

// ignorePredecessor stops counting the request's predecessor, so that the request may take
// its place. countPredecessor reverts this.
func (b *batch) ignorePredecessor(r *Request) { b.adjustPredecessor(r, -1) }

// countPredecessor counts the request's predecessor again, because it stays on its node.
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

// countProperties changes the count of instances of the group on the slot by n, for the
// distinct properties that include the group.
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

// placeOnPredecessorsNode places the request's instance on its predecessor's node, or
// returns nil if that node cannot take it. The search of the fleet did not find the node,
// because the predecessor itself was the obstacle.
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
