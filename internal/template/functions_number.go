// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package template

import (
	"errors"
	"math"
	"reflect"
	"strconv"
)

var (
	errNumber = errors.New("an argument is not a number")
	errZero   = errors.New("the divisor is 0")
	errRange  = errors.New("the result is too large")
)

// calculate applies an operation: on whole numbers if both are, otherwise on floating ones.
func calculate(a, b any, whole func(a, b int64) (int64, error), floating func(a, b float64) float64) (any, error) {
	x, isInt := asInt(a)
	y, isInt2 := asInt(b)
	if isInt && isInt2 && !isFloat(a) && !isFloat(b) {
		return whole(x, y)
	}
	f, ok := asFloat(a)
	g, ok2 := asFloat(b)
	if !ok || !ok2 {
		return nil, errNumber
	}
	return floating(f, g), nil
}

func isFloat(v any) bool { return reflect.ValueOf(v).CanFloat() }

func asFloat(arg any) (float64, bool) {
	v := reflect.ValueOf(arg)
	switch {
	case v.CanFloat():
		return v.Float(), true
	case v.CanInt():
		return float64(v.Int()), true
	case v.CanUint():
		return float64(v.Uint()), true
	}
	return 0, false
}

func add(b, a any) (any, error) {
	return calculate(a, b, func(a, b int64) (int64, error) {
		if b > 0 && a > math.MaxInt64-b || b < 0 && a < math.MinInt64-b {
			return 0, errRange
		}
		return a + b, nil
	}, func(a, b float64) float64 { return a + b })
}

func subtract(b, a any) (any, error) {
	return calculate(a, b, func(a, b int64) (int64, error) {
		if b < 0 && a > math.MaxInt64+b || b > 0 && a < math.MinInt64+b {
			return 0, errRange
		}
		return a - b, nil
	}, func(a, b float64) float64 { return a - b })
}

func multiply(b, a any) (any, error) {
	return calculate(a, b, func(a, b int64) (int64, error) {
		if a != 0 && (a*b/a != b || a == -1 && b == math.MinInt64) {
			return 0, errRange
		}
		return a * b, nil
	}, func(a, b float64) float64 { return a * b })
}

func divide(b, a any) (any, error) {
	return calculate(a, b, func(a, b int64) (int64, error) {
		switch {
		case b == 0:
			return 0, errZero
		case b == -1 && a == math.MinInt64:
			return 0, errRange
		}
		return a / b, nil
	}, func(a, b float64) float64 { return a / b })
}

func modulo(b, a any) (any, error) {
	return calculate(a, b, func(a, b int64) (int64, error) {
		switch b {
		case 0:
			return 0, errZero
		case -1:
			return 0, nil
		}
		return a % b, nil
	}, math.Mod)
}

func minimum(b, a any) (any, error) {
	return calculate(a, b, func(a, b int64) (int64, error) { return min(a, b), nil }, math.Min)
}

func maximum(b, a any) (any, error) {
	return calculate(a, b, func(a, b int64) (int64, error) { return max(a, b), nil }, math.Max)
}

// Functions of Sprig take their operands from left to right, and convert texts.

func toInt(v any) int64 {
	if n, ok := asInt(v); ok {
		return n
	}
	s, _ := asText(v)
	if n, err := strconv.ParseInt(s, 10, 64); err == nil {
		return n
	}
	f, err := strconv.ParseFloat(s, 64)
	if err != nil || math.Abs(f) > 1<<62 {
		return 0
	}
	return int64(f)
}

func sprigAdd(all ...any) (sum int64) {
	for _, v := range all {
		sum += toInt(v)
	}
	return sum
}

func sprigSub(a, b any) int64 { return toInt(a) - toInt(b) }

func sprigMul(a any, more ...any) int64 {
	product := toInt(a)
	for _, v := range more {
		product *= toInt(v)
	}
	return product
}

func sprigDiv(a, b any) (any, error) { return divide(toInt(b), toInt(a)) }
func sprigMod(a, b any) (any, error) { return modulo(toInt(b), toInt(a)) }

func sprigMin(a any, more ...any) int64 {
	least := toInt(a)
	for _, v := range more {
		least = min(least, toInt(v))
	}
	return least
}

func sprigMax(a any, more ...any) int64 {
	most := toInt(a)
	for _, v := range more {
		most = max(most, toInt(v))
	}
	return most
}

// maxLoop is the longest list that loop makes.
const maxLoop = 1 << 18

// loop returns 0..n-1, or a..b-1.
func (x *execution) loop(args ...any) ([]int64, error) {
	var from, to int64
	ok, ok2 := true, true
	switch len(args) {
	case 1:
		to, ok = asInt(args[0])
	case 2:
		from, ok = asInt(args[0])
		to, ok2 = asInt(args[1])
	default:
		return nil, errors.New("it takes one or two numbers")
	}
	if !ok || !ok2 {
		return nil, errNumber
	}
	if from < -1<<40 || to > 1<<40 || to-from > maxLoop {
		return nil, errors.New("it would repeat more than " + strconv.Itoa(maxLoop) + " times")
	}
	all := make([]int64, 0, max(0, to-from))
	for i := from; i < to; i++ {
		all = append(all, i)
	}
	return all, x.charge(len(all))
}

func (x *execution) until(n int) ([]int64, error) { return x.loop(n) }
