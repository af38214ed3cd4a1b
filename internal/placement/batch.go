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

// A batch holds consecutive requests of an order that ask for the same thing: instances of
// one group of one job version. Each instance goes to the best node. The search results
// for one instance are reused for the next.
type batch struct {
	pass        *pass
	rules       *rules
	feasibility *feasibility
	need        api.Usage
	want        demand // need; a lower bound of it where the need depends on the node
	ask         *portRequest
	count       int // size of the group, for anti-affinity

	special *resources // nil if the group asks only for amounts and ports
	evenly  bool       // reports whether the algorithm spreads load instead of packing nodes
	choosy  bool       // reports whether a node with enough of every amount may still be infeasible

	running map[int32]int32 // instances of the group by slot, before the batch
	before  int             // number of nodes that the order touched before the batch

	tally         []*tally
	buckets       []*bucket
	bucketAt      map[string]int32
	bucketByClass []int32   // bucket by class; nil: one bucket for all, or bucketOf finds it per node
	least         []float64 // lowest load by spread; see lowestLoads

	choices heap.Heap[preemptionChoice] // nodes with allocations to preempt; see preempt.go
	chosen  bool                        // reports whether findChoices has run

	metrics   api.PlacementMetrics // metrics of placed requests
	told      bool                 // reports whether eligibility has run
	resources *template
}

func (p *pass) newBatch(requests []*Request, search bool) *batch {
	r := requests[0]
	b := &batch{pass: p, need: r.Group.Usage(), count: r.Group.Size(), before: len(p.touched), choices: heap.New(leastHarm)}
	b.feasibility, b.rules = p.view.feasibilityOf(r.Job, r.Group, p.order.Policy)
	if len(r.Group.Volumes) > 0 {
		b.rules.volumes = newVolumeNeeds(r.Job.Namespace, r.Group, r.Index, p.order.Claims)
	}
	b.want = newDemand(b.need)
	b.running = p.instances[r.Group.Name]
	b.ask = b.rules.ports
	b.special = b.rules.special
	b.choosy = b.special != nil || len(b.ask.static) > 0 || len(b.rules.volumes) > 0 || p.order.Policy.MaxStarting > 0
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

// mustScan reports whether the batch must examine every node, because node classes do not
// determine feasibility or score.
func (b *batch) mustScan() bool {
	return b.rules.readsNode() || b.special.variesByNode() ||
		slices.ContainsFunc(b.tally, func(t *tally) bool { return t.target.unique }) ||
		slices.ContainsFunc(b.rules.affinities, func(a affinity) bool { return a.unique })
}

// release returns the candidates' memory to the pool. The batch cannot find nodes
// afterwards.
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

// scan makes every feasible node a candidate.
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

// verdict returns the verdict on a node class.
func (b *batch) verdict(class int32) *classVerdict { return &b.feasibility.verdicts[class] }

// addCandidate appends the node, whose class is feasible, to its bucket's heap, or returns
// the obstacle that keeps the node from being a candidate.
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

// bucketOrObstacle returns the node's bucket, or the obstacle, other than room and class,
// that keeps an instance off the node.
func (b *batch) bucketOrObstacle(n *api.Node, slot, class int32) (bucket int32, why obstacle) {
	if b.rules.readsNode() {
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

// neighbours counts the instances on the node that distinct_hosts keeps a new instance
// away from.
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

// missingResource names the resource that the node lacks for one more instance, or returns
// "".
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
	if reason := b.rules.volumeShortage(n, o); reason != "" {
		return reason
	}
	return b.special.shortage(n, o)
}

// demandOn returns the amounts that one instance takes on the node.
func (b *batch) demandOn(n *api.Node) api.Usage {
	if b.special == nil {
		return b.need
	}
	return b.special.demand(b.need, n)
}

// placeNext places the next instance. It returns nil if no node can take it.
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

// assign places an instance on the slot's node. The node has room, except perhaps for
// ports, cores or devices. assign returns nil if one of these is not free.
func (b *batch) assign(r *Request, slot int32, bk *bucket, o *overlay) *api.Allocation {
	if b.pass.leaving != nil && b.rules.distinctHosts && b.neighbours(slot) > 0 {
		return nil // the predecessor on this node was not replaced and stays
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
	b.rules.holdVolumes(o, n)
	b.pass.count(slot, b.rules.group.Name)
	for at, t := range b.tally {
		t.count[bk.values[at]]++
	}
	return b.allocation(r, slot, &p)
}

// avoidNodes returns a function that reports whether a slot belongs to one of the nodes.
func (b *batch) avoidNodes(nodes []string) func(int32) bool {
	slots := make([]int32, 0, len(nodes))
	for _, id := range nodes {
		if slot, ok := b.pass.view.slots.Get(id); ok {
			slots = append(slots, slot)
		}
	}
	return func(slot int32) bool { return slices.Contains(slots, slot) }
}
