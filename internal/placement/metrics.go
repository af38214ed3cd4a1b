// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package placement

import (
	"maps"
	"math/bits"

	"github.com/reeve-run/reeve/api"
)

// count adds a node with the obstacle to the metrics.
func (o obstacle) count(m *api.PlacementMetrics, n *api.Node) {
	switch {
	case o.reason == "":
	case o.room:
		m.NodesExhausted++
		add(&m.DimensionExhausted, o.reason, 1)
		if n.NodeClass != "" {
			add(&m.ClassExhausted, n.NodeClass, 1)
		}
	default:
		m.NodesFiltered++
		add(&m.ConstraintFiltered, o.reason, 1)
		if n != nil && n.NodeClass != "" {
			add(&m.ClassFiltered, n.NodeClass, 1)
		}
	}
}

func add(m *map[string]int, key string, n int) {
	if *m == nil {
		*m = make(map[string]int)
	}
	(*m)[key] += n
}

// placedMetrics returns a copy of the metrics of placed requests. It copies them because
// allocations outlive the batch.
func (b *batch) placedMetrics() *api.PlacementMetrics {
	m := b.metrics
	return &m
}

// explainFailure examines every node again to explain why none can take the next instance.
func (b *batch) explainFailure() *api.PlacementMetrics {
	m := b.feasibility.metrics(b.pass.view)
	m.ConstraintFiltered, m.ClassFiltered = maps.Clone(m.ConstraintFiltered), maps.Clone(m.ClassFiltered)
	b.pass.view.eachPage(func(first int32, p *page) {
		for ready := p.ready; ready != 0; ready &= ready - 1 {
			i := bits.TrailingZeros64(ready)
			if !b.verdict(p.class[i]).fits() {
				continue
			}
			slot := first | int32(i)
			at := p.at(i)
			if o := b.pass.touched[slot]; o != nil {
				at = *o
			}
			_, why := b.roomObstacle(p, i, slot, &at)
			why.count(&m, p.nodes[i])
		}
	})
	b.addDemand(&m)
	return &m
}

// addDemand adds the requested amounts to metrics that report a lack of resources.
func (b *batch) addDemand(m *api.PlacementMetrics) {
	if m.NodesExhausted == 0 || m.ResourcesExhausted != nil {
		return
	}
	m.ResourcesExhausted = make(map[string]*api.Resources, len(b.rules.group.Tasks))
	for _, t := range b.rules.group.Tasks {
		if t.Resources != nil {
			m.ResourcesExhausted[t.Name] = t.Resources
		}
	}
}

// eligibility records, for a blocked evaluation, which node classes can take the group.
func (b *batch) eligibility(o *Outcome) {
	if b.told {
		return
	}
	b.told = true
	if o.ClassEligibility == nil {
		o.ClassEligibility = make(map[string]bool)
	}
	for i, k := range b.pass.view.classes {
		o.ClassEligibility[k.id] = o.ClassEligibility[k.id] || b.verdict(int32(i)).fits()
	}
	o.Escaped = o.Escaped || b.rules.escaped()
}
