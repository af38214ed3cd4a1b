// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package jobspec

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"time"

	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"
)

// assign stores a value in a field, converting as a reader would expect: 3 and
// "3" are the same number, 8080 may stand where text is wanted, "30s" is a
// duration. dst is a pointer to the field or a setter. null leaves the field as it
// is. The error completes a sentence that begins with the field's name.
func assign(dst any, v cty.Value) error {
	if v.IsNull() {
		return nil
	}
	switch dst := dst.(type) {
	case *string:
		return store(dst, v, toText)
	case *bool:
		return store(dst, v, toBool)
	case **bool:
		return storeNew(dst, v, toBool)
	case *int:
		return store(dst, v, toInt[int])
	case **int:
		return storeNew(dst, v, toInt[int])
	case **int64:
		return storeNew(dst, v, toInt[int64])
	case **int8:
		return storeNew(dst, v, toInt[int8])
	case *uint8:
		return store(dst, v, toInt[uint8])
	case **uint64:
		return storeNew(dst, v, toInt[uint64])
	case **string:
		return storeNew(dst, v, toText)
	case *time.Duration:
		return store(dst, v, toDuration)
	case **time.Duration:
		return storeNew(dst, v, toDuration)
	case *[]string:
		return store(dst, v, toTexts)
	case *map[string]string:
		return store(dst, v, toTextMap)
	case *map[string][]string:
		return store(dst, v, toTextsMap)
	case *any:
		return store(dst, v, toAny)
	case func(string):
		s, err := toText(v)
		if err == nil {
			dst(s)
		}
		return err
	case func(bool):
		b, err := toBool(v)
		if err == nil {
			dst(b)
		}
		return err
	}
	panic(fmt.Sprintf("jobspec: a schema names a field of type %T", dst))
}

func store[F any](dst *F, v cty.Value, to func(cty.Value) (F, error)) error {
	x, err := to(v)
	if err == nil {
		*dst = x
	}
	return err
}

func storeNew[F any](dst **F, v cty.Value, to func(cty.Value) (F, error)) error {
	x, err := to(v)
	if err == nil {
		*dst = &x
	}
	return err
}

func toText(v cty.Value) (string, error) {
	if !v.IsNull() && v.Type() == cty.Number && v.AsBigFloat().IsInf() {
		return "", errors.New("is out of range: something was divided by zero")
	}
	if !v.IsNull() && v.Type().IsPrimitiveType() {
		if s, err := convert.Convert(v, cty.String); err == nil {
			return s.AsString(), nil
		}
	}
	return "", fmt.Errorf("must be text, not %s", describe(v))
}

func toBool(v cty.Value) (bool, error) {
	if !v.IsNull() {
		if b, err := convert.Convert(v, cty.Bool); err == nil {
			return b.True(), nil
		}
	}
	return false, fmt.Errorf("must be true or false, not %s", describe(v))
}

// toNumber accepts numbers and text that is one.
func toNumber(v cty.Value) (*big.Float, bool) {
	if v.IsNull() || v.Type() == cty.Bool {
		return nil, false
	}
	n, err := convert.Convert(v, cty.Number)
	if err != nil {
		return nil, false
	}
	return n.AsBigFloat(), true
}

func toInt[N int | int8 | int64 | uint8 | uint64](v cty.Value) (N, error) {
	f, ok := toNumber(v)
	if !ok || !f.IsInt() {
		return 0, fmt.Errorf("must be a whole number, not %s", describe(v))
	}
	var lo, hi int64 = math.MinInt64, math.MaxInt64
	switch any(N(0)).(type) {
	case int8:
		lo, hi = -100, 100 // weights
	case uint8:
		lo, hi = 0, 100 // percentages
	case uint64:
		lo = 0
	}
	n, accuracy := f.Int64()
	if accuracy != big.Exact || n < lo && lo == math.MinInt64 || n > hi && hi == math.MaxInt64 {
		return 0, errors.New("is out of range: the number is too large")
	}
	if n < lo && hi == math.MaxInt64 {
		return 0, errors.New("must not be negative")
	}
	if n < lo || n > hi {
		return 0, fmt.Errorf("is out of range: it must be from %d to %d", lo, hi)
	}
	return N(n), nil
}

// minDuration is the least that a bare number may mean: durations in the API are
// nanoseconds, and nobody means 30 of them.
const minDuration = time.Millisecond

func toDuration(v cty.Value) (time.Duration, error) {
	if !v.IsNull() && v.Type() == cty.String {
		s := v.AsString()
		if d, err := time.ParseDuration(s); err == nil {
			return d, nil
		}
		return 0, durationError(s)
	}
	f, ok := toNumber(v)
	if !ok || !f.IsInt() {
		return 0, fmt.Errorf("must be a duration such as \"30s\", not %s", describe(v))
	}
	n, accuracy := f.Int64()
	return bareDuration(n, accuracy == big.Exact)
}

func bareDuration(n int64, exact bool) (time.Duration, error) {
	d := time.Duration(n)
	if !exact {
		return 0, errors.New("is out of range for a duration")
	}
	if d != 0 && d.Abs() < minDuration {
		return 0, fmt.Errorf("needs a unit: write \"%ds\" if %d seconds are meant (a bare number is nanoseconds)", n, n)
	}
	return d, nil
}

func durationError(s string) error {
	return fmt.Errorf("must be a duration such as \"30s\" or \"1h30m\" (units: ms, s, m, h), not %q", shorten(s))
}

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

// toAny makes what encoding/json would make of the value, so that a job is the
// same whether it came as HCL or over the wire.
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

// describe names a value for an error.
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

// shorten keeps errors readable.
func shorten(s string) string {
	if r := []rune(s); len(r) > 40 {
		return string(r[:37]) + "..."
	}
	return s
}
