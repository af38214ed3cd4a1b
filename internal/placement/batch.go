// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package placement

import (
	"maps"
	"math/bits"
	"slices"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/heap"
)

// A batch is the requests of an order that ask for the same: instances of one
// group of one job version. Each is placed on the best node there is; what was
// found out about the others on the way serves those after it.
type batch struct {
	pass        *pass
	rules       *rules
	feasibility *feasibility
	need        api.Usage
	want        demand // need, or less if that depends on the node
	ask         *portRequest
	count       int // of the group, for anti-affinity

	special *resources // nil if the group asks for amounts and ports alone
	evenly  bool       // the algorithm uses nodes evenly
	choosy  bool       // a node with enough of every amount may still not do

	running map[int32]int32 // instances of the group by slot, before the batch
	before  int             // nodes that the order had touched before the batch

	tally         []*tally
	buckets       []*bucket
	bucketAt      map[string]int32
	bucketByClass []int32   // nil: there is one bucket, or it is to be found node by node
	least         []float64 // by spread; see leasts

	choices heap.Heap[preemptionChoice] // nodes with something to preempt; see preempt.go
	chosen  bool                        // choices were found

	metrics   api.PlacementMetrics // of those that are placed
	told      bool                 // eligibility was
	resources *template
}

func (p *pass) newBatch(requests []*Request, search bool) *batch {
	r := requests[0]
	b := &batch{pass: p, need: r.Group.Usage(), count: r.Group.Size(), before: len(p.touched), choices: heap.New(leastHarm)}
	b.feasibility, b.rules = p.view.feasibilityOf(r.Job, r.Group, p.order.Policy)
	b.want = newDemand(b.need)
	b.running = p.instances[r.Group.Name]
	b.ask = b.rules.ports
	b.special = b.rules.special
	b.choosy = b.special != nil || len(b.ask.static) > 0 || p.order.Policy.MaxStarting > 0
	b.resources = newTemplate(r.Group, b.ask, p.order.Policy.MemoryOversubscription)
	b.evenly = p.order.Policy.Algorithm == api.AlgorithmSpread
	b.metrics = b.feasibility.metrics(p.view)
	p.batches = append(p.batches, b)
	b.tallies()
	if search {
		b.searchNodes()
		b.metrics.ScoreMetaData = b.scoreMetadata()
	}
	return b
}

// searchNodes prepares the search for nodes.
func (b *batch) searchNodes() {
	if b.mustScan() {
		b.scan()
		return
	}
	if len(b.tally) == 0 {
		b.buckets = append(b.buckets, newBucket(nil))
		b.buckets[0].levels = b.feasibility.levels
	} else {
		b.divide()
	}
	b.seedFrontier()
}

// mustScan reports whether every node has to be looked at, because classes of
// node tell too little.
func (b *batch) mustScan() bool {
	return len(b.rules.own) > 0 || b.special.variesByNode() ||
		slices.ContainsFunc(b.tally, func(t *tally) bool { return t.target.unique }) ||
		slices.ContainsFunc(b.rules.affinities, func(a affinity) bool { return a.unique })
}

// release gives the candidates' memory back. The batch finds no node any more.
func (b *batch) release() {
	for _, bk := range b.buckets {
		bk.release()
	}
	b.buckets = nil
}

// node returns the slot's node and its capacity.
func (b *batch) node(slot int32) (*api.Node, api.Usage) {
	p, i := b.pass.view.page(slot)
	return p.nodes[i], p.capacity[i]
}

// scan makes every node that will do a candidate.
func (b *batch) scan() {
	m := &b.metrics
	m.ConstraintFiltered, m.ClassFiltered = maps.Clone(m.ConstraintFiltered), maps.Clone(m.ClassFiltered)
	b.pass.view.eachPage(func(first int32, p *page) {
		for ready := p.ready; ready != 0; ready &= ready - 1 {
			i := bits.TrailingZeros64(ready)
			if k := b.verdict(p.class[i]); k.fits() {
				b.addCandidate(p, i, first|int32(i), k).count(m, p.nodes[i])
			}
		}
	})
	for _, bk := range b.buckets {
		bk.heap.init()
	}
}

// verdict tells about a node class.
func (b *batch) verdict(class int32) *classVerdict { return &b.feasibility.verdicts[class] }

// addCandidate makes the node, of a class that fits, a candidate at the end of its
// bucket's heap, or tells why it is none.
func (b *batch) addCandidate(p *page, i int, slot int32, k *classVerdict) obstacle {
	n := p.nodes[i]
	c := candidate{slot: slot, pos: b.tieBreak(slot), affinity: k.affinity, used: p.used[i]}
	var at overlay
	if b.choosy {
		at = p.at(i)
	}
	if b.before > 0 {
		if o := b.pass.touched[slot]; o != nil {
			c.used, at = o.used, *o
		}
	}
	in, why := b.bucketOrObstacle(n, slot, p.class[i])
	if why.reason != "" {
		return why
	}
	if b.running != nil {
		c.collisions = b.running[slot]
	}
	if dimension := b.missingResource(&c, n, p.capacity[i], &at); dimension != "" {
		return obstacle{reason: dimension, room: true}
	}
	for _, a := range b.rules.affinities {
		if a.unique && a.holds(n) {
			c.affinity += a.weight
		}
	}
	c.score = b.score(&c, n, p.capacity[i], &at)
	bk := b.buckets[in]
	*bk.heap = append(*bk.heap, c)
	return obstacle{}
}

// bucketOrObstacle returns the node's bucket, or what apart from room and from its class
// keeps the node from taking an instance.
func (b *batch) bucketOrObstacle(n *api.Node, slot, class int32) (bucket int32, why obstacle) {
	if len(b.rules.own) > 0 {
		if reason := b.rules.nodeMismatch(n); reason != "" {
			return 0, obstacle{reason: reason}
		}
	}
	if b.rules.distinctHosts && b.neighbours(slot) > 0 {
		return 0, obstacle{reason: api.OperandDistinctHosts}
	}
	if b.bucketByClass != nil {
		return b.bucketByClass[class], obstacle{}
	}
	at, reason := b.bucketOf(n)
	return at, obstacle{reason: reason}
}

// neighbours counts the instances on the node that distinct_hosts forbids
// beside another.
func (b *batch) neighbours(slot int32) int32 {
	if !b.rules.distinctJob {
		return b.pass.instances[b.rules.group.Name][slot] + b.pass.leaving[b.rules.group.Name][slot]
	}
	sum := int32(0)
	for _, slots := range b.pass.instances {
		sum += slots[slot]
	}
	for _, slots := range b.pass.leaving {
		sum += slots[slot]
	}
	return sum
}

// missingResource names what the node has too little of for one more instance, or "".
func (b *batch) missingResource(c *candidate, n *api.Node, capacity api.Usage, o *overlay) string {
	if dimension, ok := c.used.Add(b.demandOn(n)).Fits(capacity); !ok {
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
		return api.DimensionStarting
	}
	return b.special.shortage(n, o)
}

// demandOn is what one instance takes of the node.
func (b *batch) demandOn(n *api.Node) api.Usage {
	if b.special == nil {
		return b.need
	}
	return b.special.demand(b.need, n)
}

// placeNext places the next instance; nil if no node can take it.
func (b *batch) placeNext(r *Request) *api.Allocation {
	var avoid func(slot int32) bool
	if len(r.Penalised) > 0 {
		avoid = b.avoidNodes(r.Penalised)
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
		a := b.assign(r, c.slot, bk, o)
		if a == nil {
			bk.heap.remove(i)
			continue
		}
		c.used = o.used
		c.collisions++
		if b.rules.distinctHosts || b.missingResource(c, n, capacity, o) != "" {
			bk.heap.remove(i)
		} else {
			c.score = b.score(c, n, capacity, o)
			bk.heap.fix(i)
		}
		return a
	}
}

// assign places an instance on the slot's node, which lacks nothing but perhaps
// free ports, cores or devices: then it is nil.
func (b *batch) assign(r *Request, slot int32, bk *bucket, o *overlay) *api.Allocation {
	if b.pass.leaving != nil && b.rules.distinctHosts && b.neighbours(slot) > 0 {
		return nil // what was to leave stays after all
	}
	n, _ := b.node(slot)
	var p picked
	var ok bool
	if p.numbers, ok = b.ask.pick(n, o, b.pass.random()); !ok {
		return nil
	}
	if !b.special.pick(n, o, &p) {
		return nil
	}
	b.hold(o, n, &p)
	b.pass.count(slot, b.rules.group.Name)
	for at, t := range b.tally {
		t.count[bk.values[at]]++
	}
	return b.allocation(r, slot, &p)
}

// avoidNodes reports whether a slot is one of the nodes.
func (b *batch) avoidNodes(nodes []string) func(int32) bool {
	slots := make([]int32, 0, len(nodes))
	for _, id := range nodes {
		if slot, ok := b.pass.view.slots.Get(id); ok {
			slots = append(slots, slot)
		}
	}
	return func(slot int32) bool { return slices.Contains(slots, slot) }
}
