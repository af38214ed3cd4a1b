// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package api

import (
	"math"
	"math/big"
	"strconv"
	"strings"
)

// A unit is a multiple of the smallest unit of its quantity.
type unit struct {
	quantity string
	worth    int64
}

// units holds the units of device attributes by name.
var units = func() map[string]unit {
	m := map[string]unit{
		"MHz": {"Hz", 1e6}, "GHz": {"Hz", 1e9},
		"mW": {"W", 1}, "W": {"W", 1e3}, "kW": {"W", 1e6}, "MW": {"W", 1e9}, "GW": {"W", 1e12},
	}
	for i, prefix := range []string{"k", "M", "G", "T", "P", "E"} {
		decimal, binary := int64(math.Pow10(3*(i+1))), int64(1)<<(10*(i+1))
		m[prefix+"B"], m[prefix+"B/s"] = unit{"B", decimal}, unit{"B/s", decimal}
		if prefix == "k" {
			prefix = "K"
		}
		m[prefix+"iB"], m[prefix+"iB/s"] = unit{"B", binary}, unit{"B/s", binary}
	}
	return m
}()

// ParseDeviceAttribute parses an attribute value: a number, optionally with a unit, as in
// "11 GiB" or "1.4GHz"; a boolean; or else text.
func ParseDeviceAttribute(s string) *DeviceAttribute {
	s = strings.TrimSpace(s)
	number, name := s, ""
	if i := strings.LastIndexFunc(s, func(r rune) bool { return r >= '0' && r <= '9' || r == '.' }); i >= 0 {
		number, name = s[:i+1], strings.TrimSpace(s[i+1:])
	}
	if _, known := units[name]; known || name == "" {
		if n, err := strconv.ParseInt(number, 10, 64); err == nil {
			return &DeviceAttribute{Int: &n, Unit: name}
		}
		if f, err := strconv.ParseFloat(number, 64); err == nil && !math.IsInf(f, 0) && !math.IsNaN(f) {
			return &DeviceAttribute{Float: &f, Unit: name}
		}
	}
	if b := s == "true"; b || s == "false" {
		return &DeviceAttribute{Bool: &b}
	}
	return &DeviceAttribute{String: &s}
}

// Text returns the value in readable form.
func (a *DeviceAttribute) Text() string {
	var text string
	switch {
	case a == nil:
	case a.Int != nil:
		text = strconv.FormatInt(*a.Int, 10)
	case a.Float != nil:
		text = strconv.FormatFloat(*a.Float, 'f', -1, 64)
	case a.Bool != nil:
		text = strconv.FormatBool(*a.Bool)
	case a.String != nil:
		text = *a.String
	}
	if a != nil && a.Unit != "" {
		text += " " + a.Unit
	}
	return text
}

// number returns the value in the smallest unit of its quantity.
func (a *DeviceAttribute) number() (*big.Rat, string, bool) {
	n := new(big.Rat)
	switch {
	case a.Int != nil:
		n.SetInt64(*a.Int)
	case a.Float != nil && n.SetFloat64(*a.Float) != nil:
	default:
		return nil, "", false
	}
	if a.Unit == "" {
		return n, "", true
	}
	u, known := units[a.Unit]
	return n.Mul(n, new(big.Rat).SetInt64(u.worth)), u.quantity, known
}

// Compare compares two values: -1, 0 or 1. Numbers compare exactly, converted by their
// units; text compares by bytes. ok is false for values of different kinds, or with units
// of different quantities.
func (a *DeviceAttribute) Compare(b *DeviceAttribute) (order int, ok bool) {
	if a == nil || b == nil {
		return 0, false
	}
	if m, of, ok := a.number(); ok {
		n, in, ok := b.number()
		if !ok || of != in {
			return 0, false
		}
		return m.Cmp(n), true
	}
	switch {
	case a.Bool != nil && b.Bool != nil:
		if *a.Bool == *b.Bool {
			return 0, true
		} else if *b.Bool {
			return -1, true
		}
		return 1, true
	case a.String != nil && b.String != nil:
		return strings.Compare(*a.String, *b.String), true
	}
	return 0, false
}
