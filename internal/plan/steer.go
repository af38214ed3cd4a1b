// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/plan/decision"
	"github.com/reeve-run/reeve/internal/plan/facts"
	"github.com/reeve-run/reeve/internal/plan/launch"
)

// steer has the tasks of living allocations held that an operator paused, or
// whose run of a custom plan was stopped, and the others let go. It is no step:
// it neither waits for anybody nor holds anything up.
func (w *work) steer() {
	for _, g := range w.Groups {
		for in := range g.Every {
			if a := in.Alloc; a != nil && !a.IsClientTerminal() && !w.asked[in.Number] && (a.Launches != nil || len(w.OrdersOn(in)) > 0) {
				w.steerInstance(in)
			}
		}
	}
}

func (w *work) steerInstance(in *facts.Instance) {
	a := in.Alloc
	if c := w.changed[a.ID]; c != nil {
		a = c
	}
	def := a.Job.Group(in.Group.Name)
	if def == nil {
		return
	}
	var tasks map[string]*api.Launch
	for _, t := range def.Tasks {
		if l := w.steered(in, a, t); l != nil {
			if tasks == nil {
				tasks = make(map[string]*api.Launch)
			}
			tasks[t.Name] = l
		}
	}
	if tasks != nil {
		w.updateLaunches(in, tasks)
	}
}

// steered is what the task's launch becomes; nil if it stays as it is.
func (w *work) steered(in *facts.Instance, a *api.Allocation, t *api.Task) *api.Launch {
	l, launched := launch.Of(a, t.Name)
	d := w.OrdersOn(in).Latest(t.Name, api.VerbPause, api.VerbResume)
	held := d != nil && d.Verb == api.VerbPause
	stop := w.Decisions.StoppedBy(&l)
	wanted := held || stop != nil && !launch.IsDone(a, t.Name)
	if l.Hold == wanted || l.Done {
		return nil
	}
	l.Hold = wanted
	switch {
	case held:
		l.Index, l.Why = max(l.Index, d.CreateIndex), decision.Describe("paused", d)
		if l.Token == "" && launched {
			l.Token = d.ID // what ran from the beginning
		}
	case wanted:
		l.Index, l.Why = max(l.Index, stop.CreateIndex), decision.Describe("stopped", stop)
	case d != nil:
		l.Index, l.Why = max(l.Index, d.CreateIndex), decision.Describe("resumed", d)
		if launched && !l.Alone && launch.GoalOf(a.Job, t) == api.GoalRunning {
			l.Token = d.ID
		}
	}
	return &l
}
