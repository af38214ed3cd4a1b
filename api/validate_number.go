// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package api

import (
	"fmt"
	"math"
	"reflect"
	"strings"
	"time"
)

// Bounds of all numbers of a job. Whatever is computed with a few of them
// neither overflows nor passes the last time that there is.
const (
	maxNumber   = math.MaxInt32
	maxDuration = 10 * 365 * 24 * time.Hour
)

// serverNumbers are fields that servers set, and users do not.
var serverNumbers = map[string]bool{
	"Version": true, "SubmitTime": true, "CreateIndex": true, "ModifyIndex": true, "JobModifyIndex": true, "TaggedTime": true,
}

// validateNumbers complains about every number that is out of all proportion,
// wherever it is: what a number means, and which are too small or too large for
// that, is checked beside it.
func (j *Job) validateNumbers(c *complaints) {
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

// numbers looks at a value and everything in it. Maps of free values, such as a
// driver's config, are their reader's matter.
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
			if f.IsExported() && !serverNumbers[f.Name] && f.Type != reflect.TypeFor[time.Time]() {
				c.numbers(at, strings.TrimPrefix(path+"."+snake(f), "."), field)
			}
		}
	}
}

// snake is a field's name as job files write it, more or less.
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
