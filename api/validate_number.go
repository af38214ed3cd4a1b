// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package api

import (
	"fmt"
	"math"
	"reflect"
	"strings"
	"sync"
	"time"
)

// Bounds of all numbers of a job. Computations with a few such numbers neither overflow nor
// exceed the latest representable time.
const (
	maxNumber   = math.MaxInt32
	maxDuration = 10 * 365 * 24 * time.Hour
)

// serverNumbers are fields that servers set, and users do not.
var serverNumbers = map[string]bool{
	"Version": true, "SubmitTime": true, "CreateIndex": true, "ModifyIndex": true, "JobModifyIndex": true, "TaggedTime": true,
}

// validateNumbers reports every number that exceeds the bounds, in all fields. The stricter
// bounds of each field are checked with that field.
func (j *Job) validateNumbers(c *complaints) {
	if areBounded(reflect.ValueOf(j).Elem()) {
		return // true for nearly every job; it avoids building names
	}
	own := *j
	own.Groups = nil
	c.numbers("", "", reflect.ValueOf(own))
	for _, g := range j.Groups {
		if g == nil {
			continue
		}
		at := fmt.Sprintf("group %q: ", g.Name)
		group := *g
		group.Tasks = nil
		c.numbers(at, "", reflect.ValueOf(group))
		for _, t := range g.Tasks {
			if t != nil {
				c.numbers(fmt.Sprintf("group %q, task %q: ", g.Name, t.Name), "", reflect.ValueOf(*t))
			}
		}
	}
}

// areBounded reports whether all numbers of the value are within the bounds.
func areBounded(v reflect.Value) bool {
	switch {
	case v.Type() == durationType:
		return v.Int() <= int64(maxDuration) && v.Int() >= -int64(maxDuration)
	case v.CanInt():
		return v.Int() <= maxNumber && v.Int() >= -maxNumber
	case v.CanUint():
		return v.Uint() <= maxNumber
	case v.CanFloat():
		return math.Abs(v.Float()) <= maxNumber // false for NaN
	}
	switch v.Kind() {
	case reflect.Pointer:
		return v.IsNil() || areBounded(v.Elem())
	case reflect.Slice:
		if !mayHoldNumbers(v.Type().Elem()) {
			return true
		}
		for i := range v.Len() {
			if !areBounded(v.Index(i)) {
				return false
			}
		}
	case reflect.Struct:
		for _, i := range numberFields(v.Type()) {
			if !areBounded(v.Field(i)) {
				return false
			}
		}
	}
	return true
}

// fieldsByType caches numberFields.
var fieldsByType sync.Map // reflect.Type -> []int

// numberFields returns the indexes of a struct's fields that may hold numbers and are set by
// users.
func numberFields(t reflect.Type) []int {
	if known, ok := fieldsByType.Load(t); ok {
		return known.([]int)
	}
	var fields []int
	for i := range t.NumField() {
		if f := t.Field(i); isUsersField(f) && mayHoldNumbers(f.Type) {
			fields = append(fields, i)
		}
	}
	fieldsByType.Store(t, fields)
	return fields
}

// mayHoldNumbers reports whether values of the type are numbers or contain some.
func mayHoldNumbers(t reflect.Type) bool {
	switch t.Kind() {
	case reflect.Pointer:
		return mayHoldNumbers(t.Elem())
	case reflect.Slice:
		return t.Elem().Kind() != reflect.Uint8 && mayHoldNumbers(t.Elem())
	case reflect.Struct:
		return len(numberFields(t)) > 0
	}
	v := reflect.Zero(t)
	return v.CanInt() || v.CanUint() || v.CanFloat()
}

// isUsersField reports whether users set the field.
func isUsersField(f reflect.StructField) bool {
	return f.IsExported() && !serverNumbers[f.Name] && f.Type != reflect.TypeFor[time.Time]()
}

// numbers checks a value and everything in it, except for maps of free values, such as a
// driver's config.
func (c *complaints) numbers(at, path string, v reflect.Value) {
	switch {
	case v.Type() == durationType:
		if d := time.Duration(v.Int()); d > maxDuration || d < -maxDuration {
			c.add("%s%s %s: a duration is at most %d days", at, path, d, maxDuration/(24*time.Hour))
		}
		return
	case v.CanInt():
		if n := v.Int(); n > maxNumber || n < -maxNumber {
			c.add("%s%s %d: a number is at most %d", at, path, n, maxNumber)
		}
		return
	case v.CanUint():
		if n := v.Uint(); n > maxNumber {
			c.add("%s%s %d: a number is at most %d", at, path, n, maxNumber)
		}
		return
	case v.CanFloat():
		if f := v.Float(); math.IsNaN(f) || math.Abs(f) > maxNumber {
			c.add("%s%s %g: a number is at most %d", at, path, f, maxNumber)
		}
		return
	}
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			c.numbers(at, path, v.Elem())
		}
	case reflect.Slice:
		if v.Type().Elem().Kind() == reflect.Uint8 {
			return
		}
		for i := range v.Len() {
			c.numbers(at, fmt.Sprintf("%s[%d]", path, i), v.Index(i))
		}
	case reflect.Struct:
		for f, field := range v.Fields() {
			if isUsersField(f) {
				c.numbers(at, strings.TrimPrefix(path+"."+snake(f), "."), field)
			}
		}
	}
}

// snake returns a field's approximate name in job files.
func snake(f reflect.StructField) string {
	var b strings.Builder
	small := false
	for _, r := range f.Name {
		upper := r >= 'A' && r <= 'Z'
		if upper && small {
			b.WriteByte('_')
		}
		small = !upper
		b.WriteRune(r)
	}
	return strings.ToLower(b.String())
}
