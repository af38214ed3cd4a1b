// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package placement

import (
	"cmp"
	"slices"

	"github.com/reeve-run/reeve/api"
)

// A Preemption is an allocation of another job that has to end for one that is
// placed: its room is promised to that one, which its node starts when the other
// has ended.
type Preemption struct {
	Alloc *api.Allocation
	By    *api.Allocation
}

// A choice is a node on which a request has room once others have ended.
type choice struct {
	slot  int32
	pos   uint32  // breaks ties
	harm  harm    // of the best set there
	score float64 // of the node, with the set gone
	round int     // of preempting, in which that was so
}

// compare puts the choice first that does least harm; of those that do the same
// but for freeing more than is needed, the node that suits best.
func (c *choice) compare(d *choice) int {
	return cmp.Or(c.harm.rough(d.harm), -cmp.Compare(c.score, d.score), c.harm.compare(d.harm), cmp.Compare(c.pos, d.pos))
}

// preempt places the request on a node that has room once allocations of less
// important jobs have ended; false if there is none.
func (b *batch) preempt(r *Request) bool {
	p := b.pass
	if p.order.Policy.Held == nil {
		return false
	}
	if r.NodeID != "" {
		slot, ok := p.view.slots.Get(r.NodeID)
		return ok && b.preemptOn(r, slot)
	}
	b.findChoices(r)
	var aside []choice // the instance failed there
	defer func() {
		for _, c := range aside {
			b.choices.push(c)
		}
	}()
	avoid := b.avoid(r.Penalised)
	for len(b.choices) > 0 {
		c := b.choices.pop()
		if c.round < p.round {
			if again, ok := b.choose(r, c.slot); ok {
				b.choices.push(again)
			}
			continue
		}
		if avoid(c.slot) {
			aside = append(aside, c)
			continue
		}
		if b.preemptOn(r, c.slot) {
			b.choices.push(c) // there may be room for more
			return true
		}
	}
	return slices.ContainsFunc(aside, func(c choice) bool { return b.preemptOn(r, c.slot) })
}

// findChoices looks at every node, once for all requests of the batch.
func (b *batch) findChoices(r *Request) {
	if b.chosen {
		return
	}
	b.chosen = true
	b.pass.view.eachPage(func(first int32, p *page) {
		for i, n := range p.nodes {
			if n == nil || p.ready&(1<<i) == 0 || !b.judge(p.kind[i]).fits() {
				continue
			}
			if c, ok := b.choose(r, first|int32(i)); ok {
				b.choices = append(b.choices, c)
			}
		}
	})
	slices.SortFunc(b.choices, func(c, d choice) int { return c.compare(&d) }) // which is a heap
}

// choose finds what preempting would do on a node.
func (b *batch) choose(r *Request, slot int32) (choice, bool) {
	s, ending := b.search(r, slot)
	if s == nil {
		return choice{}, false
	}
	c := choice{slot: slot, pos: b.tie(slot), round: b.pass.round}
	if !ending {
		if s.run() == nil {
			return choice{}, false
		}
		c.harm = s.best
	}
	n := s.page.nodes[s.at]
	rest := s.after()
	at := candidate{slot: slot, used: rest.used, affinity: b.affinity(n), collisions: b.running[slot]}
	c.score = b.value(&at, n, s.capacity, rest)
	return c, true
}

// search prepares looking for victims on a node that could take the request;
// nil if it could not. Waiting reports that there is room as soon as what is
// ending there anyway has ended.
func (b *batch) search(r *Request, slot int32) (s *search, waiting bool) {
	pg, i := b.pass.view.page(slot)
	n := pg.nodes[i]
	if n == nil || b.unfit(pg, i).reason != "" {
		return nil, false
	}
	ending, victims := b.pass.held(n.ID, r.Job)
	if len(ending)+len(victims) == 0 {
		return nil, false
	}
	s = &search{batch: b, page: pg, at: i, slot: slot, capacity: pg.capacity[i], need: b.needOn(n), victims: victims, ending: ending}
	if o := b.pass.touched[slot]; o != nil {
		s.rest = o.fork()
	} else {
		s.rest = pg.at(i)
	}
	for _, a := range ending {
		s.rest.hold(a, -1)
	}
	return s, len(ending) > 0 && s.fitsAll(nil)
}

// after is what is taken on the node when the set, and what is ending, is gone.
func (s *search) after() *overlay {
	rest := s.rest.fork()
	for _, i := range s.set {
		rest.hold(s.victims[i].alloc, -1)
	}
	return &rest
}

// preemptOn places the request on the node, and preempts what has to end for
// that.
func (b *batch) preemptOn(r *Request, slot int32) bool {
	s, waiting := b.search(r, slot)
	if s == nil || !waiting && s.run() == nil {
		return false
	}
	p, rest := b.pass, s.after()
	in, why := b.full(s.page, s.at, slot, rest)
	if why.reason != "" {
		return false
	}
	needed := s.needed(rest)
	real := p.overlay(slot)
	a := b.put(r, slot, b.buckets[in], rest)
	if a == nil {
		return false
	}
	real.hold(a, 1)
	for _, e := range needed {
		a.PreemptedAllocations = append(a.PreemptedAllocations, e.ID)
	}
	if p.preempted == nil {
		p.preempted, p.lost = map[string]bool{}, map[losers]int{}
	}
	for _, i := range s.set {
		v := &s.victims[i]
		a.PreemptedAllocations = append(a.PreemptedAllocations, v.alloc.ID)
		p.out.Preempt = append(p.out.Preempt, Preemption{v.alloc, a})
		p.preempted[v.alloc.ID] = true
		p.lost[v.group]++
	}
	p.round++
	m := b.lone(s.page.nodes[s.at])
	if r.NodeID == "" {
		all := b.metrics
		m = &all
	}
	m.ScoreMetaData = []*api.NodeScore{{
		NodeID: a.NodeID,
		Scores: map[string]float64{"preempted-allocations": float64(s.best.count), "preempted-priorities": float64(s.best.priority)},
	}}
	p.settle(b, r, a, m)
	return true
}

// needed are those of what is ending whose room the instance takes; rest, what
// is taken without them and the set, gets back what the others hold.
func (s *search) needed(rest *overlay) (needed []*api.Allocation) {
	for _, e := range s.ending {
		with := rest.fork()
		with.hold(e, 1)
		if _, why := s.batch.full(s.page, s.at, s.slot, &with); why.reason == "" {
			*rest = with
		} else {
			needed = append(needed, e)
		}
	}
	return needed
}

// choices is a heap: the best is first.
type choices []choice

func (h *choices) push(c choice) {
	*h = append(*h, c)
	for i := len(*h) - 1; i > 0; {
		parent := (i - 1) / 2
		if (*h)[i].compare(&(*h)[parent]) >= 0 {
			return
		}
		(*h)[i], (*h)[parent] = (*h)[parent], (*h)[i]
		i = parent
	}
}

func (h *choices) pop() choice {
	first, last := (*h)[0], len(*h)-1
	(*h)[0] = (*h)[last]
	*h = (*h)[:last]
	for i := 0; ; {
		child := 2*i + 1
		if child >= last {
			return first
		}
		if child+1 < last && (*h)[child+1].compare(&(*h)[child]) < 0 {
			child++
		}
		if (*h)[child].compare(&(*h)[i]) >= 0 {
			return first
		}
		(*h)[i], (*h)[child] = (*h)[child], (*h)[i]
		i = child
	}
}
