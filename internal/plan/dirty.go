// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package plan

import "slices"

// A dirtySet holds the dirty instances of a job: those that earlier plans work on.
// Later plans leave them alone. A plan that launches tasks only works on these
// tasks; steps on other tasks of the same instance do not conflict.
type dirtySet struct {
	whole []bool           // by number of the instance
	tasks map[int][]string // that a plan launches, by number of the instance
}

// newDirtySet returns the empty set for that many instances.
func newDirtySet(instances int, m *treeScratch) dirtySet {
	return dirtySet{whole: m.flagsFor(instances + 1)}
}

// mark records that the step is done now. Instances without a place are not
// recorded, because only one plan knows them.
func (s *dirtySet) mark(st *step) {
	switch n := st.on.number; {
	case n == 0:
	case st.action == launch:
		if s.tasks == nil {
			s.tasks = make(map[int][]string)
		}
		s.tasks[n] = append(s.tasks[n], st.taskNames()...)
	default:
		s.whole[n] = true
	}
}

// isDirty reports whether a plan works on the instance as a whole.
func (s *dirtySet) isDirty(in *instance) bool { return s.whole[in.number] }

// isTouched reports whether a plan works on the instance, or on some of its tasks.
func (s *dirtySet) isTouched(in *instance) bool {
	return s.whole[in.number] || len(s.tasks) > 0 && len(s.tasks[in.number]) > 0
}

// conflicts reports whether another step works on what the step is about.
func (s *dirtySet) conflicts(st *step) bool {
	switch {
	case s.whole[st.on.number]:
		return true
	case len(s.tasks) == 0 || len(s.tasks[st.on.number]) == 0:
		return false
	case st.action != launch:
		return true
	}
	busy := s.tasks[st.on.number]
	return slices.ContainsFunc(st.taskNames(), func(name string) bool { return slices.Contains(busy, name) })
}
