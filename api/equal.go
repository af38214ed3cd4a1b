// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package api

import "reflect"

// SpecEqual reports whether two canonicalized jobs have equal user-written fields, so that
// registering one over the other changes nothing.
func SpecEqual(a, b *Job) bool {
	if a == nil || b == nil {
		return a == b
	}
	x, y := a.spec(), b.spec()
	return equal(reflect.ValueOf(x), reflect.ValueOf(y))
}

// PeriodicEqual reports whether two canonicalized periodic blocks are equal.
func PeriodicEqual(a, b *Periodic) bool {
	return equal(reflect.ValueOf(a), reflect.ValueOf(b))
}

// spec returns the job without the fields that the server writes.
func (j *Job) spec() Job {
	s := *j
	s.Status, s.StatusDescription, s.Stable, s.Version = "", "", false, 0
	s.SubmitTime, s.CreateIndex, s.ModifyIndex, s.JobModifyIndex = 0, 0, 0, 0
	s.VersionTag, s.NomadTokenID, s.Failure, s.Held, s.HeldReason = nil, "", nil, false, ""
	return s
}

// equal is reflect.DeepEqual with two exceptions. Nil and empty slices and maps are equal.
// Numbers of different types in driver configs are equal, because their types depend only
// on the source format.
func equal(x, y reflect.Value) bool {
	if x.IsValid() != y.IsValid() {
		return false
	}
	if !x.IsValid() {
		return true
	}
	if x.Type() != y.Type() {
		return isNumber(x) && isNumber(y) && asFloat(x) == asFloat(y)
	}
	switch x.Kind() {
	case reflect.Pointer, reflect.Interface:
		if x.IsNil() || y.IsNil() {
			return x.IsNil() == y.IsNil()
		}
		return equal(x.Elem(), y.Elem())
	case reflect.Struct:
		for i := range x.NumField() {
			if !equal(x.Field(i), y.Field(i)) {
				return false
			}
		}
		return true
	case reflect.Slice:
		if x.Len() != y.Len() {
			return false
		}
		for i := range x.Len() {
			if !equal(x.Index(i), y.Index(i)) {
				return false
			}
		}
		return true
	case reflect.Map:
		if x.Len() != y.Len() {
			return false
		}
		for it := x.MapRange(); it.Next(); {
			v := y.MapIndex(it.Key())
			if !v.IsValid() || !equal(it.Value(), v) {
				return false
			}
		}
		return true
	}
	return x.Equal(y)
}

func isNumber(v reflect.Value) bool {
	return v.CanInt() || v.CanUint() || v.CanFloat()
}

func asFloat(v reflect.Value) float64 {
	switch {
	case v.CanInt():
		return float64(v.Int())
	case v.CanUint():
		return float64(v.Uint())
	}
	return v.Float()
}
