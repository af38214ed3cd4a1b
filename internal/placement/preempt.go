// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package placement

import (
	"cmp"
	"slices"

	"github.com/reeve-run/reeve/api"
)

// A Preemption is an allocation of another job that must end for a placed allocation. Its
// room is reserved for the placed allocation, which the node starts when the preempted one
// has ended.
type Preemption struct {
	Alloc *api.Allocation
	By    *api.Allocation
}

// A preemptor finds room for requests that an order cannot place otherwise.
type preemptor struct {
	pass      *pass
	preempted map[string]bool // ids of allocations preempted by the order
	losses    *groupLosses

	// Buffers reused for every node:
	ending  []*api.Allocation
	victims []victim
	search  victimSearch
}

// A preemptionChoice is a node on which a request has room once other allocations have
// ended.
type preemptionChoice struct {
	slot   int32
	pos    uint32         // breaks ties
	groups [4]int32       // groups of the best set's victims
	count  int            // number of groups; if it exceeds len(groups), the array is incomplete
	lost   int            // losses of the groups at evaluation; -1: the node has changed since
	score  float64        // score of the node without the set
	harm   preemptionCost // cost of the best set
}

// compare orders choices by preemption cost. Among choices with equal cost apart from the
// excess room, the node with the better score comes first.
func (c *preemptionChoice) compare(d *preemptionChoice) int {
	return cmp.Or(c.harm.compareCoarse(d.harm), -cmp.Compare(c.score, d.score), c.harm.compare(d.harm), cmp.Compare(c.pos, d.pos))
}

// leastHarm reports whether c is the cheaper choice by compare.
func leastHarm(c, d *preemptionChoice) bool { return c.compare(d) < 0 }

// isStale reports whether the choice must be evaluated again. Its cost may have risen, but
// cannot have fallen, because its groups may have lost other allocations since.
func (x *preemptor) isStale(c *preemptionChoice) bool {
	return c.lost < 0 || c.count > len(c.groups) || c.lost != x.lost(c)
}

func (x *preemptor) lost(c *preemptionChoice) (lost int) {
	for _, g := range c.groups[:min(c.count, len(c.groups))] {
		l := &x.losses.groups[g]
		lost += max(min(l.lost, l.may), 0) // beyond the limit, every further loss costs the same
	}
	return lost
}

// mayPreempt returns the order's preemptor, or nil if no allocation can be preempted for
// the request.
func (b *batch) mayPreempt(r *Request) *preemptor {
	p := b.pass
	if p.order.Policy.Held == nil || !p.view.priorities.upTo(r.Job.Priority-PriorityGap) {
		return nil
	}
	if p.preemptor == nil {
		p.preemptor = &preemptor{pass: p, preempted: map[string]bool{}, losses: newGroupLosses()}
	}
	return p.preemptor
}

// preempt places the request on a node that has room once allocations of less important
// jobs have ended. It reports whether such a node exists.
func (b *batch) preempt(r *Request) bool {
	x := b.mayPreempt(r)
	if x == nil {
		return false
	}
	b.ignorePredecessor(r)
	placed := x.place(b, r)
	if !placed {
		b.countPredecessor(r)
	}
	return placed
}

func (x *preemptor) place(b *batch, r *Request) bool {
	if r.NodeID != "" {
		slot, ok := b.pass.view.slots.Get(r.NodeID)
		return ok && x.preemptOn(b, r, slot)
	}
	x.findChoices(b, r)
	var aside []preemptionChoice // nodes on which the instance failed
	defer func() {
		for _, c := range aside {
			b.choices.Push(c)
		}
	}()
	avoid := b.avoidNodes(r.Penalised)
	for b.choices.Len() > 0 {
		c := b.choices.Pop()
		if x.isStale(&c) {
			if again, ok := x.evaluateNode(b, r, c.slot); ok {
				b.choices.Push(again)
				if again.count > len(again.groups) && x.preemptOn(b, r, again.slot) {
					return true // it would always be stale
				}
			}
			continue
		}
		if avoid(c.slot) {
			aside = append(aside, c)
			continue
		}
		if x.preemptOn(b, r, c.slot) {
			c.lost = -1
			b.choices.Push(c) // the node may have room for more
			return true
		}
	}
	return slices.ContainsFunc(aside, func(c preemptionChoice) bool { return x.preemptOn(b, r, c.slot) })
}

// findChoices examines every node, once for all requests of the batch.
func (x *preemptor) findChoices(b *batch, r *Request) {
	if b.chosen {
		return
	}
	b.chosen = true
	b.pass.view.eachPage(func(first int32, p *page) {
		for i, n := range p.nodes {
			if n == nil || p.ready&(1<<i) == 0 || !b.verdict(p.class[i]).fits() {
				continue
			}
			if c, ok := x.evaluateNode(b, r, first|int32(i)); ok {
				b.choices.Items = append(b.choices.Items, c)
			}
		}
	})
	b.choices.Init()
}

// evaluateNode computes the cost of preempting on a node.
func (x *preemptor) evaluateNode(b *batch, r *Request, slot int32) (preemptionChoice, bool) {
	s := x.find(b, r, slot)
	if s == nil {
		return preemptionChoice{}, false
	}
	c := preemptionChoice{slot: slot, pos: b.tieBreak(slot), harm: s.best}
	for i, v := range s.set {
		if i < len(c.groups) {
			c.groups[i] = s.victims[v].group
		}
	}
	c.count = len(s.set)
	c.lost = x.lost(&c)
	n := s.page.nodes[s.at]
	used := s.rest.used
	for _, i := range s.set {
		used = used.Sub(s.victims[i].usage)
	}
	at := candidate{slot: slot, used: used, affinity: b.affinity(n), collisions: b.running[slot]}
	c.score = b.score(&at, n, s.capacity, &s.rest)
	return c, true
}

// find returns the cheapest set of allocations to preempt on a node, or nil if none makes
// room. The result is valid until the next call.
func (x *preemptor) find(b *batch, r *Request, slot int32) *victimSearch {
	pg, i := b.pass.view.page(slot)
	n := pg.nodes[i]
	if n == nil || b.classObstacle(pg, i).reason != "" {
		return nil
	}
	x.collectHeld(n.ID, r.Job)
	if len(x.ending)+len(x.victims) == 0 {
		return nil
	}
	old := &x.search
	*old = victimSearch{
		batch: b, losses: x.losses, page: pg, at: i, slot: slot, capacity: pg.capacity[i], need: b.demandOn(n),
		victims: x.victims, ending: x.ending, everyone: old.everyone[:0], picked: old.picked[:0], forced: old.forced[:0], set: old.set[:0],
	}
	s := old
	if o := b.pass.touched[slot]; o != nil {
		s.rest = o.fork()
	} else {
		s.rest = pg.at(i)
	}
	for _, a := range s.ending {
		s.rest.hold(a, -1)
	}
	if len(s.ending) > 0 && s.fitsAll(nil) {
		return s // the room of ending allocations is enough
	}
	if !s.run() {
		return nil
	}
	return s
}

// after returns the node's overlay without the set and the ending allocations.
func (s *victimSearch) after() *overlay {
	rest := s.rest.fork()
	for _, i := range s.set {
		rest.hold(s.victims[i].alloc, -1)
	}
	return &rest
}

// preemptOn places the request on the node and preempts the allocations that must end for
// it.
func (x *preemptor) preemptOn(b *batch, r *Request, slot int32) bool {
	s := x.find(b, r, slot)
	if s == nil {
		return false
	}
	p, rest := b.pass, s.after()
	in, why := b.roomObstacle(s.page, s.at, slot, rest)
	if why.reason != "" {
		return false
	}
	needed := s.needed(rest)
	real := p.overlay(slot)
	a := b.assign(r, slot, b.buckets[in], rest)
	if a == nil {
		return false
	}
	real.hold(a, 1)
	for _, e := range needed {
		a.PreemptedAllocations = append(a.PreemptedAllocations, e.ID)
	}
	for _, i := range s.set {
		v := &s.victims[i]
		a.PreemptedAllocations = append(a.PreemptedAllocations, v.alloc.ID)
		p.out.Preempt = append(p.out.Preempt, Preemption{v.alloc, a})
		x.preempted[v.alloc.ID] = true
		x.losses.groups[v.group].lost++
	}
	m := b.singleNodeMetrics(s.page.nodes[s.at])
	if r.NodeID == "" {
		all := b.metrics
		m = &all
	}
	m.ScoreMetaData = []*api.NodeScore{{
		NodeID: a.NodeID,
		Scores: map[string]float64{"preempted-allocations": float64(s.best.count), "preempted-priorities": float64(s.best.priority)},
	}}
	p.recordResult(b, r, a, m)
	return true
}

// needed returns the ending allocations whose room the instance takes. It adds the other
// ending allocations back to rest, the overlay without the ending allocations and the set.
func (s *victimSearch) needed(rest *overlay) (needed []*api.Allocation) {
	for _, e := range s.ending {
		with := rest.fork()
		with.hold(e, 1)
		if _, why := s.batch.roomObstacle(s.page, s.at, s.slot, &with); why.reason == "" {
			*rest = with
		} else {
			needed = append(needed, e)
		}
	}
	return needed
}
