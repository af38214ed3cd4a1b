// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/reeve-run/reeve/api"
)

// An Outcome is the result of a check in one interval.
type Outcome uint8

// The outcomes of a check.
const (
	Inconclusive Outcome = iota // too few requests, or no answer
	Passed
	Failed
)

// A CheckResult is the outcome of a check with the figures that it is based on.
type CheckResult struct {
	Outcome Outcome
	Text    string // figures in words, such as "5xx 3.1 % against 0.2 %"
}

// A Sample is what routers counted for one stack in one interval.
type Sample struct {
	Requests uint64
	Errors   uint64  // responses with status 500 to 599
	P99      float64 // seconds
}

// EvaluateMetric compares the samples of the new and the old stack as a check says. Fewer requests
// to the new stack than the minimum are inconclusive, and so is an old stack without any.
func EvaluateMetric(c *api.ShiftCheck, from, to Sample, minRequests int) CheckResult {
	if least := uint64(max(minRequests, 1)); to.Requests < least {
		return CheckResult{Text: fmt.Sprintf("%d of the %d requests that check %s needs", to.Requests, least, c.Name)}
	}
	base, got := from.metric(c.Metric), to.metric(c.Metric)
	result := CheckResult{Outcome: Passed, Text: fmt.Sprintf("%s %s against %s", metricName(c.Metric), formatMetric(c.Metric, got), formatMetric(c.Metric, base))}
	if c.Max != "" {
		if limit, err := api.ParseShiftLevel(c.Max, c.Metric); err != nil || got > limit {
			result.Outcome = Failed
		}
	}
	if c.Than != "" && result.Outcome == Passed {
		bound, err := api.ParseShiftBound(c.Than, c.Metric)
		switch {
		case err != nil:
			result.Outcome = Failed
		case from.Requests == 0:
			result.Outcome, result.Text = Inconclusive, fmt.Sprintf("no request to the older stack, to which check %s compares", c.Name)
		case got > bound.Limit(base):
			result.Outcome = Failed
		}
	}
	return result
}

func (s Sample) metric(name string) float64 {
	if name == api.MetricP99 {
		return s.P99
	}
	if s.Requests == 0 {
		return 0
	}
	return float64(s.Errors) / float64(s.Requests)
}

func metricName(metric string) string { return strings.TrimPrefix(metric, "http_") }

func formatMetric(metric string, v float64) string {
	if metric == api.MetricP99 {
		return time.Duration(v * float64(time.Second)).Round(time.Millisecond).String()
	}
	return strconv.FormatFloat(v*100, 'f', 1, 64) + " %"
}

// crashes is the name under which a shift counts crashes. No check has it, because names of
// checks contain no white space.
const crashes = "crash of an instance"

// judgeChecks counts the outcomes of an interval of checks, and reverses or holds the shift when one of them
// has failed often enough.
func judgeChecks(s *api.Shift, o Observation, now time.Time) {
	s.CheckedAt = now // a crash counts once
	if o.ToCrashed && fail(s, crashes, describeCrash(s, o.CrashReason), now) || o.Checks == nil {
		return
	}
	var inconclusive *CheckResult
	for _, c := range s.Spec.Checks {
		r, due := o.Checks[c.Name]
		if !due || c.Metric != "" && (s.Share == 0 || s.Held) {
			continue // without traffic nothing can be measured
		}
		switch r.Outcome {
		case Passed:
			delete(s.Failures, c.Name)
		case Failed:
			if fail(s, c.Name, r.Text, now) {
				return
			}
		default:
			inconclusive = &r
		}
	}
	if inconclusive == nil {
		if s.Inconclusive > 0 && s.Status == api.ShiftRunning {
			s.Reason = ""
		}
		s.Inconclusive = 0
		return
	}
	s.Inconclusive++
	switch {
	case s.Status != api.ShiftRunning || s.Inconclusive <= 0:
	case s.Inconclusive >= maxInconclusive:
		s.Status = api.ShiftWaiting
		s.Reason = fmt.Sprintf("checks were inconclusive for %d intervals, the last one because of %s: resume or reverse the shift", s.Inconclusive, inconclusive.Text)
	default:
		s.Reason = "the share stands still: " + inconclusive.Text
	}
}

func describeCrash(s *api.Shift, reason string) string {
	text := "an instance of " + s.To + " crashed"
	if reason != "" {
		text += ": " + reason
	}
	return text
}

// fail counts a failure of a check. It reports whether the shift ended its way forward.
func fail(s *api.Shift, check, text string, now time.Time) bool {
	if s.Failures == nil {
		s.Failures = make(map[string]int)
	}
	s.Failures[check]++
	allowed := s.Spec.Failures
	if allowed <= 0 {
		allowed = api.DefaultShiftFailures
	}
	if s.Spec.Policy == api.ShiftAtomic {
		s.Elapsed = 0 // it switches when its checks have passed for its whole time
	}
	if s.Failures[check] < allowed {
		return false
	}
	if s.Spec.AfterFailure == api.AfterFailureHold {
		s.Status, s.Reason = api.ShiftWaiting, "stopped: "+text+"; resume or reverse the shift"
		s.Failures = nil
		return true
	}
	reverse(s, "reversed: "+text, false, now)
	return true
}
