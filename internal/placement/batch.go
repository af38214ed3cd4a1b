// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package placement

import (
	"slices"

	"github.com/reeve-run/reeve/api"
)

// A batch is the requests of an order that ask for the same: instances of one
// group of one job version. One scan over the fleet serves them all.
type batch struct {
	pass  *pass
	rules *rules
	need  api.Usage
	ask   *portAsk
	count int // of the group, for anti-affinity

	special *special // nil if the group asks for amounts and ports alone
	evenly  bool     // the algorithm uses nodes evenly
	choosy  bool     // a node with enough of every amount may still not do

	running map[int32]int32 // instances of the group by slot, before the batch

	verdicts []verdict // by kind of node
	tally    []*tally
	buckets  []*bucket
	bucketAt map[string]int32

	// few is how many candidates are kept; 0: all. One instance needs only the
	// best, and some more should that have no free port.
	few     int
	dropped bool // there were more

	metrics   *api.PlacementMetrics
	told      bool // eligibility was
	resources *template
}

// A verdict is what was found out about a kind of node.
type verdict struct {
	known    bool
	within   bool // in the job's pool and datacenters
	inPool   bool
	reason   string // why not, in words; "" if feasible
	affinity float64
	bucket   int32 // -1: to be found for each node
	ready    int32 // nodes of the kind that were looked at
	filtered int32 // of those, how many the reason took out
}

// enough is how many candidates are kept for a single instance.
const enough = 8

func (p *pass) newBatch(requests []*Request, all bool) *batch {
	r := requests[0]
	b := &batch{
		pass: p, rules: newRules(r.Job, r.Group, p.order.Policy), need: r.Group.Usage(),
		count: r.Group.Size(), verdicts: make([]verdict, len(p.view.kinds)),
		bucketAt: make(map[string]int32), metrics: &api.PlacementMetrics{},
	}
	b.running = p.instances[r.Group.Name]
	b.ask = b.rules.ports
	b.special = b.rules.special
	b.choosy = b.special != nil || len(b.ask.static) > 0 || p.order.Policy.MaxStarting > 0
	b.resources = newTemplate(r.Group, b.ask, p.order.Policy.MemoryOversubscription)
	b.evenly = p.order.Policy.Algorithm == api.AlgorithmSpread
	b.tallies()
	p.batches = append(p.batches, b)
	if r.NodeID != "" || r.stays() && !all {
		return b
	}
	if len(requests) == 1 && !all && len(b.tally) == 0 && len(r.Penalised) == 0 {
		b.few = enough
	}
	b.scan()
	b.summarize()
	return b
}

// release gives the candidates' memory back. The batch finds no node any more.
func (b *batch) release() {
	for _, bk := range b.buckets {
		heaps.Put(bk.heap)
		bk.heap = nil
	}
}

// node returns the slot's node and its capacity.
func (b *batch) node(slot int32) (*api.Node, api.Usage) {
	p, i := b.pass.view.page(slot)
	return p.nodes[i], p.capacity[i]
}

// scan looks at every node once and fills the buckets.
func (b *batch) scan() {
	pos := int32(0)
	b.pass.view.eachPage(b.pass.order.Seed, func(first int32, p *page) {
		for i := range pageSize {
			if p.nodes[i] == nil {
				continue
			}
			k := b.judge(p.kind[i])
			if k.inPool {
				b.metrics.NodesInPool++
			}
			if !k.within || p.ready&(1<<i) == 0 {
				continue
			}
			k.ready++
			if k.reason != "" {
				k.filtered++
				continue
			}
			pos++
			b.consider(p, i, first|int32(i), pos, k)
		}
	})
	for _, bk := range b.buckets {
		bk.heap.init()
	}
}

// judge decides about a kind of node, once.
func (b *batch) judge(kind int32) *verdict {
	k := &b.verdicts[kind]
	if k.known {
		return k
	}
	n := b.pass.view.kinds[kind].node
	k.known, k.bucket = true, -1
	k.inPool = b.rules.inPool(n)
	k.within = k.inPool && b.rules.inDatacenter(n)
	if !k.within {
		return k
	}
	if k.reason = b.rules.ofKind(n); k.reason != "" {
		return k
	}
	for _, a := range b.rules.affinities {
		if !a.unique && a.holds(n) {
			k.affinity += a.weight
		}
	}
	if !slices.ContainsFunc(b.tally, func(t *tally) bool { return t.target.unique }) {
		k.bucket, k.reason = b.bucketOf(n)
	}
	return k
}

// consider makes the node a candidate, or counts why it is none.
func (b *batch) consider(p *page, i int, slot, pos int32, k *verdict) {
	n := p.nodes[i]
	if reason := b.rules.ofNode(n); reason != "" {
		b.filtered(n, reason)
		return
	}
	in := k.bucket
	if in < 0 {
		var reason string
		if in, reason = b.bucketOf(n); reason != "" {
			b.filtered(n, reason)
			return
		}
	}
	c := candidate{slot: slot, pos: pos, affinity: k.affinity, used: p.used[i]}
	var at overlay
	if b.choosy {
		at = p.at(i)
	}
	if len(b.pass.touched) > 0 {
		if o := b.pass.touched[slot]; o != nil {
			c.used, at = o.used, *o
		}
	}
	if b.rules.distinctHosts && b.neighbours(slot) > 0 {
		b.filtered(n, api.OperandDistinctHosts)
		return
	}
	if b.running != nil {
		c.collisions = b.running[slot]
	}
	if dimension := b.lacks(&c, n, p.capacity[i], &at); dimension != "" {
		b.exhausted(n, dimension)
		return
	}
	for _, a := range b.rules.affinities {
		if a.unique && a.holds(n) {
			c.affinity += a.weight
		}
	}
	c.score = b.value(&c, n, p.capacity[i], &at)
	bk := b.buckets[in]
	if b.few > 0 {
		b.dropped = bk.heap.keep(&c, b.few) || b.dropped
		return
	}
	*bk.heap = append(*bk.heap, c)
	for i, t := range b.tally {
		t.live[bk.values[i]]++
	}
}

// neighbours counts the instances on the node that distinct_hosts forbids
// beside another.
func (b *batch) neighbours(slot int32) int32 {
	if !b.rules.distinctJob {
		return b.pass.instances[b.rules.group.Name][slot]
	}
	sum := int32(0)
	for _, slots := range b.pass.instances {
		sum += slots[slot]
	}
	return sum
}

// lacks names what the node has too little of for one more instance, or "".
func (b *batch) lacks(c *candidate, n *api.Node, capacity api.Usage, o *overlay) string {
	if dimension, ok := c.used.Add(b.needOn(n)).Fits(capacity); !ok {
		return dimension
	}
	if !b.choosy {
		return ""
	}
	for _, port := range b.ask.static {
		if o.hasPort(binding{port: port}) {
			return "network: reserved port collision"
		}
	}
	if limit := b.pass.order.Policy.MaxStarting; limit > 0 && int(o.starting) >= limit {
		return "instances starting at once"
	}
	return b.special.lacks(n, o)
}

// needOn is what one instance takes of the node.
func (b *batch) needOn(n *api.Node) api.Usage {
	if b.special == nil {
		return b.need
	}
	return b.special.need(b.need, n)
}

// take places the next instance; nil if no node can take it.
func (b *batch) take(r *Request) *api.Allocation {
	var avoid func(slot int32) bool
	if len(r.Penalised) > 0 {
		avoid = b.avoid(r.Penalised)
	}
	for {
		bk, i := b.best(avoid)
		if i < 0 && avoid != nil {
			avoid = nil
			continue
		}
		if i < 0 {
			return nil
		}
		c := &(*bk.heap)[i]
		n, capacity := b.node(c.slot)
		o := b.pass.overlay(c.slot)
		a, dimension := b.put(r, c.slot, bk, o)
		if a == nil {
			b.exhausted(n, dimension)
			b.drop(bk, i)
			continue
		}
		c.used = o.used
		c.collisions++
		switch dimension := b.lacks(c, n, capacity, o); {
		case b.rules.distinctHosts:
			b.filtered(n, api.OperandDistinctHosts)
			b.drop(bk, i)
		case dimension != "":
			b.exhausted(n, dimension)
			b.drop(bk, i)
		default:
			c.score = b.value(c, n, capacity, o)
			bk.heap.fix(i)
		}
		return a
	}
}

// put places an instance on the slot's node, which lacks nothing but perhaps
// free ports, cores or devices: then it is nil, and the dimension is told.
func (b *batch) put(r *Request, slot int32, bk *bucket, o *overlay) (*api.Allocation, string) {
	n, _ := b.node(slot)
	var p picked
	var ok bool
	if p.numbers, ok = b.ask.pick(n, o, b.pass.random()); !ok {
		return nil, "network: dynamic port selection failed"
	}
	if !b.special.pick(n, o, &p) {
		return nil, b.special.lacks(n, o)
	}
	b.hold(o, n, &p)
	b.pass.count(slot, b.rules.group.Name)
	for at, t := range b.tally {
		t.count[bk.values[at]]++
	}
	return b.allocation(r, slot, &p), ""
}

// avoid reports whether a slot is one of the nodes.
func (b *batch) avoid(nodes []string) func(int32) bool {
	slots := make([]int32, 0, len(nodes))
	for _, id := range nodes {
		if slot, ok := b.pass.view.slots.Get(id); ok {
			slots = append(slots, slot)
		}
	}
	return func(slot int32) bool { return slices.Contains(slots, slot) }
}
