// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package api

import (
	"reflect"
	"sync"
)

// holdsNull reports whether a list or map in v has a nil pointer as an element, which is
// the result of a JSON null in place of an object. Clients write null for every unset
// field, so every registration takes this path. holdsNull therefore examines only fields
// that can contain such elements.
func holdsNull(v reflect.Value) bool {
	switch v.Kind() {
	case reflect.Pointer:
		return !v.IsNil() && holdsNull(v.Elem())
	case reflect.Struct:
		for _, i := range fieldsThatHoldNull(v.Type()) {
			if holdsNull(v.Field(i)) {
				return true
			}
		}
	case reflect.Slice:
		for i := range v.Len() {
			if e := v.Index(i); isNilPointer(e) || holdsNull(e) {
				return true
			}
		}
	case reflect.Map:
		for i := v.MapRange(); i.Next(); {
			if e := i.Value(); isNilPointer(e) || holdsNull(e) {
				return true
			}
		}
	}
	return false
}

func isNilPointer(v reflect.Value) bool { return v.Kind() == reflect.Pointer && v.IsNil() }

// nullFields caches, for each struct type, the fields to examine.
var nullFields sync.Map // reflect.Type -> []int

func fieldsThatHoldNull(t reflect.Type) []int {
	if known, ok := nullFields.Load(t); ok {
		return known.([]int)
	}
	var fields []int
	for i := range t.NumField() {
		if canHoldNull(t.Field(i).Type) {
			fields = append(fields, i)
		}
	}
	nullFields.Store(t, fields)
	return fields
}

// canHoldNull reports whether a value of the type can contain a list or map of pointers.
func canHoldNull(t reflect.Type) bool { return reaches(t, map[reflect.Type]bool{}) }

func reaches(t reflect.Type, seen map[reflect.Type]bool) bool {
	if seen[t] || t == timeType {
		return false
	}
	seen[t] = true
	switch t.Kind() {
	case reflect.Pointer:
		return reaches(t.Elem(), seen)
	case reflect.Slice, reflect.Map:
		return t.Elem().Kind() == reflect.Pointer || reaches(t.Elem(), seen)
	case reflect.Struct:
		for i := range t.NumField() {
			if reaches(t.Field(i).Type, seen) {
				return true
			}
		}
	}
	return false
}
