// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"maps"
	"slices"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/plan/decision"
	"github.com/reeve-run/reeve/internal/plan/facts"
	"github.com/reeve-run/reeve/internal/plan/launch"
	"github.com/reeve-run/reeve/internal/plan/tree"
)

// launch has the node of the step's instance run tasks there.
func (w *work) launch(st *tree.Step) {
	if len(st.ExtraOrZero().Launches) == 0 {
		return
	}
	if st.Extra.Updates {
		w.renew(st.On)
	}
	w.updateLaunches(st.On, st.Extra.Launches)
}

// updateLaunches changes what the instance's allocation is told of tasks; of others it is
// told what it was.
func (w *work) updateLaunches(in *facts.Instance, wanted map[string]*api.Launch) {
	if len(wanted) == 0 {
		return
	}
	a := w.change(in.Alloc)
	tasks := maps.Clone(wanted)
	if a.Launches != nil {
		for name, l := range a.Launches.Tasks {
			if _, new := tasks[name]; !new {
				tasks[name] = l
			}
		}
	}
	a.Launches = launch.New(tasks)
}

// firstLaunches are what an allocation begins with that takes over from previous
// (nil: nothing): tasks that an operator holds, those that only operators' plans
// run, and those that were done before. Kind is how it is recovered, if it is.
func (w *work) firstLaunches(in *facts.Instance, previous *api.Allocation, job *api.Job, kind string) map[string]*api.Launch {
	g := job.Group(in.Group.Name)
	if g == nil || len(w.OrdersOn(in)) == 0 && !slices.ContainsFunc(g.Tasks, func(t *api.Task) bool { return t.Goal != "" }) {
		return nil
	}
	tasks := make(map[string]*api.Launch)
	for _, t := range g.Tasks {
		l := launch.First(previous, job, g, t, kind)
		if by := w.OrdersOn(in).PausedBy(t.Name); by != nil {
			if l == nil {
				l = &api.Launch{Token: by.ID}
			}
			l.Hold, l.Index, l.Why = true, by.CreateIndex, decision.Describe("paused", by)
		}
		if l != nil {
			tasks[t.Name] = l
		}
	}
	return tasks
}
