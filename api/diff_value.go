// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package api

import (
	"cmp"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"
)

// A differ compares values of any shape. A zero reflect.Value represents a missing block.
type differ struct {
	contextual bool
}

// changes is structs without the unchanged fields.
func (d differ) changes(old, new reflect.Value, skip map[string]bool) ([]*FieldDiff, []*ObjectDiff) {
	fields, objects := d.structs(old, new, skip)
	return slices.DeleteFunc(fields, func(f *FieldDiff) bool { return f.Type == DiffNone }), objects
}

// structs compares two structs of one type, except for the named fields. A field that a
// job's JSON omits while it is empty is also omitted from the diff, unless it changed: an
// unset field tells readers nothing, and readers of Nomad's diffs do not know it.
func (d differ) structs(old, new reflect.Value, skip map[string]bool) ([]*FieldDiff, []*ObjectDiff) {
	var fields []*FieldDiff
	var objects []*ObjectDiff
	t := typeOf(old, new)
	if t == nil {
		return nil, nil
	}
	for f := range reflectFields(t) {
		name := jsonName(f)
		if skip[name] {
			continue
		}
		was, is := fieldOf(old, f), fieldOf(new, f)
		if isOptional(f) && isEmpty(was) && isEmpty(is) {
			continue
		}
		fs, os := d.value(name, was, is)
		fields, objects = append(fields, fs...), append(objects, os...)
	}
	slices.SortStableFunc(fields, func(a, b *FieldDiff) int { return cmp.Compare(a.Name, b.Name) })
	slices.SortStableFunc(objects, func(a, b *ObjectDiff) int { return cmp.Compare(a.Name, b.Name) })
	return fields, objects
}

func isOptional(f reflect.StructField) bool {
	_, options, _ := strings.Cut(f.Tag.Get("json"), ",")
	return options == "omitempty"
}

// isEmpty reports whether a value is missing or zero.
func isEmpty(v reflect.Value) bool {
	v = dereference(v)
	return !v.IsValid() || v.IsZero()
}

func fieldOf(v reflect.Value, f reflect.StructField) reflect.Value {
	if !v.IsValid() {
		return v
	}
	return v.FieldByIndex(f.Index)
}

func typeOf(old, new reflect.Value) reflect.Type {
	if new.IsValid() {
		return new.Type()
	}
	if old.IsValid() {
		return old.Type()
	}
	return nil
}

// value compares one named value. The form of the result depends on the value's shape.
func (d differ) value(name string, old, new reflect.Value) ([]*FieldDiff, []*ObjectDiff) {
	old, new = dereference(old), dereference(new)
	t := typeOf(old, new)
	if t == nil {
		return nil, nil
	}
	switch {
	case t.Kind() == reflect.Struct && t != timeType:
		return nil, d.object(name, old, new)
	case t.Kind() == reflect.Map && t.Elem().Kind() == reflect.String:
		return d.stringMap(name, old, new), nil
	case t.Kind() == reflect.Map && t.Elem().Kind() == reflect.Pointer:
		return nil, d.objectMap(name, old, new)
	case t.Kind() == reflect.Map:
		return nil, d.freeForm(name, old, new)
	case t.Kind() == reflect.Slice && isBlock(t.Elem()):
		return nil, d.objectList(name, old, new)
	case t.Kind() == reflect.Slice && t != bytesType:
		return nil, d.plainList(name, old, new)
	}
	return d.field(name, show(old), show(new)), nil
}

func isBlock(t reflect.Type) bool {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	return t.Kind() == reflect.Struct
}

func dereference(v reflect.Value) reflect.Value {
	for v.IsValid() && (v.Kind() == reflect.Pointer || v.Kind() == reflect.Interface) {
		v = v.Elem()
	}
	return v
}

func (d differ) field(name, old, new string) []*FieldDiff {
	f := &FieldDiff{Name: name, Old: old, New: new}
	switch {
	case old == new:
		if !d.contextual || old == "" {
			return nil
		}
		f.Type = DiffNone
	case old == "":
		f.Type = DiffAdded
	case new == "":
		f.Type = DiffDeleted
	default:
		f.Type = DiffEdited
	}
	return []*FieldDiff{f}
}

// show returns a plain value in readable form; "" for a missing value.
func show(v reflect.Value) string {
	v = dereference(v)
	if !v.IsValid() {
		return ""
	}
	switch x := v.Interface().(type) {
	case time.Duration:
		return x.String()
	case time.Time:
		return x.Format(time.RFC3339)
	case []byte:
		return base64.StdEncoding.EncodeToString(x)
	case json.Number:
		return x.String()
	}
	switch v.Kind() {
	case reflect.String:
		return v.String()
	case reflect.Bool:
		return strconv.FormatBool(v.Bool())
	}
	return fmt.Sprint(v.Interface())
}

func (d differ) object(name string, old, new reflect.Value) []*ObjectDiff {
	o := &ObjectDiff{Type: kindOf(!old.IsValid(), !new.IsValid()), Name: name}
	o.Fields, o.Objects = d.structs(old, new, nil)
	return d.keep(o)
}

// keep drops an object without changes.
func (d differ) keep(o *ObjectDiff) []*ObjectDiff {
	if o.Type == DiffEdited && !changed(o.Fields, o.Objects) {
		o.Type = DiffNone
	}
	if o.Type == DiffNone {
		return nil
	}
	return []*ObjectDiff{o}
}

func (d differ) stringMap(name string, old, new reflect.Value) []*FieldDiff {
	var fields []*FieldDiff
	for _, k := range keysOf(old, new) {
		fields = append(fields, d.field(name+"["+k+"]", show(entry(old, k)), show(entry(new, k)))...)
	}
	return fields
}

func (d differ) objectMap(name string, old, new reflect.Value) []*ObjectDiff {
	var objects []*ObjectDiff
	for _, k := range keysOf(old, new) {
		objects = append(objects, d.object(name+"["+k+"]", dereference(entry(old, k)), dereference(entry(new, k)))...)
	}
	return objects
}

func entry(m reflect.Value, k string) reflect.Value {
	if !m.IsValid() {
		return m
	}
	return m.MapIndex(reflect.ValueOf(k))
}

func keysOf(maps ...reflect.Value) []string {
	var keys []string
	for _, m := range maps {
		if m.IsValid() {
			for _, k := range m.MapKeys() {
				keys = append(keys, k.String())
			}
		}
	}
	slices.Sort(keys)
	return slices.Compact(keys)
}

// freeForm compares values without a schema, such as a driver's config, leaf by
// leaf.
func (d differ) freeForm(name string, old, new reflect.Value) []*ObjectDiff {
	before, after := map[string]string{}, map[string]string{}
	flatten("", old, before)
	flatten("", new, after)
	o := &ObjectDiff{Type: kindOf(len(before) == 0, len(after) == 0), Name: name}
	o.Fields = d.stringMapFlat(before, after)
	return d.keep(o)
}

func (d differ) stringMapFlat(before, after map[string]string) []*FieldDiff {
	var fields []*FieldDiff
	for _, k := range keysOf(reflect.ValueOf(before), reflect.ValueOf(after)) {
		fields = append(fields, d.field(k, before[k], after[k])...)
	}
	return fields
}

func flatten(path string, v reflect.Value, into map[string]string) {
	v = dereference(v)
	if !v.IsValid() {
		return
	}
	switch v.Kind() {
	case reflect.Map:
		for _, k := range keysOf(v) {
			at := k
			if path != "" {
				at = path + "." + k
			}
			flatten(at, entry(v, k), into)
		}
	case reflect.Slice:
		for i := range v.Len() {
			flatten(fmt.Sprintf("%s[%d]", path, i), v.Index(i), into)
		}
	default:
		into[path] = show(v)
	}
}

// plainList compares lists of plain values as sets that keep their order.
func (d differ) plainList(name string, old, new reflect.Value) []*ObjectDiff {
	before, after := listOf(old), listOf(new)
	o := &ObjectDiff{Type: kindOf(len(before) == 0, len(after) == 0), Name: name}
	for _, v := range before {
		if slices.Contains(after, v) {
			o.Fields = append(o.Fields, d.field(name, v, v)...)
		} else {
			o.Fields = append(o.Fields, d.field(name, v, "")...)
		}
	}
	for _, v := range after {
		if !slices.Contains(before, v) {
			o.Fields = append(o.Fields, d.field(name, "", v)...)
		}
	}
	if o.Type == DiffEdited && !changed(o.Fields, nil) && !slices.Equal(before, after) {
		o.Fields = d.field(name, fmt.Sprint(before), fmt.Sprint(after)) // only the order changed
	}
	return d.keep(o)
}

func listOf(v reflect.Value) []string {
	if !v.IsValid() {
		return nil
	}
	list := make([]string, v.Len())
	for i := range list {
		list[i] = show(v.Index(i))
	}
	return list
}

// objectList compares lists of blocks: those with a name by name, others as
// sets.
func (d differ) objectList(name string, old, new reflect.Value) []*ObjectDiff {
	var objects []*ObjectDiff
	rest := blocksOf(new)
	for _, o := range blocksOf(old) {
		i := slices.IndexFunc(rest, func(n reflect.Value) bool { return sameBlock(o, n) })
		if i < 0 {
			objects = append(objects, d.object(name, o, reflect.Value{})...)
			continue
		}
		objects = append(objects, d.object(name, o, rest[i])...)
		rest = slices.Delete(rest, i, i+1)
	}
	for _, n := range rest {
		objects = append(objects, d.object(name, reflect.Value{}, n)...)
	}
	return objects
}

func blocksOf(v reflect.Value) []reflect.Value {
	if !v.IsValid() {
		return nil
	}
	blocks := make([]reflect.Value, 0, v.Len())
	for i := range v.Len() {
		blocks = append(blocks, dereference(v.Index(i)))
	}
	return blocks
}

// sameBlock reports whether a and b are the same block of a list, before and after the
// change.
func sameBlock(a, b reflect.Value) bool {
	for _, key := range []string{"Name", "Label", "Attribute"} {
		if f := a.FieldByName(key); f.IsValid() && f.Kind() == reflect.String {
			return f.String() == b.FieldByName(key).String()
		}
	}
	if a.Type() == reflect.TypeFor[Network]() {
		return true // the list has at most one
	}
	return equal(a, b)
}
