// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package jsondoc

import (
	"reflect"
	"strings"
)

// maxFields bounds the fields of a struct, so that a bit set notes those that were seen.
const maxFields = 128

type field struct {
	name  string
	index int
	plan  plan
}

func (d *Decoder) buildStruct(t reflect.Type) plan {
	var fields []field
	byName := map[string]int{}
	for i := range t.NumField() {
		f := t.Field(i)
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case f.Anonymous || strings.Contains(options, "string"):
			return d.other()
		case !f.IsExported() || name == "-":
			continue
		case name == "":
			name = f.Name
		}
		if _, twice := byName[name]; twice || len(fields) == maxFields {
			return d.other()
		}
		byName[name] = len(fields)
		fields = append(fields, field{name, i, d.later(f.Type)})
	}
	return func(r *reader, v reflect.Value) bool {
		if r.null() {
			return true
		}
		if !r.enter('{') {
			return false
		}
		if r.take('}') {
			return r.leave()
		}
		var seen [maxFields / 64]uint64
		next := 0 // the field behind the last one: names come in the order of the fields
		for {
			name, plain, ok := r.quoted()
			if !ok || !plain || !r.take(':') {
				return false
			}
			if next == len(fields) || fields[next].name != string(name) {
				if next, ok = byName[string(name)]; !ok {
					return false
				}
			}
			if bit := uint64(1) << (next % 64); seen[next/64]&bit == 0 {
				seen[next/64] |= bit
			} else {
				return false
			}
			if f := &fields[next]; !f.plan(r, v.Field(f.index)) {
				return false
			}
			next++
			if !r.take(',') {
				return r.take('}') && r.leave()
			}
		}
	}
}

func (d *Decoder) buildMap(t reflect.Type) plan {
	if t.Key() != reflect.TypeFor[string]() {
		return d.other()
	}
	switch t {
	case reflect.TypeFor[map[string]any]():
		return func(r *reader, v reflect.Value) bool {
			if r.null() {
				return true
			}
			m, ok := r.anyMap()
			*v.Addr().Interface().(*map[string]any) = m
			return ok
		}
	case reflect.TypeFor[map[string]string]():
		if d.strict {
			return ownTexts
		}
		return texts
	}
	elem := d.later(t.Elem())
	return func(r *reader, v reflect.Value) bool {
		if r.null() {
			return true
		}
		if !r.enter('{') {
			return false
		}
		v.Set(reflect.MakeMap(t))
		if r.take('}') {
			return r.leave()
		}
		for {
			name, ok := r.name()
			if !ok {
				return false
			}
			e := reflect.New(t.Elem()).Elem()
			if !elem(r, e) {
				return false
			}
			v.SetMapIndex(reflect.ValueOf(name), e)
			if !r.take(',') {
				return r.take('}') && r.leave()
			}
		}
	}
}

// ownTexts decodes a map of strings that no other value contains.
func ownTexts(r *reader, v reflect.Value) bool {
	if r.null() {
		return true
	}
	m := map[string]string{}
	*v.Addr().Interface().(*map[string]string) = m
	return r.texts(m)
}

// texts decodes a map of strings. Short ones, such as an owner or an environment's name, occur
// in many jobs, and the smallest map takes 336 bytes: equal ones are one map.
func texts(r *reader, v reflect.Value) bool {
	if r.null() {
		return true
	}
	begin := r.at
	raw, ok := r.value()
	if !ok {
		return false
	}
	var entry *sharedObject
	if len(raw) <= maxSharedTexts {
		if entry = r.pool.object(v.Type(), raw); entry.object.IsValid() {
			v.Set(entry.object)
			return true
		}
	}
	r.at = begin
	m := map[string]string{}
	*v.Addr().Interface().(*map[string]string) = m
	if !r.texts(m) {
		return false
	}
	if entry != nil {
		r.pool.keep(entry, r.text[begin:r.at], reflect.ValueOf(m))
	}
	return true
}

func (r *reader) texts(m map[string]string) bool {
	if !r.enter('{') {
		return false
	}
	if r.take('}') {
		return r.leave()
	}
	for {
		name, ok := r.name()
		if !ok {
			return false
		}
		if r.null() {
			m[name] = ""
		} else if m[name], ok = r.str(); !ok {
			return false
		}
		if !r.take(',') {
			return r.take('}') && r.leave()
		}
	}
}
