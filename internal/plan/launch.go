// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"maps"
	"slices"
	"strings"

	"github.com/reeve-run/reeve/api"
)

// launch has the node of the step's instance run tasks there.
func (w *work) launch(st *step) {
	if len(st.extraOrZero().launches) == 0 {
		return
	}
	if st.extra.updates {
		w.renew(st.on)
	}
	w.updateLaunches(st.on, st.extra.launches)
}

// updateLaunches changes what the instance's allocation is told of tasks; of others it is
// told what it was.
func (w *work) updateLaunches(in *instance, wanted map[string]*api.Launch) {
	if len(wanted) == 0 {
		return
	}
	a := w.change(in.alloc)
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
