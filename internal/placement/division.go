// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package placement

import (
	"encoding/binary"
	"slices"
)

// A division holds the buckets into which a group's spreads and distinct properties divide
// the node classes. It belongs to a feasibility and never changes.
type division struct {
	tallies []*tally          // with the values of all classes, without counts
	byClass []int32           // bucket of each feasible class
	values  [][]int32         // by bucket, by tally
	levels  [][]affinityLevel // by bucket
}

// divide returns the division of the view's classes. It returns nil if the group has no
// spreads or distinct properties, or if nodes of one class differ in them.
func (s *feasibility) divide(v *View) *division {
	d := &division{tallies: newTallies(&s.rules), byClass: make([]int32, len(s.verdicts))}
	if len(d.tallies) == 0 || slices.ContainsFunc(d.tallies, func(t *tally) bool { return t.target.unique }) {
		return nil
	}
	at := make(map[string]int32)
	values := make([]int32, len(d.tallies))
	var key []byte
	for class, k := range v.classes {
		key = key[:0]
		for i, t := range d.tallies {
			// Infeasible classes may hold instances, which count.
			values[i] = -1
			if name, ok := t.target.of(k.node); ok || t.spread != nil {
				values[i] = t.value(name)
			}
			key = binary.AppendVarint(key, int64(values[i]))
		}
		verdict := &s.verdicts[class]
		if !verdict.fits() {
			continue
		}
		in, known := at[string(key)]
		if !known {
			in = int32(len(d.values))
			at[string(key)] = in
			d.values, d.levels = append(d.values, slices.Clone(values)), append(d.levels, nil)
		}
		d.byClass[class] = in
		d.levels[in] = addLevel(d.levels[in], verdict.affinity, int32(class))
	}
	return d
}

// newTallies returns copies of the division's tallies with zero counts.
func (d *division) newTallies() []*tally {
	all := make([]tally, len(d.tallies))
	list := make([]*tally, len(all))
	for i, t := range d.tallies {
		all[i] = *t
		all[i].count, all[i].shared = make([]int, len(t.names)), true
		list[i] = &all[i]
	}
	return list
}
