// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package jobspec

import (
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"
)

// maxOutput bounds the result of one function call, in bytes.
const maxOutput = 16 << 20

// unbounded lists the functions that evaluate their arguments themselves.
var unbounded = map[string]bool{"try": true, "can": true, "convert": true}

// functions wraps functions with a meter: a call costs the size of its arguments, and fails
// before it produces a too large result.
func (m *meter) functions(fs map[string]function.Function) map[string]function.Function {
	out := make(map[string]function.Function, len(fs))
	for name, f := range fs {
		if unbounded[name] {
			out[name] = f
			continue
		}
		out[name] = m.function(name, f)
	}
	return out
}

func (m *meter) function(name string, f function.Function) function.Function {
	return function.New(&function.Spec{
		Description: f.Description(), Params: f.Params(), VarParam: f.VarParam(),
		Type: func(args []cty.Value) (cty.Type, error) {
			if err := m.take(name, args); err != nil {
				return cty.NilType, err
			}
			return f.ReturnTypeForValues(args)
		},
		Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
			v, err := f.Call(args)
			if err != nil {
				return v, err
			}
			return v, m.take("", []cty.Value{v})
		},
	})
}

// take charges for values, and checks the size of a function's result.
func (m *meter) take(name string, values []cty.Value) error {
	room := maxOutput
	for _, v := range values {
		if !fits(v, &room) {
			return errors.New(tooLargeValue)
		}
	}
	work := maxOutput - room
	if name == "bcrypt" && len(values) > 1 && values[1].IsKnown() {
		cost, _ := values[1].AsBigFloat().Int64()
		work += 1 << (min(max(cost, 0), 15) + 12)
	}
	steps := 1
	for _, v := range values {
		if t := v.Type(); (t.IsListType() || t.IsSetType() || t.IsTupleType()) && v.IsKnown() && !v.IsNull() {
			steps += listed(v.LengthInt())
		}
	}
	m.spend(steps, work)
	if made := output(name, values); made > maxOutput {
		return fmt.Errorf("the result would be larger than %d bytes", maxOutput)
	}
	return nil
}

// output returns the approximate size of a function's result in bytes, where it may exceed a
// small multiple of the arguments.
func output(name string, args []cty.Value) int {
	switch name {
	case "format", "formatlist":
		return formatted(args)
	case "join":
		made := 0
		for _, list := range args[1:] {
			if list.IsKnown() && !list.IsNull() {
				made += list.LengthInt() * (1 + size(args[0]))
			}
		}
		return made
	case "replace":
		old := content(args[1])
		return size(args[0]) + strings.Count(content(args[0]), old)*size(args[2])
	case "regex_replace":
		return size(args[0]) + (1+size(args[0]))*size(args[2])
	case "indent":
		spaces, _ := args[0].AsBigFloat().Int64()
		return strings.Count(content(args[1]), "\n") * int(min(max(spaces, 0), maxWidth))
	}
	return 0
}

// hugeNumber matches text that, as a number, has very many digits.
var hugeNumber = regexp.MustCompile(`[eEpP][+-]?[0-9]{4,}`)

// formatted returns the approximate size of a format's result: each verb may show any
// argument, and the elements of a list are formatted one by one.
func formatted(args []cty.Value) int {
	format := content(args[0])
	verbs, times, single, lists := strings.Count(format, "%"), 1, 0, 0
	for _, a := range args {
		t := a.Type()
		switch {
		case !a.IsKnown() || a.IsNull():
		case t.IsListType(), t.IsSetType(), t.IsTupleType():
			times = max(times, a.LengthInt())
			lists += size(a)
		case t == cty.String && hugeNumber.MatchString(a.AsString()) && len(a.AsString()) < 64:
			return maxOutput + 1
		default:
			single += size(a)
		}
	}
	return times*(len(format)+verbs*single) + verbs*lists
}

func content(v cty.Value) string {
	if v.Type() != cty.String || !v.IsKnown() || v.IsNull() {
		return ""
	}
	return v.AsString()
}

// size returns the size of a value, as counted by fits.
func size(v cty.Value) int {
	room := maxOutput
	fits(v, &room)
	return maxOutput - max(room, 0)
}
