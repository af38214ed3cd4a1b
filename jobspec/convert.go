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

// assign stores a value in a field with conversions: 3 and "3" are the same number, 8080 is
// valid text, and "30s" is a duration. dst is a pointer to the field, or a setter. null
// leaves the field unchanged. The error completes a sentence that begins with the field's
// name.
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
	case func(cty.Value) error:
		return dst(v)
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
		return "", errors.New("is out of range: the number is infinite")
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

// toNumber converts numbers, and text that holds a number.
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
