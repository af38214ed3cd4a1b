// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package runner

import (
	"fmt"
	"time"

	"github.com/reeve-run/reeve/api"
)

// A healthWatch decides whether the allocation is healthy: for its deployment, for the drain
// that moved it, or for its launches. It exists until it has decided.
type healthWatch struct {
	r               *Runner
	minHealthyTime  time.Duration // min_healthy_time
	healthyDeadline time.Duration // healthy_deadline
	checks          bool          // reports whether checks must pass
	report          func(healthy bool, why string)
	settleTimer     *time.Timer // runs while the allocation is healthy; nil otherwise
	deadlineTimer   *time.Timer
}

// watchHealth starts a health watch if the servers expect a verdict and none was reached yet.
func (r *Runner) watchHealth() {
	if r.alloc.IsServerTerminal() || r.ending != nil {
		return
	}
	switch {
	case r.isPartial(): // its health cannot be judged as a whole
		r.health.stop()
		r.health = nil
	case r.health == nil && (r.deployment == nil || r.deployment.Healthy == nil):
		r.health = r.healthPolicy()
		r.health.begin(r, r.decideHealth)
	}
	r.watchLaunches()
}

// isPartial reports whether a task awaits its launch or is held.
func (r *Runner) isPartial() bool {
	for _, t := range r.tasks {
		if t.isAwaited() || t.isHeld() && !t.isIdle() {
			return true
		}
	}
	return false
}

// healthPolicy returns the criteria of health. For a deployment, and for a recovered
// instance unless operators judge its health, they are those of the group's update block.
// For an instance of a service that replaced another one, perhaps because of a drain, they
// are those of the migrate block.
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
	return &healthWatch{minHealthyTime: value(m.MinHealthyTime), healthyDeadline: value(m.HealthyDeadline), checks: value(m.HealthCheck) != api.HealthCheckTaskStates}
}

// isManual reports whether operators judge the allocation's health.
func (r *Runner) isManual() bool {
	return r.alloc.DeploymentID != "" && r.group.Update != nil && value(r.group.Update.HealthCheck) == api.HealthCheckManual
}

// updatePolicy returns the criteria of the update block; nil without one, or if operators
// judge the allocation's health.
func (r *Runner) updatePolicy() *healthWatch {
	u := r.group.Update
	if u == nil || value(u.HealthCheck) == api.HealthCheckManual {
		return nil
	}
	return &healthWatch{minHealthyTime: value(u.MinHealthyTime), healthyDeadline: value(u.HealthyDeadline), checks: value(u.HealthCheck) != api.HealthCheckTaskStates}
}

// begin starts the watch and its deadline.
func (h *healthWatch) begin(r *Runner, answer func(bool, string)) {
	if h == nil {
		return
	}
	h.r, h.report = r, answer
	if h.healthyDeadline > 0 {
		h.deadlineTimer = time.AfterFunc(h.healthyDeadline, h.expire)
	}
}

// stop ends the watch without a verdict.
func (h *healthWatch) stop() {
	if h == nil {
		return
	}
	h.report = nil
	if h.settleTimer != nil {
		h.settleTimer.Stop()
	}
	if h.deadlineTimer != nil {
		h.deadlineTimer.Stop()
	}
}

// decide ends the watch with a verdict.
func (h *healthWatch) decide(healthy bool, why string) {
	answer := h.report
	h.stop()
	answer(healthy, why)
}

// judgeHealth evaluates the open health watches after a change.
func (r *Runner) judgeHealth() {
	if r.health == nil && r.launching == nil {
		return
	}
	if r.ending != nil && !r.ending.restart && r.ending.why.event == api.EventKilling {
		r.health.stop() // no server expects a verdict on an allocation that is being stopped
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
		if x := t.view(); x.failed && !x.optional {
			h.decide(false, fmt.Sprintf("Task %q failed", t.name))
			return
		}
	}
	well, _ := h.isHealthy()
	switch {
	case !well && h.settleTimer != nil:
		h.settleTimer.Stop()
		h.settleTimer = nil
	case well && h.minHealthyTime <= 0:
		h.decide(true, "")
	case well && h.settleTimer == nil:
		var timer *time.Timer
		timer = time.AfterFunc(h.minHealthyTime, func() {
			h.r.mu.Lock()
			defer h.r.mu.Unlock()
			if h.report != nil && h.settleTimer == timer {
				h.decide(true, "")
				h.r.save()
			}
		})
		h.settleTimer = timer
	}
}

// isHealthy reports whether all expected tasks run and all required checks pass, and
// describes the first obstacle.
func (h *healthWatch) isHealthy() (bool, string) {
	r := h.r
	for _, t := range r.tasks {
		if missing := t.unmetCondition(); missing != "" {
			return false, fmt.Sprintf("task %q %s", t.name, missing)
		}
	}
	if !h.checks {
		return r.isWarmed(), r.warm.describe()
	}
	for _, c := range r.judgedChecks() {
		switch {
		case r.checks[c.id] != api.CheckStatusSuccess:
			return false, c.String() + " did not pass"
		case c.check.InitialStatus != "passing" && !r.host.Checks.HasProved(r.id, c.id):
			return false, c.String() + " has not been asked yet"
		}
	}
	return r.isWarmed(), r.warm.describe()
}

// unmetCondition describes the condition of the task that is not met yet, as the end of a
// sentence; "" if all are met.
func (t *task) unmetCondition() string {
	x := t.view()
	switch {
	case x.hook == hookPoststop || x.idle || x.awaited:
	case x.alone && (x.stage == stageDead || x.ran):
	case x.held:
		if x.stage == stageActive {
			return "had not ended"
		}
	case x.leaving:
		return "had not been launched again"
	case t.launchedAs(func(l *api.Launch) bool { return l.Alone }) && t.mustSucceed(): // its state says nothing about the other tasks
	case t.spec.Goal != "" && t.mustSucceed():
		if x.stage != stageDead {
			return "had not finished"
		}
	case x.hook == hookMain && x.stage == stageDead && t.mustSucceed():
	case x.hook == hookMain || x.sidecar:
		if !x.running && t.waits() != "" {
			return "was not running, because it waited for " + t.waits()
		}
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

// expire decides at the deadline that the allocation is unhealthy.
func (h *healthWatch) expire() {
	h.r.mu.Lock()
	defer h.r.mu.Unlock()
	if h.report == nil {
		return
	}
	why := fmt.Sprintf("Not healthy for min_healthy_time of %s by healthy_deadline of %s", formatDelay(h.minHealthyTime), formatDelay(h.healthyDeadline))
	if well, missing := h.isHealthy(); !well {
		why += ": " + missing
	}
	h.decide(false, why)
	h.r.save()
}

// decideHealth records the verdict for the deployment.
func (r *Runner) decideHealth(healthy bool, why string) {
	r.health = nil
	d := api.AllocDeploymentStatus{}
	if r.deployment != nil {
		d = *r.deployment
	}
	d.Healthy, d.Timestamp = &healthy, time.Now()
	r.deployment = &d
	r.recordVerdict(healthy, why)
}

// recordVerdict reports the verdict to the servers and records why the allocation is unhealthy.
func (r *Runner) recordVerdict(healthy bool, why string) {
	r.markModified()
	if !healthy {
		for _, t := range r.tasks {
			if !t.isIdle() {
				t.addEventOnce(event(api.EventAllocUnhealthy, why))
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
		r.stop(&end{why: cause{event: api.EventKilling, message: why}}, true)
	})
}
