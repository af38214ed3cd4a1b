// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package check

import (
	"time"

	"github.com/reeve-run/reeve/api"
)

// result is what one probe found.
type result struct {
	ok     bool
	code   int // HTTP status, or a script's exit code
	output string
}

// judge takes a probe's result into account and reports whether the status
// changed.
func (e *entry) judge(r result, now time.Time) bool {
	c := e.target.Check
	e.output, e.statusCode, e.stamp = r.output, r.code, now.Unix()
	e.tries++
	before := e.status
	if r.ok {
		e.successes++
		e.failures = 0
		if e.status == api.CheckStatusSuccess || e.successes >= max(1, c.SuccessBeforePassing) {
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
	return e.status != before
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

// pause is how long to wait for the next probe.
func (e *entry) pause() time.Duration {
	interval := e.target.Check.Interval
	if !e.passed {
		return min(fastest[min(e.tries, len(fastest)-1)], interval)
	}
	// Checks that began together drift apart, so that probes spread out.
	return interval - time.Duration(e.random.Int64N(int64(interval)/10+1))
}

// queue is a heap of checks by when they are due.
type queue []*entry

func (q queue) Len() int           { return len(q) }
func (q queue) Less(i, j int) bool { return q[i].due.Before(q[j].due) }
func (q queue) Swap(i, j int) {
	q[i], q[j] = q[j], q[i]
	q[i].at, q[j].at = i, j
}

func (q *queue) Push(x any) {
	e := x.(*entry)
	e.at = len(*q)
	*q = append(*q, e)
}

func (q *queue) Pop() any {
	old := *q
	e := old[len(old)-1]
	old[len(old)-1] = nil
	*q = old[:len(old)-1]
	e.at = -1
	return e
}
