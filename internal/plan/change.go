// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/placement"
	"github.com/reeve-run/reeve/internal/plan/facts"
)

// update changes an allocation in place. What runs goes on running, so health
// that was known, or was never asked for, counts for the new version too.
func (w *work) update(in *facts.Instance) {
	w.result.Kept = append(w.result.Kept, w.renew(in))
}

// renew gives an allocation the newest version of the job.
func (w *work) renew(in *facts.Instance) *api.Allocation {
	a := w.change(in.Alloc)
	a.Job, a.EvalID, a.Orphan = w.Job, w.Eval.ID, false
	a.DeploymentID, a.DeploymentStatus = "", nil
	if w.active != nil && in.Group.Rolling {
		a.DeploymentID = w.active.ID
		if healthy := w.CarriedHealth(in); healthy != nil {
			a.DeploymentStatus = &api.AllocDeploymentStatus{Healthy: healthy, Timestamp: w.Now}
		}
		if in.Canary {
			a.DeploymentStatus = canaryStatus(a.DeploymentStatus)
		}
	}
	return a
}

// canaryStatus marks an allocation as a canary.
func canaryStatus(s *api.AllocDeploymentStatus) *api.AllocDeploymentStatus {
	c := api.AllocDeploymentStatus{Canary: true}
	if s != nil {
		c.Healthy, c.Timestamp = s.Healthy, s.Timestamp
	}
	return &c
}

// change returns a copy of the allocation that is updated in place.
func (w *work) change(a *api.Allocation) *api.Allocation {
	c := w.changed[a.ID]
	if c == nil {
		c = a.Copy()
		if w.changed == nil {
			w.changed = make(map[string]*api.Allocation)
		}
		w.changed[a.ID] = c
		w.result.Update = append(w.result.Update, c)
	}
	return c
}

// leave stops an unwanted allocation. The description is the sentence of the reason.
func (w *work) leave(l facts.Departure, description string) {
	if !l.Alloc.IsClientTerminal() {
		w.counts(l.Group.Name).Stop++
	}
	w.result.Stop = append(w.result.Stop, w.stop(l.Alloc, l.Reason, description))
}

// stop has an allocation stopped. Where nobody is there to do it, and none is
// waited for any more, it is lost.
func (w *work) stop(a *api.Allocation, reason api.Reason, description string) *placement.Stop {
	stop := &placement.Stop{Alloc: a, Reason: reason, Description: description}
	if a.IsClientTerminal() {
		return stop
	}
	if w.IsLost(a) {
		stop.ClientStatus = api.AllocClientLost
	}
	return stop
}

// newStop returns a stop with the reason's own sentence.
func newStop(a *api.Allocation, reason api.Reason) *placement.Stop {
	return &placement.Stop{Alloc: a, Reason: reason, Description: reason.Text()}
}
