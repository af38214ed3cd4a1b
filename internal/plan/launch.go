// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"maps"
	"slices"
	"strings"

	"github.com/reeve-run/reeve/api"
)

// launch has the node of the step's instance run, hold or end tasks there: the
// step's launches take the place of those that the allocation has of the tasks.
func (w *work) launch(st *step) {
	wanted := st.its().launches
	if len(wanted) == 0 {
		return
	}
	if st.rare.updates {
		w.renew(st.on)
	}
	a := w.change(st.on.alloc)
	tasks := maps.Clone(wanted)
	if a.Launches != nil {
		for name, l := range a.Launches.Tasks {
			if _, new := tasks[name]; !new {
				tasks[name] = l
			}
		}
	}
	a.Launches = launches(tasks)
}

// launches makes what an allocation is told of its tasks: nil if there is
// nothing to tell.
func launches(tasks map[string]*api.Launch) *api.Launches {
	if len(tasks) == 0 {
		return nil
	}
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(tasks)) {
		l := tasks[name]
		b.WriteString(name + "\x00" + l.Token + "\x00")
		for _, is := range []bool{l.Await, l.Hold, l.Done, l.Alone} {
			if is {
				b.WriteByte('1')
			}
			b.WriteByte('|')
		}
		for _, key := range slices.Sorted(maps.Keys(l.Env)) {
			b.WriteString(key + "\x00" + l.Env[key] + "\x00")
		}
	}
	return &api.Launches{ID: deriveID("launches", b.String()), Tasks: tasks}
}

// launches are those of a new allocation.
func (w *work) launches(st *step) *api.Launches {
	if st.rare == nil {
		return nil
	}
	return launches(st.rare.launches)
}
