// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package placement

import (
	"maps"

	"github.com/reeve-run/reeve/api"
)

// filtered counts a node that can never take the group.
func (b *batch) filtered(n *api.Node, reason string) { filtered(b.metrics, n, reason) }

func filtered(m *api.PlacementMetrics, n *api.Node, reason string) {
	m.NodesFiltered++
	add(&m.ConstraintFiltered, reason, 1)
	if n != nil && n.NodeClass != "" {
		add(&m.ClassFiltered, n.NodeClass, 1)
	}
}

// exhausted counts a node that could take the group if it had more room.
func (b *batch) exhausted(n *api.Node, dimension string) { exhausted(b.metrics, n, dimension) }

func exhausted(m *api.PlacementMetrics, n *api.Node, dimension string) {
	m.NodesExhausted++
	add(&m.DimensionExhausted, dimension, 1)
	if n.NodeClass != "" {
		add(&m.ClassExhausted, n.NodeClass, 1)
	}
}

func add(m *map[string]int, key string, n int) {
	if *m == nil {
		*m = make(map[string]int)
	}
	(*m)[key] += n
}

// summarize adds up what the scan counted by kind of node.
func (b *batch) summarize() {
	m := b.metrics
	m.NodePool = b.rules.pool
	m.NodesAvailable = make(map[string]int)
	for i := range b.verdicts {
		k := &b.verdicts[i]
		if k.ready == 0 {
			continue
		}
		n := b.pass.view.kinds[i].node
		m.NodesEvaluated += int(k.ready)
		m.NodesAvailable[n.Datacenter] += int(k.ready)
		if k.filtered > 0 {
			m.NodesFiltered += int(k.filtered)
			add(&m.ConstraintFiltered, k.reason, int(k.filtered))
			if n.NodeClass != "" {
				add(&m.ClassFiltered, n.NodeClass, int(k.filtered))
			}
		}
	}
	m.ScoreMetaData = b.explain()
}

// snapshot copies the counts as they are now.
func (b *batch) snapshot() *api.PlacementMetrics {
	m := *b.metrics
	m.ClassFiltered = maps.Clone(m.ClassFiltered)
	m.ConstraintFiltered = maps.Clone(m.ConstraintFiltered)
	m.ClassExhausted = maps.Clone(m.ClassExhausted)
	m.DimensionExhausted = maps.Clone(m.DimensionExhausted)
	return &m
}

// failure explains why the next instance has no node.
func (b *batch) failure() *api.PlacementMetrics {
	for _, bk := range b.buckets {
		if len(*bk.heap) == 0 {
			continue
		}
		if words := b.closed(bk); words != "" {
			for i := range *bk.heap {
				n, _ := b.node((*bk.heap)[i].slot)
				b.filtered(n, words)
			}
		}
	}
	m := b.snapshot()
	m.ScoreMetaData = nil
	b.asked(m)
	return m
}

// asked adds what was asked for to metrics that say there was too little of it.
func (b *batch) asked(m *api.PlacementMetrics) {
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

// eligibility tells, for a blocked evaluation, which classes of node could take
// the group.
func (b *batch) eligibility(o *Outcome) {
	if b.told {
		return
	}
	b.told = true
	if o.ClassEligibility == nil {
		o.ClassEligibility = make(map[string]bool)
	}
	for i := range b.verdicts {
		k, class := b.judge(int32(i)), b.pass.view.kinds[i].class
		o.ClassEligibility[class] = o.ClassEligibility[class] || k.within && k.reason == ""
	}
	o.Escaped = o.Escaped || b.rules.escaped()
}
