// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package template

import (
	"errors"
	"maps"
	"reflect"
	"slices"
	"strings"
)

func isSame(a, b any) bool {
	if x, ok := asText(a); ok {
		y, ok := asText(b)
		return ok && x == y
	}
	return reflect.DeepEqual(a, b)
}

func inList(all, one any) (bool, error) {
	if s, ok := all.(string); ok {
		part, _ := asText(one)
		return strings.Contains(s, part), nil
	}
	v := reflect.ValueOf(all)
	switch v.Kind() {
	case reflect.Slice:
		for i := range v.Len() {
			if isSame(v.Index(i).Interface(), one) {
				return true, nil
			}
		}
	case reflect.Map:
		for it := v.MapRange(); it.Next(); {
			if isSame(it.Value().Interface(), one) {
				return true, nil
			}
		}
	case reflect.Invalid:
	default:
		return false, errors.New("the value is not a list")
	}
	return false, nil
}

func contains(one, all any) (bool, error) { return inList(all, one) }

// quadratic bounds the product of two lists that are compared.
const quadratic = 1 << 20

func count(some []any, all any) (n int, err error) {
	if v := reflect.ValueOf(all); v.IsValid() && v.Kind() == reflect.Slice && v.Len()*len(some) > quadratic {
		return 0, errors.New("the lists are too long")
	}
	for _, one := range some {
		found, err := inList(all, one)
		if err != nil {
			return 0, err
		}
		if found {
			n++
		}
	}
	return n, nil
}

func containsAll(some []any, all any) (bool, error) {
	n, err := count(some, all)
	return n == len(some), err
}

func containsAny(some []any, all any) (bool, error) {
	n, err := count(some, all)
	return n > 0, err
}

func containsNone(some []any, all any) (bool, error) {
	n, err := count(some, all)
	return n == 0, err
}

func containsNotAll(some []any, all any) (bool, error) {
	n, err := count(some, all)
	return n < len(some), err
}

// explodeMap turns keys such as "a/b" into nested maps.
func explodeMap(m map[string]any) (map[string]any, error) {
	out := map[string]any{}
	for _, key := range slices.Sorted(maps.Keys(m)) {
		parts := strings.Split(strings.Trim(key, "/"), "/")
		if len(parts) > maxDepth/2 {
			return nil, errDeep
		}
		at := out
		for _, part := range parts[:len(parts)-1] {
			next, ok := at[part].(map[string]any)
			if !ok {
				if _, taken := at[part]; taken {
					return nil, errors.New("one key is below another one")
				}
				next = map[string]any{}
				at[part] = next
			}
			at = next
		}
		at[parts[len(parts)-1]] = m[key]
	}
	return out, nil
}

// mergeMap adds to the second map what only the first one has.
func mergeMap(more, m map[string]any) map[string]any {
	out := maps.Clone(m)
	if out == nil {
		out = map[string]any{}
	}
	for key, value := range more {
		if _, ok := out[key]; !ok {
			out[key] = value
		}
	}
	return out
}

func list(values ...any) []any { return values }

func dict(pairs ...any) (map[string]any, error) {
	if len(pairs)%2 != 0 {
		return nil, errors.New("a key has no value")
	}
	m := map[string]any{}
	for i := 0; i < len(pairs); i += 2 {
		key, ok := asText(pairs[i])
		if !ok {
			return nil, errors.New("a key is not a text")
		}
		m[key] = pairs[i+1]
	}
	return m, nil
}

func get(m map[string]any, key string) any {
	if v, ok := m[key]; ok {
		return v
	}
	return ""
}

func hasKey(m map[string]any, key string) bool {
	_, ok := m[key]
	return ok
}

func has(one any, all []any) (bool, error) { return inList(all, one) }

func keys(m map[string]any) []string { return slices.Sorted(maps.Keys(m)) }

func valuesOf(m map[string]any) (all []any) {
	for _, key := range keys(m) {
		all = append(all, m[key])
	}
	return all
}

func first(all []any) any {
	if len(all) == 0 {
		return nil
	}
	return all[0]
}

func last(all []any) any {
	if len(all) == 0 {
		return nil
	}
	return all[len(all)-1]
}

func rest(all []any) []any {
	if len(all) == 0 {
		return nil
	}
	return all[1:]
}

func appendTo(all []any, one any) []any { return append(slices.Clone(all), one) }

func concat(lists ...[]any) []any { return slices.Concat(lists...) }

func reverse(all []any) []any {
	all = slices.Clone(all)
	slices.Reverse(all)
	return all
}

func uniq(all []any) (out []any, err error) {
	if len(all) > 1024 {
		return nil, errors.New("the list is too long")
	}
	for _, one := range all {
		if found, _ := inList(out, one); !found {
			out = append(out, one)
		}
	}
	return out, nil
}

func sortAlpha(all []any) ([]string, error) {
	out := make([]string, len(all))
	for i, one := range all {
		s, ok := asText(one)
		if !ok {
			return nil, errors.New("an element of the list is not a text")
		}
		out[i] = s
	}
	slices.Sort(out)
	return out, nil
}

// isEmpty reports whether a value counts as false.
func isEmpty(v any) bool {
	r := reflect.ValueOf(v)
	switch r.Kind() {
	case reflect.Invalid:
		return true
	case reflect.Slice, reflect.Map, reflect.String:
		return r.Len() == 0
	}
	return r.IsZero()
}

func sprigDefault(otherwise any, given ...any) any {
	if len(given) == 0 || isEmpty(given[0]) {
		return otherwise
	}
	return given[0]
}

func coalesce(all ...any) any {
	for _, v := range all {
		if !isEmpty(v) {
			return v
		}
	}
	return nil
}

func ternary(yes, no any, condition any) any {
	if !isEmpty(condition) {
		return yes
	}
	return no
}
