// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package jobspec

import (
	"strconv"

	"github.com/reeve-run/reeve/api"
)

var constraintOperands = []string{
	"=", "==", "is", "!=", "not", "<", "<=", ">", ">=",
	api.OperandRegexp, api.OperandVersion, api.OperandSemver,
	api.OperandSetContains, api.OperandSetContainsAll, api.OperandSetContainsAny,
	api.OperandIsSet, api.OperandIsNotSet, api.OperandDistinctHosts, api.OperandDistinctValue,
}

var affinityOperands = constraintOperands[:len(constraintOperands)-2]

var constraintSchema = &schema[api.Constraint]{
	noun:  "constraint",
	oneOf: map[string][]string{"operator": constraintOperands},
	attrs: attrs[api.Constraint]{
		"attribute":        func(c *api.Constraint) any { return &c.LTarget },
		"operator":         func(c *api.Constraint) any { return &c.Operand },
		"value":            func(c *api.Constraint) any { return &c.RTarget },
		"regexp":           func(c *api.Constraint) any { return operand(&c.Operand, &c.RTarget, "regexp") },
		"version":          func(c *api.Constraint) any { return operand(&c.Operand, &c.RTarget, "version") },
		"semver":           func(c *api.Constraint) any { return operand(&c.Operand, &c.RTarget, "semver") },
		"set_contains":     func(c *api.Constraint) any { return operand(&c.Operand, &c.RTarget, "set_contains") },
		"set_contains_all": func(c *api.Constraint) any { return operand(&c.Operand, &c.RTarget, "set_contains_all") },
		"set_contains_any": func(c *api.Constraint) any { return operand(&c.Operand, &c.RTarget, "set_contains_any") },
		"is_set":           func(c *api.Constraint) any { return presence(c, api.OperandIsSet) },
		"is_not_set":       func(c *api.Constraint) any { return presence(c, api.OperandIsNotSet) },
		"distinct_hosts": func(c *api.Constraint) any {
			return func(on bool) {
				c.Operand, c.RTarget = api.OperandDistinctHosts, strconv.FormatBool(on)
			}
		},
		"distinct_property": func(c *api.Constraint) any {
			return func(property string) { c.Operand, c.LTarget = api.OperandDistinctValue, property }
		},
	},
}

var affinitySchema = &schema[api.Affinity]{
	noun:  "affinity",
	oneOf: map[string][]string{"operator": affinityOperands},
	attrs: attrs[api.Affinity]{
		"attribute":        func(a *api.Affinity) any { return &a.LTarget },
		"operator":         func(a *api.Affinity) any { return &a.Operand },
		"value":            func(a *api.Affinity) any { return &a.RTarget },
		"weight":           func(a *api.Affinity) any { return &a.Weight },
		"regexp":           func(a *api.Affinity) any { return operand(&a.Operand, &a.RTarget, "regexp") },
		"version":          func(a *api.Affinity) any { return operand(&a.Operand, &a.RTarget, "version") },
		"semver":           func(a *api.Affinity) any { return operand(&a.Operand, &a.RTarget, "semver") },
		"set_contains":     func(a *api.Affinity) any { return operand(&a.Operand, &a.RTarget, "set_contains") },
		"set_contains_all": func(a *api.Affinity) any { return operand(&a.Operand, &a.RTarget, "set_contains_all") },
		"set_contains_any": func(a *api.Affinity) any { return operand(&a.Operand, &a.RTarget, "set_contains_any") },
	},
}

// operand sets an operator and its value, for the short form version = ">= 1.2".
func operand(op, value *string, name string) any {
	return func(s string) { *op, *value = name, s }
}

// presence sets is_set or is_not_set, for the short form is_set = "${meta.rack}" without
// attribute.
func presence(c *api.Constraint, name string) any {
	return func(attribute string) { c.Operand, c.LTarget = name, attribute }
}

var spreadSchema = &schema[api.Spread]{
	noun: "spread",
	attrs: attrs[api.Spread]{
		"attribute": func(s *api.Spread) any { return &s.Attribute },
		"weight":    func(s *api.Spread) any { return &s.Weight },
	},
	blocks: blocks[api.Spread]{
		"target": many(spreadTargetSchema, func(s *api.Spread) *[]*api.SpreadTarget { return &s.Targets }),
	},
}

var spreadTargetSchema = &schema[api.SpreadTarget]{
	noun:     "target",
	label:    "value",
	name:     func(t *api.SpreadTarget) *string { return &t.Value },
	optional: true,
	attrs: attrs[api.SpreadTarget]{
		"percent": func(t *api.SpreadTarget) any { return &t.Percent },
		"value":   func(t *api.SpreadTarget) any { return &t.Value },
	},
}
