// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package placement

import (
	"cmp"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/hashicorp/go-version"

	"github.com/reeve-run/reeve/api"
)

// A condition is a constraint, or an affinity's condition, prepared for evaluation on many
// nodes. Literals are parsed once.
type condition struct {
	left, right target
	operand     string
	words       string // the constraint as written
	unique      bool   // reports whether it reads an attribute that nodes of one class do not share
	test        func(left, right string) bool
}

func newCondition(left, operand, right string) *condition {
	c := &condition{
		left: newTarget(left), right: newTarget(right), operand: normalOperand(operand),
		words: strings.TrimSpace(left + " " + operand + " " + right),
	}
	c.unique = c.left.unique || c.right.unique
	literal := ""
	if c.right.literal {
		literal = c.right.name
	}
	c.test = test(c.operand, literal, c.right.literal)
	return c
}

// normalOperand returns the canonical form of an operand.
func normalOperand(operand string) string {
	switch operand {
	case "", "==", "is":
		return api.OperandEqual
	case "not":
		return api.OperandNotEqual
	}
	return operand
}

// holds reports whether the node meets the condition.
func (c *condition) holds(n *api.Node) bool {
	left, hasLeft := c.left.of(n)
	switch c.operand {
	case api.OperandIsSet:
		return hasLeft
	case api.OperandIsNotSet:
		return !hasLeft
	}
	right, hasRight := c.right.of(n)
	if c.operand == api.OperandNotEqual {
		return left != right || hasLeft != hasRight
	}
	if c.operand == api.OperandVersion && c.left.space == "attr" && c.left.name == kernelVersion {
		left = releasedKernel(left)
	}
	return hasLeft && hasRight && c.test(left, right)
}

const kernelVersion = "kernel.version"

// releasedKernel removes what a distribution adds to the version of a kernel, as in 6.1.0-37-amd64. It is not
// a pre-release, as 6.2.0-rc1 is.
func releasedKernel(release string) string {
	number, suffix, found := strings.Cut(release, "-")
	if found && !strings.HasPrefix(suffix, "rc") {
		return number
	}
	return release
}

// test returns the comparison of two values that both exist. It prepares the comparison
// once if the right side is a literal.
func test(operand, literal string, isLiteral bool) func(left, right string) bool {
	switch operand {
	case api.OperandEqual:
		return func(l, r string) bool { return l == r }
	case api.OperandLess:
		return func(l, r string) bool { return compare(l, r) < 0 }
	case api.OperandLessOrEqual:
		return func(l, r string) bool { return compare(l, r) <= 0 }
	case api.OperandGreater:
		return func(l, r string) bool { return compare(l, r) > 0 }
	case api.OperandGreaterOrEqual:
		return func(l, r string) bool { return compare(l, r) >= 0 }
	case api.OperandRegexp:
		return prepareTest(literal, isLiteral, func(pattern string) func(string) bool {
			re, err := regexp.Compile(pattern)
			if err != nil {
				return matchNothing
			}
			return re.MatchString
		})
	case api.OperandVersion:
		return prepareTest(literal, isLiteral, versionTest)
	case api.OperandSemver:
		return prepareTest(literal, isLiteral, semverTest)
	case api.OperandSetContains, api.OperandSetContainsAll:
		return func(l, r string) bool {
			have := set(l)
			return !slices.ContainsFunc(set(r), func(s string) bool { return !slices.Contains(have, s) })
		}
	case api.OperandSetContainsAny:
		return func(l, r string) bool {
			have := set(l)
			return slices.ContainsFunc(set(r), func(s string) bool { return slices.Contains(have, s) })
		}
	}
	return func(string, string) bool { return false }
}

func matchNothing(string) bool { return false }

// prepareTest builds the test once if the right side is a literal, otherwise on every
// call.
func prepareTest(literal string, isLiteral bool, build func(right string) func(left string) bool) func(left, right string) bool {
	if isLiteral {
		f := build(literal)
		return func(l, _ string) bool { return f(l) }
	}
	return func(l, r string) bool { return build(r)(l) }
}

func set(list string) []string {
	parts := strings.Split(list, ",")
	for i := range parts {
		parts[i] = strings.TrimSpace(parts[i])
	}
	return parts
}

// compare orders numbers numerically and everything else as text.
func compare(l, r string) int {
	if a, err := strconv.ParseInt(l, 10, 64); err == nil {
		if b, err := strconv.ParseInt(r, 10, 64); err == nil {
			return cmp.Compare(a, b)
		}
	}
	if a, err := strconv.ParseFloat(l, 64); err == nil {
		if b, err := strconv.ParseFloat(r, 64); err == nil {
			return cmp.Compare(a, b)
		}
	}
	return strings.Compare(l, r)
}

// versionTest parses conditions such as ">= 1.2, < 2.0" or "~> 1.4". A pre-release meets
// only conditions that name a pre-release.
func versionTest(conditions string) func(string) bool {
	cs, err := version.NewConstraint(conditions)
	if err != nil {
		return matchNothing
	}
	return func(l string) bool {
		v, err := version.NewVersion(l)
		return err == nil && cs.Check(v)
	}
}

// semverTest parses conditions such as ">= 1.2.0-beta, < 2.0.0". Pre-releases are ordered
// as in Semantic Versioning 2.0.
func semverTest(conditions string) func(string) bool {
	type bound struct {
		accept [3]bool // by compare(left, bound)+1
		v      *version.Version
	}
	var bounds []bound
	for _, part := range set(conditions) {
		digits := strings.IndexAny(part, "0123456789v")
		if digits < 0 {
			return matchNothing
		}
		v, err := version.NewSemver(part[digits:])
		if err != nil {
			return matchNothing
		}
		b := bound{v: v}
		switch strings.TrimSpace(part[:digits]) {
		case "", "=", "==":
			b.accept = [3]bool{false, true, false}
		case "!=":
			b.accept = [3]bool{true, false, true}
		case "<":
			b.accept = [3]bool{true, false, false}
		case "<=":
			b.accept = [3]bool{true, true, false}
		case ">":
			b.accept = [3]bool{false, false, true}
		case ">=":
			b.accept = [3]bool{false, true, true}
		default:
			return matchNothing
		}
		bounds = append(bounds, b)
	}
	return func(l string) bool {
		v, err := version.NewSemver(l)
		if err != nil {
			return false
		}
		for _, b := range bounds {
			if !b.accept[v.Compare(b.v)+1] {
				return false
			}
		}
		return true
	}
}
