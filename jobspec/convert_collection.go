// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package jobspec

import (
	"errors"
	"fmt"
	"math"

	"github.com/zclconf/go-cty/cty"
)

func toTexts(v cty.Value) ([]string, error) {
	t := v.Type()
	if v.IsNull() || !(t.IsListType() || t.IsTupleType() || t.IsSetType()) {
		return nil, fmt.Errorf("must be a list of texts such as [\"a\", \"b\"], not %s", describe(v))
	}
	out := make([]string, 0, v.LengthInt())
	for it := v.ElementIterator(); it.Next(); {
		_, e := it.Element()
		s, err := toText(e)
		if err != nil {
			return nil, fmt.Errorf("must be a list of texts; element %d is %s", len(out)+1, describe(e))
		}
		out = append(out, s)
	}
	return out, nil
}

func toTextMap(v cty.Value) (map[string]string, error) {
	out := map[string]string{}
	err := eachEntry(v, func(key string, e cty.Value) error {
		if e.IsNull() {
			return nil
		}
		s, err := toText(e)
		if err != nil {
			return fmt.Errorf("must hold texts only; %q is %s", key, describe(e))
		}
		out[key] = s
		return nil
	})
	return out, err
}

func toTextsMap(v cty.Value) (map[string][]string, error) {
	out := map[string][]string{}
	err := eachEntry(v, func(key string, e cty.Value) error {
		if e.IsNull() {
			return nil
		}
		if s, err := toText(e); err == nil {
			out[key] = []string{s}
			return nil
		}
		l, err := toTexts(e)
		if err != nil {
			return fmt.Errorf("must hold lists of texts; %q %w", key, err)
		}
		out[key] = l
		return nil
	})
	return out, err
}

func eachEntry(v cty.Value, visit func(string, cty.Value) error) error {
	if v.IsNull() || !(v.Type().IsObjectType() || v.Type().IsMapType()) {
		return fmt.Errorf("must be a map such as { key = \"value\" }, not %s", describe(v))
	}
	for it := v.ElementIterator(); it.Next(); {
		k, e := it.Element()
		if err := visit(k.AsString(), e); err != nil {
			return err
		}
	}
	return nil
}

// toAny converts a value to the types of encoding/json, so that a job from HCL equals the same
// job from JSON.
func toAny(v cty.Value) (any, error) {
	t := v.Type()
	switch {
	case v.IsNull():
		return nil, nil
	case t == cty.String:
		return v.AsString(), nil
	case t == cty.Bool:
		return v.True(), nil
	case t == cty.Number:
		f, _ := v.AsBigFloat().Float64()
		if math.IsInf(f, 0) {
			return nil, errors.New("is out of range")
		}
		return f, nil
	case t.IsObjectType() || t.IsMapType():
		out := map[string]any{}
		err := eachEntry(v, func(key string, e cty.Value) (err error) {
			out[key], err = toAny(e)
			return err
		})
		return out, err
	case t.IsListType() || t.IsTupleType() || t.IsSetType():
		out := make([]any, 0, v.LengthInt())
		for it := v.ElementIterator(); it.Next(); {
			_, e := it.Element()
			x, err := toAny(e)
			if err != nil {
				return nil, err
			}
			out = append(out, x)
		}
		return out, nil
	}
	return nil, fmt.Errorf("has a value that a job cannot hold: %s", describe(v))
}

// describe describes a value for an error.
func describe(v cty.Value) string {
	t := v.Type()
	switch {
	case !v.IsKnown():
		return "an unknown value"
	case v.IsNull():
		return "null"
	case t == cty.String:
		return fmt.Sprintf("the text %q", shorten(v.AsString()))
	case t == cty.Bool:
		return fmt.Sprint(v.True())
	case t == cty.Number:
		return "the number " + shorten(v.AsBigFloat().Text('g', 20))
	case t.IsObjectType() || t.IsMapType():
		return "a map"
	case t.IsListType() || t.IsTupleType() || t.IsSetType():
		return "a list"
	}
	return "a " + t.FriendlyName()
}

// shorten shortens text for an error.
func shorten(s string) string {
	if r := []rune(s); len(r) > 40 {
		return string(r[:37]) + "..."
	}
	return s
}
