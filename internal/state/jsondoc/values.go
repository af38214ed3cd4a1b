// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package jsondoc

import (
	"reflect"
	"strconv"
)

func boolean(r *reader, v reflect.Value) bool {
	switch {
	case r.word("true"):
		v.SetBool(true)
	case r.word("false"), r.null():
	default:
		return false
	}
	return true
}

func integer(r *reader, v reflect.Value) bool {
	if r.null() {
		return true
	}
	number, whole, ok := r.number()
	if !ok || !whole {
		return false
	}
	n, err := strconv.ParseInt(string(number), 10, v.Type().Bits())
	v.SetInt(n)
	return err == nil
}

func unsigned(r *reader, v reflect.Value) bool {
	if r.null() {
		return true
	}
	number, whole, ok := r.number()
	if !ok || !whole {
		return false
	}
	n, err := strconv.ParseUint(string(number), 10, v.Type().Bits())
	v.SetUint(n)
	return err == nil
}

func float(r *reader, v reflect.Value) bool {
	if r.null() {
		return true
	}
	f, ok := r.float()
	v.SetFloat(f)
	return ok
}

func (r *reader) float() (float64, bool) {
	number, _, ok := r.number()
	if !ok {
		return 0, false
	}
	f, err := strconv.ParseFloat(string(number), 64)
	return f, err == nil
}

func text(r *reader, v reflect.Value) bool {
	if r.null() {
		return true
	}
	s, ok := r.str()
	v.SetString(s)
	return ok
}

// anything decodes a value into an interface.
func anything(r *reader, v reflect.Value) bool {
	value, ok := r.any()
	if ok && value != nil {
		v.Set(reflect.ValueOf(value))
	}
	return ok
}

func (r *reader) any() (any, bool) {
	if r.at == len(r.text) {
		return nil, false
	}
	switch r.text[r.at] {
	case '{':
		return r.anyMap()
	case '[':
		return r.anyList()
	case '"':
		return r.str()
	case 't':
		return true, r.word("true")
	case 'f':
		return false, r.word("false")
	case 'n':
		return nil, r.null()
	}
	return r.float()
}

func (r *reader) anyMap() (map[string]any, bool) {
	if !r.enter('{') {
		return nil, false
	}
	m := map[string]any{}
	if r.take('}') {
		return m, r.leave()
	}
	for {
		name, ok := r.name()
		if !ok {
			return nil, false
		}
		value, ok := r.any()
		if !ok {
			return nil, false
		}
		m[name] = value
		if !r.take(',') {
			return m, r.take('}') && r.leave()
		}
	}
}

func (r *reader) anyList() ([]any, bool) {
	if !r.enter('[') {
		return nil, false
	}
	list := []any{}
	if r.take(']') {
		return list, r.leave()
	}
	for {
		value, ok := r.any()
		if !ok {
			return nil, false
		}
		list = append(list, value)
		if !r.take(',') {
			return list, r.take(']') && r.leave()
		}
	}
}

// name consumes a name of an object and the colon.
func (r *reader) name() (string, bool) {
	name, ok := r.str()
	return name, ok && r.take(':')
}
