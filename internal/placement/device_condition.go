// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package placement

import (
	"cmp"
	"strings"

	"github.com/reeve-run/reeve/api"
)

// A deviceCondition is a constraint, or an affinity's condition, of a device block. Its
// sides are values with a type and a unit: ${device.attr.NAME}, ${device.vendor},
// ${device.type}, ${device.model} and ${device.ids}, or a literal.
type deviceCondition struct {
	left, right deviceTarget
	operand     string
	words       string
	test        func(left, right string) bool // for operands that compare text
}

// A deviceTarget is one side of a deviceCondition.
type deviceTarget struct {
	name    string // "attr.NAME", "vendor"...; "" for a literal
	literal *api.DeviceAttribute
	raw     string // the literal as written
}

func newDeviceTarget(s string) deviceTarget {
	if inner, ok := strings.CutPrefix(s, "${device."); ok && strings.HasSuffix(inner, "}") {
		return deviceTarget{name: strings.TrimSuffix(inner, "}")}
	}
	return deviceTarget{literal: api.ParseDeviceAttribute(s), raw: s}
}

// of returns the target's value for the devices, or nil if they have none.
func (t deviceTarget) of(g *api.NodeDeviceGroup) *api.DeviceAttribute {
	text := func(s string) *api.DeviceAttribute { return &api.DeviceAttribute{String: &s} }
	switch t.name {
	case "":
		return t.literal
	case "vendor":
		return text(g.Vendor)
	case "type":
		return text(g.Type)
	case "model":
		return text(g.Name)
	case "ids":
		ids := make([]string, len(g.Instances))
		for i, instance := range g.Instances {
			ids[i] = instance.ID
		}
		return text(strings.Join(ids, ","))
	}
	if name, ok := strings.CutPrefix(t.name, "attr."); ok {
		return g.Attributes[name]
	}
	return nil
}

// text returns the target's value v as text. It returns a literal exactly as written,
// because "535.10" is a different version from 535.1.
func (t deviceTarget) text(v *api.DeviceAttribute) string {
	if t.literal != nil {
		return t.raw
	}
	return v.Text()
}

func newDeviceCondition(left, operand, right string) *deviceCondition {
	c := &deviceCondition{
		left: newDeviceTarget(left), right: newDeviceTarget(right), operand: normalOperand(operand),
		words: strings.TrimSpace(left + " " + operand + " " + right),
	}
	c.test = test(c.operand, right, c.right.literal != nil)
	return c
}

// holds reports whether the devices meet the condition.
func (c *deviceCondition) holds(g *api.NodeDeviceGroup) bool {
	left, right := c.left.of(g), c.right.of(g)
	switch c.operand {
	case api.OperandIsSet:
		return left != nil
	case api.OperandIsNotSet:
		return left == nil
	case api.OperandNotEqual:
		if left == nil || right == nil {
			return left != right
		}
		order, ok := compareDevice(left, right)
		return !ok || order != 0
	}
	if left == nil || right == nil {
		return false
	}
	switch c.operand {
	case api.OperandEqual, api.OperandLess, api.OperandLessOrEqual, api.OperandGreater, api.OperandGreaterOrEqual:
		order, ok := compareDevice(left, right)
		return ok && orders(c.operand, order)
	}
	return c.test(left.Text(), c.right.text(right))
}

// orders reports whether the operand accepts the order of its sides.
func orders(operand string, order int) bool {
	switch operand {
	case api.OperandEqual:
		return order == 0
	case api.OperandLess:
		return order < 0
	case api.OperandLessOrEqual:
		return order <= 0
	case api.OperandGreater:
		return order > 0
	}
	return order >= 0
}

// compareDevice compares values with their units. If a device reports text, compareDevice
// treats it as a number where it looks like one, and otherwise as text: a model may be
// called "4090".
func compareDevice(a, b *api.DeviceAttribute) (int, bool) {
	if order, ok := a.Compare(b); ok || a.String == nil {
		return order, ok
	}
	if order, ok := api.ParseDeviceAttribute(*a.String).Compare(b); ok {
		return order, true
	}
	return cmp.Compare(*a.String, b.Text()), true
}
