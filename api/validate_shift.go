// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package api

import (
	"cmp"
	"slices"
	"strings"
)

var shiftPolicies = []string{"", ShiftLinear, ShiftAtomic, ShiftSteps, ShiftNone}

// Validate returns all errors in the spec of a shift that an operator begins.
func (s *ShiftSpec) Validate() error {
	c := stackCheck{spec: &StackSpec{Shift: s}, shape: ShapeService}
	c.shift()
	if len(c.problems) == 0 {
		return nil
	}
	texts := make([]string, len(c.problems))
	for i, p := range c.problems {
		texts[i] = p.Text
	}
	return Errorf(CodeInvalid, "%s", strings.Join(texts, "; "))
}

func (c *stackCheck) shift() {
	s := c.spec.Shift
	if s == nil {
		return
	}
	if c.shape != ShapeService {
		c.add(s, "", "shift: the job has no port that traffic can be shifted to; remove the block, or label one port %q", defaultPort)
	}
	if !slices.Contains(shiftPolicies, s.Policy) {
		c.add(s, "policy", "shift: policy %q: must be %s, %s, %s or %s", Printable(s.Policy, 64), ShiftLinear, ShiftAtomic, ShiftSteps, ShiftNone)
	}
	if s.AfterFailure != "" && s.AfterFailure != AfterFailureReverse && s.AfterFailure != AfterFailureHold {
		c.add(s, "after_failure", "shift: after_failure %q: must be %s or %s", Printable(s.AfterFailure, 64), AfterFailureReverse, AfterFailureHold)
	}
	c.shiftTimes(s)
	c.shiftSteps(s)
	c.shiftChecks(s)
}

func (c *stackCheck) shiftTimes(s *ShiftSpec) {
	if s.Over != 0 && (s.Over < minShiftOver || s.Over > maxShiftOver) {
		c.add(s, "over", "shift: over %s: must be between %s and %s", s.Over, minShiftOver, maxShiftOver)
	}
	if s.Interval != 0 && (s.Interval < minInterval || s.Interval > maxInterval) {
		c.add(s, "interval", "shift: interval %s: must be between %s and %s", s.Interval, minInterval, maxInterval)
	}
	if s.Failures < 0 || s.Failures > maxFailures {
		c.add(s, "failures", "shift: failures %d: must be between 1 and %d", s.Failures, maxFailures)
	}
	if s.MinRequests < 0 || s.MinRequests > maxNumber {
		c.add(s, "min_requests", "shift: min_requests %d: must be between 0 and %d", s.MinRequests, int64(maxNumber))
	}
}

func (c *stackCheck) shiftSteps(s *ShiftSpec) {
	switch {
	case s.Policy == ShiftSteps && len(s.Steps) == 0:
		c.add(s, "steps", "shift: policy %s needs steps, such as [\"5%%\", \"5m\", \"50%%\", \"wait\"]", ShiftSteps)
	case s.Policy != ShiftSteps && len(s.Steps) > 0:
		c.add(s, "steps", "shift: steps need policy = %q", ShiftSteps)
	}
	if _, err := ParseShiftSteps(s.Steps); err != nil {
		c.add(s, "steps", "shift: %v", err)
	}
}

func (c *stackCheck) shiftChecks(s *ShiftSpec) {
	if len(s.Checks) > maxChecks {
		c.add(s, "", "shift: %d checks are more than %d", len(s.Checks), maxChecks)
		return
	}
	seen := make(map[string]bool)
	for _, k := range s.Checks {
		switch {
		case k == nil:
			c.add(s, "", "shift: a check is null")
			continue
		case !isName(k.Name, ""):
			c.add(k, "", "check %q: must have a name of 1 to %d characters without white space", Printable(k.Name, 64), maxNameLength)
		case seen[k.Name]:
			c.add(k, "", "check %q is declared twice", k.Name)
		}
		seen[k.Name] = true
		c.shiftCheck(s, k)
	}
	for _, key := range s.checkKeys() {
		if len(s.Checks) == 0 {
			c.add(s, key, "shift: %s needs a check; add a check block, or remove it", key)
		}
	}
}

func (c *stackCheck) shiftCheck(s *ShiftSpec, k *ShiftCheck) {
	if interval := cmp.Or(s.Interval, DefaultShiftInterval); k.Interval != 0 && (k.Interval < interval || k.Interval > maxInterval) {
		c.add(k, "interval", "check %q: interval %s: must be between the interval of the shift's checks (%s) and %s", k.Name, k.Interval, interval, maxInterval)
	}
	switch {
	case (k.Metric == "") == (k.HTTP == ""):
		c.add(k, "", "check %q: must have either metric or http", k.Name)
		return
	case k.HTTP != "" && (k.Max != "" || k.Than != ""):
		c.add(k, "", "check %q: max and than need metric", k.Name)
	case k.HTTP != "" && (!isHTTPAddress(k.HTTP) || len(k.HTTP) > maxGateAddress):
		c.add(k, "http", "check %q: http %q: must be an address that begins with http:// or https://, of at most %d bytes", k.Name, Printable(k.HTTP, 64), maxGateAddress)
	case k.HTTP != "":
	case k.Interval != 0:
		c.add(k, "interval", "check %q: interval needs http: metrics are compared in every interval of the shift", k.Name)
	case s.Policy == ShiftAtomic:
		c.add(k, "metric", "check %q: with policy %s the new stack has no traffic to measure before the switch; use http, or another policy", k.Name, ShiftAtomic)
	case k.Metric != MetricErrors && k.Metric != MetricP99:
		c.add(k, "metric", "check %q: metric %q: must be %s or %s", k.Name, Printable(k.Metric, 64), MetricErrors, MetricP99)
	case k.Max == "" && k.Than == "":
		c.add(k, "", "check %q: needs max, than, or both", k.Name)
	default:
		if _, err := ParseShiftLevel(k.Max, k.Metric); err != nil && k.Max != "" {
			c.add(k, "max", "check %q: max %v", k.Name, err)
		}
		if _, err := ParseShiftBound(k.Than, k.Metric); err != nil && k.Than != "" {
			c.add(k, "than", "check %q: than %v", k.Name, err)
		}
	}
}

// checkKeys lists the keys of the shift that only checks use, as far as they are set.
func (s *ShiftSpec) checkKeys() (keys []string) {
	if s.MinRequests != 0 {
		keys = append(keys, "min_requests")
	}
	if s.Interval != 0 {
		keys = append(keys, "interval")
	}
	return keys
}
