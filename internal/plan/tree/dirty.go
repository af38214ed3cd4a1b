// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package tree

import (
	"slices"

	"github.com/reeve-run/reeve/internal/plan/facts"
)

// A DirtySet holds the dirty instances of a job: those that earlier plans work on.
// Later plans leave them alone. A plan that launches tasks only works on these
// tasks; steps on other tasks of the same instance do not conflict.
type DirtySet struct {
	whole []bool           // by number of the instance
	tasks map[int][]string // that a plan launches, by number of the instance
}

// NewDirtySet returns the empty set for that many instances.
func NewDirtySet(instances int, m *Scratch) DirtySet {
	return DirtySet{whole: m.FlagsFor(instances + 1)}
}

// mark records that the step is done now. Instances without a place are not
// recorded, because only one plan knows them.
func (d *DirtySet) mark(st *Step) {
	switch n := st.On.Number; {
	case n == 0:
	case st.Action == Launch:
		if d.tasks == nil {
			d.tasks = make(map[int][]string)
		}
		d.tasks[n] = append(d.tasks[n], st.TaskNames()...)
	default:
		d.whole[n] = true
	}
}

// IsDirty reports whether a plan works on the instance as a whole.
func (d *DirtySet) IsDirty(in *facts.Instance) bool { return d.whole[in.Number] }

// IsTouched reports whether a plan works on the instance, or on some of its tasks.
func (d *DirtySet) IsTouched(in *facts.Instance) bool {
	return d.whole[in.Number] || len(d.tasks) > 0 && len(d.tasks[in.Number]) > 0
}

// conflicts reports whether another step works on what the step is about.
func (d *DirtySet) conflicts(st *Step) bool {
	switch {
	case d.whole[st.On.Number]:
		return true
	case len(d.tasks) == 0 || len(d.tasks[st.On.Number]) == 0:
		return false
	case st.Action != Launch:
		return true
	}
	busy := d.tasks[st.On.Number]
	return slices.ContainsFunc(st.TaskNames(), func(name string) bool { return slices.Contains(busy, name) })
}
