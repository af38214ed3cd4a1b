// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package check

import (
	"fmt"
	"strings"
	"time"

	"github.com/reeve-run/reeve/api"
)

// A result is the outcome of one probe.
type result struct {
	ok      bool
	code    int // HTTP status or exit code of a script
	output  string
	discard bool // the probed tasks were gone; the result has no meaning
	// shortened reports whether the start timeout ended the probe before the check's own
	// timeout: what an earlier probe found says more.
	shortened bool
	// kind is the kind of failure: one of the TroubleCheck kinds, or the result of a
	// diagnosis.
	kind api.TroubleKind
}

// judge applies a probe's result. It reports whether the status changed, or whether the
// check was proved to pass.
func (e *entry) judge(r result, now time.Time) bool {
	c := e.target.Check
	if !r.shortened || e.tries == 0 {
		e.output, e.statusCode = r.output, r.code
	}
	e.stamp = now.Unix()
	e.tries++
	before, proved := e.status, e.proved
	if r.ok {
		e.successes++
		e.failures = 0
		e.proved = proved || e.successes >= max(1, c.SuccessBeforePassing)
		if e.status == api.CheckStatusSuccess || e.successes >= max(1, c.SuccessBeforePassing) {
			if !e.passed {
				e.passedAt = now
			}
			e.status, e.passed = api.CheckStatusSuccess, true
		}
	} else {
		e.failures++
		e.successes = 0
		// The threshold protects passing checks; a check that never passed has nothing to lose.
		if e.status != api.CheckStatusSuccess || e.failures >= max(1, c.FailuresBeforeCritical) {
			e.status = api.CheckStatusFailure
		}
	}
	if e.status == before {
		return e.proved != proved
	}
	if before != api.CheckStatusPending || e.passed {
		e.turned = now
	}
	return true
}

// deadline returns when the check must have passed for the first time.
func (e *entry) deadline() (at time.Time, limited bool) {
	c := e.target.Check
	return e.since.Add(c.StartTimeout), c.Kind == api.CheckKindLiveness && c.StartTimeout > 0 && !e.passed && !e.crashed
}

// restartReason says why the probed tasks must be restarted; "" if they must not.
func (e *entry) restartReason(r result, now time.Time) string {
	t, c := e.target, e.target.Check
	if c.Kind != api.CheckKindLiveness {
		if e.strike(r, now) {
			return fmt.Sprintf("Unhealthy: %s failed%s (check_restart): %s", t.subject(), consecutively(c.CheckRestart.Limit), brief(e.output))
		}
		return ""
	}
	switch at, limited := e.deadline(); {
	case e.crashed:
	case limited && !now.Before(at):
		e.crashed = true
		return fmt.Sprintf("Never healthy: %s did not pass within %s of the start (asked %s): %s", t.subject(), formatDelay(c.StartTimeout), times(e.tries), brief(e.output))
	case e.passed && e.status == api.CheckStatusFailure:
		e.crashed = true
		well := e.turned.Sub(e.passedAt).Round(time.Second)
		return fmt.Sprintf("Became unhealthy after %s: %s failed%s: %s", formatDelay(well), t.subject(), consecutively(e.failures), brief(e.output))
	}
	return ""
}

// subject names the check, for use in a sentence.
func (t *Target) subject() string {
	switch {
	case t.Service == "":
		return "monitor of task \"" + t.Task + "\""
	case t.Check.Kind == api.CheckKindLiveness:
		return fmt.Sprintf("liveness check %q of service %q", t.Check.Name, t.Service)
	}
	return fmt.Sprintf("check %q of service %q", t.Check.Name, t.Service)
}

// formatDelay formats a duration without trailing zero units: 30m, not 30m0s.
func formatDelay(d time.Duration) string {
	s := d.String()
	if strings.HasSuffix(s, "m0s") {
		s = s[:len(s)-2]
	}
	if strings.HasSuffix(s, "h0m") {
		s = s[:len(s)-2]
	}
	return s
}

// brief shortens an answer for the end of a sentence.
func brief(output string) string {
	const most = 256
	text := strings.Join(strings.Fields(output), " ")
	if len(text) > most {
		text = strings.ToValidUTF8(text[:most], "") + "..."
	}
	return text
}

func consecutively(n int) string {
	if n == 1 {
		return ""
	}
	return " " + times(n) + " in a row"
}

func times(n int) string {
	if n == 1 {
		return "once"
	}
	return fmt.Sprintf("%d times", n)
}

// strike counts a failure for check_restart, and reports whether the limit is reached.
// Failures during the grace after the check's start do not count. Quick polling counts as
// one failure per interval.
func (e *entry) strike(r result, now time.Time) bool {
	c := e.target.Check
	policy := c.CheckRestart
	if policy == nil || policy.Limit <= 0 {
		return false
	}
	if r.ok || (policy.IgnoreWarnings && isWarning(c, r)) {
		e.strikes = 0
		return false
	}
	grace := time.Second
	if policy.Grace != nil {
		grace = *policy.Grace
	}
	if now.Sub(e.added) < grace || (e.strikes > 0 && now.Sub(e.struckAt) < c.Interval) {
		return false
	}
	e.strikes++
	e.struckAt = now
	if e.strikes < policy.Limit {
		return false
	}
	e.strikes, e.added = 0, now // the restarted task gets its grace again
	return true
}

// isWarning reports whether a failure is a warning only: exit code 1 of a script, by the
// convention of check scripts, or HTTP status 429.
func isWarning(c *api.Check, r result) bool {
	switch c.Type {
	case api.CheckScript:
		return r.code == 1
	case api.CheckHTTP:
		return r.code == 429
	}
	return false
}

// pause returns the delay before the next probe. Failing checks are probed quickly, so that
// recovery is noticed soon: within milliseconds at the start, then every half second. The
// delay grows to a sixtieth of the time since the check began to fail, up to the interval.
func (e *entry) pause(now time.Time) time.Duration {
	interval := e.target.Check.Interval
	if e.status != api.CheckStatusSuccess {
		quick := initialDelays[len(initialDelays)-1]
		if !e.passed {
			quick = initialDelays[min(e.tries, len(initialDelays)-1)]
		}
		return min(max(quick, now.Sub(e.turned)/60), interval)
	}
	// Checks that started together drift apart, which spreads their probes.
	return interval - time.Duration(e.random.Int64N(int64(interval)/10+1))
}
