// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package runner

import (
	"fmt"
	"time"

	"github.com/reeve-run/reeve/api"
)

// healthWatch decides whether the allocation is healthy: for its deployment, for the
// drain that it was moved by, or for its launches. It exists while that is open.
type healthWatch struct {
	r        *Runner
	minimum  time.Duration // how long everything must be well
	within   time.Duration // how long that may take
	checks   bool          // passing checks are part of being well
	answer   func(healthy bool, why string)
	settling *time.Timer // runs while everything is well; nil when not
	deadline *time.Timer
}

// watchHealth begins to judge the allocation's health, if anybody waits for it
// and it is not known yet.
func (r *Runner) watchHealth() {
	if r.alloc.IsServerTerminal() || r.ending != nil {
		return
	}
	switch {
	case r.isPartial(): // whether all of it is healthy cannot be said
		r.health.stop()
		r.health = nil
	case r.health == nil && (r.deployment == nil || r.deployment.Healthy == nil):
		r.health = r.healthPolicy()
		r.health.begin(r, r.decideHealth)
	}
	r.watchLaunches()
}

// isPartial reports whether a task has yet to be launched, or is held.
func (r *Runner) isPartial() bool {
	for _, t := range r.tasks {
		if t.isAwaited() || t.isHeld() && !t.isIdle() {
			return true
		}
	}
	return false
}

// healthPolicy says what being healthy is: for a deployment what the group's
// update block says, and so for an instance that was recovered, unless that is
// left to operators; for a service's instance that took over from another, and
// may be what a drain waits for, what the migrate block says.
func (r *Runner) healthPolicy() *healthWatch {
	if r.alloc.DeploymentID != "" {
		return r.updatePolicy()
	}
	if h := r.updatePolicy(); h != nil && r.alloc.Recovery != "" {
		return h
	}
	m := r.group.Migrate
	if m == nil || r.alloc.PreviousAllocation == "" || r.alloc.Job == nil || r.alloc.Job.Type != api.JobTypeService {
		return nil
	}
	return &healthWatch{minimum: value(m.MinHealthyTime), within: value(m.HealthyDeadline), checks: value(m.HealthCheck) != api.HealthCheckTaskStates}
}

// isManual reports whether it is operators who say what is healthy.
func (r *Runner) isManual() bool {
	return r.alloc.DeploymentID != "" && r.group.Update != nil && value(r.group.Update.HealthCheck) == api.HealthCheckManual
}

// updatePolicy is what the update block says; nil if there is none, or an
// operator says what is healthy.
func (r *Runner) updatePolicy() *healthWatch {
	u := r.group.Update
	if u == nil || value(u.HealthCheck) == api.HealthCheckManual {
		return nil
	}
	return &healthWatch{minimum: value(u.MinHealthyTime), within: value(u.HealthyDeadline), checks: value(u.HealthCheck) != api.HealthCheckTaskStates}
}

// begin starts the time in which the allocation has to become healthy.
func (h *healthWatch) begin(r *Runner, answer func(bool, string)) {
	if h == nil {
		return
	}
	h.r, h.answer = r, answer
	if h.within > 0 {
		h.deadline = time.AfterFunc(h.within, h.expire)
	}
}

// stop ends the judging without a result.
func (h *healthWatch) stop() {
	if h == nil {
		return
	}
	h.answer = nil
	if h.settling != nil {
		h.settling.Stop()
	}
	if h.deadline != nil {
		h.deadline.Stop()
	}
}

// decide ends the judging.
func (h *healthWatch) decide(healthy bool, why string) {
	answer := h.answer
	h.stop()
	answer(healthy, why)
}

// judgeHealth looks at the tasks and checks after a change.
func (r *Runner) judgeHealth() {
	if r.health == nil && r.launching == nil {
		return
	}
	if r.ending != nil && !r.ending.restart && r.ending.why.event == api.EventKilling {
		r.health.stop() // it is being stopped: nobody waits for an answer
		r.launching.stop()
		r.health, r.launching = nil, nil
		return
	}
	for _, h := range []*healthWatch{r.health, r.launching} {
		if h != nil {
			h.judge()
		}
	}
}

func (h *healthWatch) judge() {
	for _, t := range h.r.tasks {
		if x := t.member(); x.failed && !x.optional {
			h.decide(false, fmt.Sprintf("Task %q failed", t.name))
			return
		}
	}
	well, _ := h.isWell()
	switch {
	case !well && h.settling != nil:
		h.settling.Stop()
		h.settling = nil
	case well && h.minimum <= 0:
		h.decide(true, "")
	case well && h.settling == nil:
		var timer *time.Timer
		timer = time.AfterFunc(h.minimum, func() {
			h.r.mu.Lock()
			defer h.r.mu.Unlock()
			if h.answer != nil && h.settling == timer {
				h.decide(true, "")
				h.r.save()
			}
		})
		h.settling = timer
	}
}

// isWell reports whether everything that should run runs, and what is missing.
func (h *healthWatch) isWell() (bool, string) {
	r := h.r
	for _, t := range r.tasks {
		if missing := t.unmetCondition(); missing != "" {
			return false, fmt.Sprintf("task %q %s", t.name, missing)
		}
	}
	if !h.checks {
		return true, ""
	}
	for _, c := range r.judgedChecks() {
		switch {
		case r.checks[c.id] != api.CheckStatusSuccess:
			return false, c.String() + " did not pass"
		case c.check.InitialStatus != "passing" && !r.host.Checks.HasProved(r.id, c.id):
			return false, c.String() + " has not been asked yet"
		}
	}
	return true, ""
}

// unmetCondition is what keeps the task from being as it should be now, as the end of a
// sentence; "" if nothing does.
func (t *task) unmetCondition() string {
	x := t.member()
	switch {
	case x.hook == hookPoststop || x.idle || x.awaited:
	case x.alone && (x.stage == stageDead || x.ran):
	case x.held:
		if x.stage == stageActive {
			return "had not ended"
		}
	case x.leaving:
		return "had not been launched again"
	case t.launchedAs(func(l *api.Launch) bool { return l.Alone }) && t.mustSucceed(): // it says nothing about the others
	case t.spec.Goal != "" && t.mustSucceed():
		if x.stage != stageDead {
			return "had not finished"
		}
	case x.hook == hookMain && x.stage == stageDead && t.mustSucceed():
	case x.hook == hookMain || x.sidecar:
		if !x.running || t.signaled {
			return "was not running"
		}
	case x.stage != stageDead && !x.running:
		return "had not run"
	case x.hook == hookPrestart && x.stage != stageDead:
		return "had not finished"
	}
	return ""
}

// expire ends the time in which the allocation had to become healthy.
func (h *healthWatch) expire() {
	h.r.mu.Lock()
	defer h.r.mu.Unlock()
	if h.answer == nil {
		return
	}
	why := fmt.Sprintf("Not healthy for min_healthy_time of %s by healthy_deadline of %s", formatDelay(h.minimum), formatDelay(h.within))
	if well, missing := h.isWell(); !well {
		why += ": " + missing
	}
	h.decide(false, why)
	h.r.save()
}

// decideHealth answers the deployment's question.
func (r *Runner) decideHealth(healthy bool, why string) {
	r.health = nil
	d := api.AllocDeploymentStatus{}
	if r.deployment != nil {
		d = *r.deployment
	}
	d.Healthy, d.Timestamp = &healthy, time.Now()
	r.deployment = &d
	r.decided(healthy, why)
}

// decided takes into account that the allocation's health is known.
func (r *Runner) decided(healthy bool, why string) {
	r.markModified()
	if !healthy {
		for _, t := range r.tasks {
			if !t.isIdle() {
				t.recordOnce(event(api.EventAllocUnhealthy, why))
			}
		}
	}
	r.host.Changed(r, true)
}

// limitRun stops the allocation after max_run_duration. Reaching the limit is not a
// failure: the allocation ends complete, as in Nomad.
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
		why := fmt.Sprintf("The allocation ran longer than max_run_duration of %s", formatDelay(most))
		r.stop(&end{why: cause{event: api.EventKilling, words: why}}, true)
	})
}
