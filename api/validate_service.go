// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package api

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

func validateService(c *complaints, at string, s *Service, ports map[string]bool, g *Group) {
	if s.PortLabel != "" && !knownPort(s.PortLabel, ports) {
		c.add("%s: port %q is not defined; %s", at, s.PortLabel, knownPorts(ports))
	}
	seen := map[string]bool{}
	for _, k := range s.Checks {
		where := fmt.Sprintf("%s, check %q", at, k.Name)
		if seen[k.Name] {
			c.add("%s is defined twice: give each check a name", where)
		}
		seen[k.Name] = true
		validateCheck(c, where, k, s, ports, g)
	}
}

func validateCheck(c *complaints, at string, k *Check, s *Service, ports map[string]bool, g *Group) {
	switch k.Type {
	case CheckHTTP:
		if k.Path == "" {
			c.add("%s: an http check needs a path", at)
		}
		if k.Protocol != "" && k.Protocol != "http" && k.Protocol != "https" {
			c.add("%s: protocol %q: must be http or https", at, k.Protocol)
		}
	case CheckTCP, CheckGRPC:
	case CheckScript:
		if k.Command == "" {
			c.add("%s: a script check needs a command", at)
		}
		if g != nil && (k.TaskName == "" || g.Task(k.TaskName) == nil) {
			c.add("%s: a script check of a group's service needs task, the name of the task to run in", at)
		}
	case "":
		c.add("%s has no type: use http, tcp, grpc or script", at)
		return
	default:
		c.add("%s: type %q: must be http, tcp, grpc or script", at, k.Type)
		return
	}
	if k.Type != CheckScript {
		if k.PortLabel == "" {
			c.add("%s: neither the check nor its service names a port", at)
		} else if k.PortLabel != s.PortLabel && !knownPort(k.PortLabel, ports) {
			c.add("%s: port %q is not defined; %s", at, k.PortLabel, knownPorts(ports))
		}
	}
	if k.Interval < time.Second {
		c.add("%s: interval %s: must be at least 1s", at, k.Interval)
	}
	if k.Timeout < time.Millisecond {
		c.add("%s: timeout %s: must be at least 1ms", at, k.Timeout)
	}
	if k.SuccessBeforePassing < 0 || k.FailuresBeforeCritical < 0 {
		c.add("%s: success_before_passing and failures_before_critical must not be negative", at)
	}
	if r := k.CheckRestart; r != nil && r.Limit < 0 {
		c.add("%s: check_restart: limit %d: must not be negative", at, r.Limit)
	}
}

// knownPort accepts a label or a number.
func knownPort(label string, ports map[string]bool) bool {
	if ports[label] {
		return true
	}
	n, err := strconv.Atoi(label)
	return err == nil && n > 0 && n < 65536
}

func knownPorts(ports map[string]bool) string {
	if len(ports) == 0 {
		return "the group has no network block with ports"
	}
	names := make([]string, 0, len(ports))
	for p := range ports {
		names = append(names, p)
	}
	slices.Sort(names)
	return "there are: " + strings.Join(names, ", ")
}

var operands = []string{
	OperandEqual, "==", "is", OperandNotEqual, "not", OperandLess, OperandLessOrEqual, OperandGreater, OperandGreaterOrEqual,
	OperandRegexp, OperandVersion, OperandSemver, OperandSetContains, OperandSetContainsAll, OperandSetContainsAny,
	OperandIsSet, OperandIsNotSet, OperandDistinctHosts, OperandDistinctValue,
}

func validateConstraints(c *complaints, at string, constraints []*Constraint) {
	for _, k := range constraints {
		validateOperand(c, at+": constraint", k.LTarget, k.RTarget, k.Operand, operands)
	}
}

func validateAffinities(c *complaints, at string, affinities []*Affinity) {
	for _, a := range affinities {
		validateOperand(c, at+": affinity", a.LTarget, a.RTarget, a.Operand, operands[:len(operands)-2])
		if a.Weight != nil && (*a.Weight == 0 || *a.Weight < -100 || *a.Weight > 100) {
			c.add("%s: affinity: weight %d: must be between -100 and 100, and not 0", at, *a.Weight)
		}
	}
}

func validateOperand(c *complaints, at, left, right, operand string, known []string) {
	if !slices.Contains(known, operand) {
		c.add("%s: operator %q: must be one of %s", at, operand, strings.Join(known, " "))
		return
	}
	switch operand {
	case OperandDistinctHosts:
		return
	case OperandIsSet, OperandIsNotSet:
	case OperandDistinctValue:
		if n, err := strconv.Atoi(right); right != "" && (err != nil || n < 1) {
			c.add("%s: distinct_property: value %q: must be a number above 0", at, right)
		}
	case OperandRegexp:
		if _, err := regexp.Compile(right); err != nil {
			c.add("%s: %q is not a regular expression: %v", at, right, err)
		}
	case OperandVersion, OperandSemver:
		if err := checkVersionRange(right); err != nil {
			c.add("%s: %q is not a version range: %v", at, right, err)
		}
	default:
		if right == "" && operand != OperandEqual && operand != OperandNotEqual {
			c.add("%s: operator %s needs a value", at, operand)
		}
	}
	if left == "" {
		c.add("%s: attribute is missing", at)
	}
}

// Compiled when first used: every start of an isolated task runs this program's
// initialization once more.
var versionTerm = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(=|!=|>|<|>=|<=|~>)?\s*v?\d+(\.\d+)*([-+][0-9A-Za-z.+-]*)?$`)
})

func checkVersionRange(s string) error {
	for term := range strings.SplitSeq(s, ",") {
		if !versionTerm().MatchString(strings.TrimSpace(term)) {
			return fmt.Errorf("%q must be an operator and a version, as in \">= 1.2\"", strings.TrimSpace(term))
		}
	}
	return nil
}

func validateSpreads(c *complaints, at string, spreads []*Spread) {
	for _, s := range spreads {
		if s.Attribute == "" {
			c.add("%s: spread: attribute is missing", at)
		}
		if s.Weight != nil && (*s.Weight < 0 || *s.Weight > 100) {
			c.add("%s: spread over %s: weight %d: must be between 0 and 100", at, s.Attribute, *s.Weight)
		}
		sum := 0
		for _, t := range s.Targets {
			sum += int(t.Percent)
		}
		if sum > 100 {
			c.add("%s: spread over %s: the targets' percents add up to %d", at, s.Attribute, sum)
		}
	}
}
