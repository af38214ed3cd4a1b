// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package api

import "reflect"

// Copy returns a deep copy: nothing in it is shared with j.
func (j *Job) Copy() *Job {
	if j == nil {
		return nil
	}
	return deepCopy(reflect.ValueOf(j)).Interface().(*Job)
}

// deepCopy returns a copy of a pointer, slice or map of any type that encoding/json supports, and of all
// that it leads to. This package has no functions or channels.
func deepCopy(v reflect.Value) reflect.Value {
	c := reflect.New(v.Type()).Elem()
	c.Set(v)
	unshare(c)
	return c
}

// unshare replaces everything that a settable value shares with the value that it was copied from by copies.
func unshare(v reflect.Value) {
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			c := reflect.New(v.Type().Elem())
			c.Elem().Set(v.Elem())
			unshare(c.Elem())
			v.Set(c)
		}
	case reflect.Interface:
		if !v.IsNil() && !isFlat(v.Elem().Kind()) {
			v.Set(deepCopy(v.Elem()))
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if f := v.Field(i); !isFlat(f.Kind()) && f.CanSet() {
				unshare(f)
			}
		}
	case reflect.Slice:
		if !v.IsNil() {
			c := reflect.MakeSlice(v.Type(), v.Len(), v.Len())
			reflect.Copy(c, v)
			v.Set(c)
			unshareElements(v)
		}
	case reflect.Array:
		unshareElements(v)
	case reflect.Map:
		if !v.IsNil() {
			v.Set(copyMap(v))
		}
	}
}

func unshareElements(v reflect.Value) {
	if isFlat(v.Type().Elem().Kind()) {
		return
	}
	for i := range v.Len() {
		unshare(v.Index(i))
	}
}

func copyMap(v reflect.Value) reflect.Value {
	c := reflect.MakeMapWithSize(v.Type(), v.Len())
	flat := isFlat(v.Type().Elem().Kind())
	for it := v.MapRange(); it.Next(); {
		value := it.Value()
		if !flat {
			value = deepCopy(value)
		}
		c.SetMapIndex(it.Key(), value)
	}
	return c
}

func isFlat(k reflect.Kind) bool {
	return k <= reflect.Complex128 || k == reflect.String
}
