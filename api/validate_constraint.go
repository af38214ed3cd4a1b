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
)

var operands = []string{
	OperandEqual, "==", "is", OperandNotEqual, "not", OperandLess, OperandLessOrEqual, OperandGreater, OperandGreaterOrEqual,
	OperandRegexp, OperandVersion, OperandSemver, OperandSetContains, OperandSetContainsAll, OperandSetContainsAny,
	OperandIsSet, OperandIsNotSet, OperandDistinctHosts, OperandDistinctValue,
}

// nodeOperands are the operands that concern a single node.
var nodeOperands = operands[:len(operands)-2]

// nodeTargets and deviceTargets are the names that ${...} may have for a node and for a
// device. A name that ends with a dot is a prefix.
var (
	nodeTargets = []string{
		"attr.", "meta.", "driver.", "unique.", "node.datacenter", "node.region", "node.class", "node.pool",
		"node.unique.id", "node.unique.name",
	}
	deviceTargets = []string{"device.attr.", "device.vendor", "device.type", "device.model", "device.ids"}
)

// isTarget reports whether the text is a reference ${...}.
func isTarget(s string) bool { return strings.HasPrefix(s, "${") && strings.HasSuffix(s, "}") }

// validateTargets reports references ${...} that never have a value.
func validateTargets(c *complaints, at string, known []string, targets ...string) {
	for _, s := range targets {
		if !isTarget(s) {
			if strings.Contains(s, "${") {
				c.add("%s: %q: ${...} must be all of it", at, s)
			}
			continue
		}
		name := s[2 : len(s)-1]
		if !slices.ContainsFunc(known, func(k string) bool {
			if strings.HasSuffix(k, ".") {
				return strings.HasPrefix(name, k) && name != k
			}
			return name == k
		}) {
			c.add("%s: %s names nothing: there are ${%s}", at, s, strings.Join(targetForms(known), "}, ${"))
		}
	}
}

func targetForms(known []string) []string {
	forms := slices.Clone(known)
	for i, k := range forms {
		if strings.HasSuffix(k, ".") {
			forms[i] = k + "NAME"
		}
	}
	return forms
}

func validateWeight(c *complaints, at string, weight *int8) {
	if weight != nil && (*weight == 0 || *weight < -100 || *weight > 100) {
		c.add("%s: weight %d: must be between -100 and 100, and not 0", at, *weight)
	}
}

// validateDevices checks a task's device blocks.
func validateDevices(c *complaints, at string, devices []*DeviceRequest) {
	for _, d := range devices {
		if d == nil {
			c.add("%s: a device block is null", at)
			continue
		}
		at := fmt.Sprintf("%s: device %q", at, d.Name)
		if parts := strings.Split(d.Name, "/"); len(parts) > 3 || slices.Contains(parts, "") {
			c.add("%s: name it type, vendor/type or vendor/type/model, as in \"gpu\" or \"nvidia/gpu/a100\"", at)
		}
		if d.Count != nil && (*d.Count < 1 || *d.Count > maxDevices) {
			c.add("%s: count %d: must be between 1 and %d", at, *d.Count, maxDevices)
		}
		for _, k := range d.Constraints {
			at := at + ": constraint"
			if k == nil {
				c.add("%s is null", at)
				continue
			}
			validateOperand(c, at, k.LTarget, k.RTarget, k.Operand, nodeOperands)
			validateTargets(c, at, deviceTargets, k.LTarget, k.RTarget)
		}
		for _, a := range d.Affinities {
			at := at + ": affinity"
			if a == nil {
				c.add("%s is null", at)
				continue
			}
			validateOperand(c, at, a.LTarget, a.RTarget, a.Operand, nodeOperands)
			validateTargets(c, at, deviceTargets, a.LTarget, a.RTarget)
			validateWeight(c, at, a.Weight)
		}
	}
}

// maxDevices bounds the count of one device block.
const maxDevices = 1024

func validateConstraints(c *complaints, at string, constraints []*Constraint) {
	for _, k := range constraints {
		at := at + ": constraint"
		validateOperand(c, at, k.LTarget, k.RTarget, k.Operand, operands)
		validateTargets(c, at, nodeTargets, k.LTarget, k.RTarget)
	}
}

func validateAffinities(c *complaints, at string, affinities []*Affinity) {
	for _, a := range affinities {
		at := at + ": affinity"
		validateOperand(c, at, a.LTarget, a.RTarget, a.Operand, nodeOperands)
		validateTargets(c, at, nodeTargets, a.LTarget, a.RTarget)
		validateWeight(c, at, a.Weight)
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
		if _, err := regexp.Compile(right); err != nil && !isTarget(right) {
			c.add("%s: %q is not a regular expression: %v", at, right, err)
		}
	case OperandVersion, OperandSemver:
		if err := checkVersionRange(right); err != nil {
			c.add("%s: %q is not a version range: %v", at, right, err)
		} else if operand == OperandSemver && strings.Contains(right, "~>") {
			c.add("%s: %q: semver has no ~>: give both ends, as in \">= 1.2.0, < 2.0.0\", or use version", at, right)
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

// Compiled on first use, because every start of an isolated task repeats this program's
// initialization.
var versionTerm = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(=|!=|>|<|>=|<=|~>)?\s*v?\d+(\.\d+)*([-+][0-9A-Za-z.+-]*)?$`)
})

func checkVersionRange(s string) error {
	if isTarget(s) {
		return nil
	}
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
		validateTargets(c, at+": spread", nodeTargets, s.Attribute)
		sum, seen := 0, map[string]bool{}
		for _, t := range s.Targets {
			sum += int(t.Percent)
			if seen[t.Value] {
				c.add("%s: spread over %s: target %q is given twice", at, s.Attribute, t.Value)
			}
			seen[t.Value] = true
		}
		if sum > 100 {
			c.add("%s: spread over %s: the targets' percents add up to %d", at, s.Attribute, sum)
		}
	}
}
