// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package runner

import (
	"fmt"
	"time"

	"github.com/reeve-run/reeve/api"
)

// health decides whether the allocation is healthy, for its deployment or for
// the drain that it was moved by. It exists while that is open.
type health struct {
	minimum  time.Duration // how long everything must be well
	within   time.Duration // how long that may take
	checks   bool          // passing checks are part of being well
	settling *time.Timer   // runs while everything is well; nil when not
	deadline *time.Timer
}

// watchHealth begins to judge the allocation's health, if anybody waits for it
// and it is not known yet.
func (r *Runner) watchHealth() {
	h := r.healthPolicy()
	if h == nil || r.health != nil || r.alloc.IsServerTerminal() {
		return
	}
	if r.deployment != nil && r.deployment.Healthy != nil {
		return
	}
	r.health = h
	if h.within > 0 {
		h.deadline = time.AfterFunc(h.within, func() { r.expire(h) })
	}
}

// healthPolicy says what being healthy is: for a deployment what the group's
// update block says; for a service's instance that took over from another, and
// may be what a drain waits for, what the migrate block says.
func (r *Runner) healthPolicy() *health {
	if r.alloc.DeploymentID != "" {
		u := r.group.Update
		if u == nil || value(u.HealthCheck) == api.HealthCheckManual {
			return nil
		}
		return &health{minimum: value(u.MinHealthyTime), within: value(u.HealthyDeadline), checks: value(u.HealthCheck) != api.HealthCheckTaskStates}
	}
	m := r.group.Migrate
	if m == nil || r.alloc.PreviousAllocation == "" || r.alloc.Job == nil || r.alloc.Job.Type != api.JobTypeService {
		return nil
	}
	return &health{minimum: value(m.MinHealthyTime), within: value(m.HealthyDeadline), checks: value(m.HealthCheck) != api.HealthCheckTaskStates}
}

// stopHealth ends the judging without a result.
func (r *Runner) stopHealth() {
	if h := r.health; h != nil {
		r.health = nil
		if h.settling != nil {
			h.settling.Stop()
		}
		if h.deadline != nil {
			h.deadline.Stop()
		}
	}
}

// judge looks at the tasks and checks after a change.
func (r *Runner) judge() {
	h := r.health
	if h == nil {
		return
	}
	if r.ending != nil && !r.ending.restart && r.ending.why.event == api.EventKilling {
		r.stopHealth() // it is being stopped: nobody waits for an answer
		return
	}
	for _, t := range r.tasks {
		if t.state.Failed {
			r.decideHealth(false, fmt.Sprintf("Task %q failed", t.name))
			return
		}
	}
	well, _ := r.isWell(h)
	switch {
	case !well && h.settling != nil:
		h.settling.Stop()
		h.settling = nil
	case well && h.minimum <= 0:
		r.decideHealth(true, "")
	case well && h.settling == nil:
		var timer *time.Timer
		timer = time.AfterFunc(h.minimum, func() {
			r.mu.Lock()
			defer r.mu.Unlock()
			if r.health == h && h.settling == timer {
				r.decideHealth(true, "")
				r.save()
			}
		})
		h.settling = timer
	}
}

// isWell reports whether everything that should run runs, and what is missing.
func (r *Runner) isWell(h *health) (bool, string) {
	for _, t := range r.tasks {
		x := t.member()
		switch {
		case x.hook == hookPoststop:
		case x.hook == hookMain || x.sidecar:
			if !x.running || t.signaled {
				return false, fmt.Sprintf("task %q was not running", t.name)
			}
		case x.stage != stageDead && !x.running:
			return false, fmt.Sprintf("task %q had not run", t.name)
		case x.hook == hookPrestart && x.stage != stageDead:
			return false, fmt.Sprintf("task %q had not finished", t.name)
		}
	}
	if !h.checks {
		return true, ""
	}
	for _, c := range r.judgedChecks() {
		if r.checks[c.id] != api.CheckStatusSuccess {
			return false, fmt.Sprintf("check %q of service %q did not pass", c.check.Name, c.service)
		}
	}
	return true, ""
}

// expire ends the time in which the allocation had to become healthy.
func (r *Runner) expire(h *health) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.health != h {
		return
	}
	why := fmt.Sprintf("Not healthy for min_healthy_time of %s by healthy_deadline of %s", short(h.minimum), short(h.within))
	if well, missing := r.isWell(h); !well {
		why += ": " + missing
	}
	r.decideHealth(false, why)
	r.save()
}

// decideHealth answers the deployment's question.
func (r *Runner) decideHealth(healthy bool, why string) {
	r.stopHealth()
	d := api.AllocDeploymentStatus{}
	if r.deployment != nil {
		d = *r.deployment
	}
	d.Healthy, d.Timestamp = &healthy, time.Now()
	r.deployment = &d
	r.modified = d.Timestamp.UnixNano()
	if !healthy {
		for _, t := range r.tasks {
			t.tell(event(api.EventAllocUnhealthy, why))
		}
	}
	r.host.Changed(r, true)
}

// limitRun arranges for the end of an allocation that may only run for a time.
func (r *Runner) limitRun() {
	most := value(r.group.MaxRunDuration)
	if most <= 0 || r.limit != nil {
		return
	}
	since := time.Now()
	for _, t := range r.tasks {
		if at := t.state.StartedAt; !at.IsZero() && at.Before(since) && t.state.Restarts == 0 {
			since = at
		}
	}
	r.limit = time.AfterFunc(max(0, time.Until(since.Add(most))), func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		why := fmt.Sprintf("The allocation ran longer than max_run_duration of %s", short(most))
		r.stop(&end{why: cause{event: api.EventKilling, words: why, fails: true}}, true)
	})
}
