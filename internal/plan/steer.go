// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package plan

import "github.com/reeve-run/reeve/api"

// steer has the tasks of living allocations held that an operator paused, or
// whose run of a custom plan was stopped, and the others let go. It is no step:
// it neither waits for anybody nor holds anything up.
func (w *work) steer() {
	for _, g := range w.groups {
		for in := range g.every {
			if a := in.alloc; a != nil && !a.IsClientTerminal() && !w.asked[in.number] && (a.Launches != nil || len(w.ordersOn(in)) > 0) {
				w.steerInstance(in)
			}
		}
	}
}

func (w *work) steerInstance(in *instance) {
	a := in.alloc
	if c := w.changed[a.ID]; c != nil {
		a = c
	}
	def := a.Job.Group(in.group.name)
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
func (w *work) steered(in *instance, a *api.Allocation, t *api.Task) *api.Launch {
	l, launched := launchOf(a, t.Name)
	d := w.ordersOn(in).latest(t.Name, api.VerbPause, api.VerbResume)
	held := d != nil && d.Verb == api.VerbPause
	stop := w.decisions.stoppedBy(&l)
	wanted := held || stop != nil && !hasDone(a, t.Name)
	if l.Hold == wanted || l.Done {
		return nil
	}
	l.Hold = wanted
	switch {
	case held:
		l.Index, l.Why = max(l.Index, d.CreateIndex), describeDecision("paused", d)
		if l.Token == "" && launched {
			l.Token = d.ID // what ran from the beginning
		}
	case wanted:
		l.Index, l.Why = max(l.Index, stop.CreateIndex), describeDecision("stopped", stop)
	case d != nil:
		l.Index, l.Why = max(l.Index, d.CreateIndex), describeDecision("resumed", d)
		if launched && !l.Alone && goalOf(a.Job, t) == api.GoalRunning {
			l.Token = d.ID
		}
	}
	return &l
}
