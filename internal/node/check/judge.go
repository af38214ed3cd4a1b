// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package check

import (
	"fmt"
	"strings"
	"time"

	"github.com/reeve-run/reeve/api"
)

// result is what one probe found.
type result struct {
	ok     bool
	code   int // HTTP status, or a script's exit code
	output string
	void   bool // there was nothing to ask; it says nothing
	// kind is why it is not ok: one of the TroubleCheck kinds, or what was found
	// out beyond that.
	kind api.TroubleKind
}

// judge takes a probe's result into account and reports whether the status
// changed, or was proved.
func (e *entry) judge(r result, now time.Time) bool {
	c := e.target.Check
	e.output, e.statusCode, e.stamp = r.output, r.code, now.Unix()
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
		// The threshold protects what passes; what never passed has nothing to lose.
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

// deadline is when the check must have passed for the first time.
func (e *entry) deadline() (at time.Time, limited bool) {
	c := e.target.Check
	return e.since.Add(c.StartTimeout), c.Kind == api.CheckKindLiveness && c.StartTimeout > 0 && !e.passed && !e.crashed
}

// verdict says why what is checked is to be started again; "" if it is not.
func (e *entry) verdict(r result, now time.Time) string {
	t, c := e.target, e.target.Check
	if c.Kind != api.CheckKindLiveness {
		if e.strike(r, now) {
			return fmt.Sprintf("Unhealthy: %s failed%s (check_restart): %s", t.subject(), inARow(c.CheckRestart.Limit), brief(e.output))
		}
		return ""
	}
	switch at, limited := e.deadline(); {
	case e.crashed:
	case limited && !now.Before(at):
		e.crashed = true
		return fmt.Sprintf("Never healthy: %s did not pass within %s of the start (asked %s): %s", t.subject(), short(c.StartTimeout), times(e.tries), brief(e.output))
	case e.passed && e.status == api.CheckStatusFailure:
		e.crashed = true
		well := e.turned.Sub(e.passedAt).Round(time.Second)
		return fmt.Sprintf("Became unhealthy after %s: %s failed%s: %s", short(well), t.subject(), inARow(e.failures), brief(e.output))
	}
	return ""
}

// subject names the check in a sentence.
func (t *Target) subject() string {
	switch {
	case t.Service == "":
		return "monitor of task \"" + t.Task + "\""
	case t.Check.Kind == api.CheckKindLiveness:
		return fmt.Sprintf("liveness check %q of service %q", t.Check.Name, t.Service)
	}
	return fmt.Sprintf("check %q of service %q", t.Check.Name, t.Service)
}

// short shows a duration without what is zero at its end: 30m, not 30m0s.
func short(d time.Duration) string {
	s := d.String()
	if strings.HasSuffix(s, "m0s") {
		s = s[:len(s)-2]
	}
	if strings.HasSuffix(s, "h0m") {
		s = s[:len(s)-2]
	}
	return s
}

// brief is an answer as the end of a sentence.
func brief(output string) string {
	const most = 256
	text := strings.Join(strings.Fields(output), " ")
	if len(text) > most {
		text = strings.ToValidUTF8(text[:most], "") + "..."
	}
	return text
}

func inARow(n int) string {
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

// strike counts a failure for check_restart and reports whether it is one too
// many. Failures in the grace after the check began do not count, and of those
// that quick polling finds, one per interval.
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

// isWarning follows the custom for check scripts: 1 warns, more is critical;
// for HTTP, 429 warns.
func isWarning(c *api.Check, r result) bool {
	switch c.Type {
	case api.CheckScript:
		return r.code == 1
	case api.CheckHTTP:
		return r.code == 429
	}
	return false
}

// pause is how long to wait for the next probe. What is not well is asked quickly,
// so that it is known to be well as soon as it is: at the start within
// milliseconds, then every half second, and what stays ill for longer than that
// pays, every sixtieth of the time that it has been.
func (e *entry) pause(now time.Time) time.Duration {
	interval := e.target.Check.Interval
	if e.status != api.CheckStatusSuccess {
		quick := fastest[len(fastest)-1]
		if !e.passed {
			quick = fastest[min(e.tries, len(fastest)-1)]
		}
		return min(max(quick, now.Sub(e.turned)/60), interval)
	}
	// Checks that began together drift apart, so that probes spread out.
	return interval - time.Duration(e.random.Int64N(int64(interval)/10+1))
}
