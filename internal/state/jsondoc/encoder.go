// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package jsondoc

import (
	"encoding/json"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// Append appends the JSON of a value. It omits the fields of structs that are zero: most fields of
// a job are, and each would be written, read and checked again at every start. A decoder returns the
// value that it returns for the text of encoding/json. Equal values have equal texts.
func Append(b []byte, v any) ([]byte, error) {
	value := reflect.ValueOf(v)
	if !value.IsValid() {
		return append(b, "null"...), nil
	}
	return writerOf(value.Type())(b, value)
}

// A writer appends the JSON of a value of its type.
type writer func(b []byte, v reflect.Value) ([]byte, error)

var writers sync.Map // reflect.Type -> writer

func writerOf(t reflect.Type) writer {
	if known, ok := writers.Load(t); ok {
		return known.(writer)
	}
	known, _ := writers.LoadOrStore(t, buildWriter(t))
	return known.(writer)
}

// laterWriter returns the writer of a type that may be part of itself.
func laterWriter(t reflect.Type) writer {
	get := sync.OnceValue(func() writer { return writerOf(t) })
	return func(b []byte, v reflect.Value) ([]byte, error) { return get()(b, v) }
}

func buildWriter(t reflect.Type) writer {
	if decodesItself(t) || encodesItself(t) {
		return writeStandard
	}
	switch t.Kind() {
	case reflect.Bool:
		return func(b []byte, v reflect.Value) ([]byte, error) { return strconv.AppendBool(b, v.Bool()), nil }
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return func(b []byte, v reflect.Value) ([]byte, error) { return strconv.AppendInt(b, v.Int(), 10), nil }
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return func(b []byte, v reflect.Value) ([]byte, error) { return strconv.AppendUint(b, v.Uint(), 10), nil }
	case reflect.String:
		return func(b []byte, v reflect.Value) ([]byte, error) { return appendText(b, v.String()) }
	case reflect.Struct:
		return buildStructWriter(t)
	case reflect.Pointer:
		elem := laterWriter(t.Elem())
		return func(b []byte, v reflect.Value) ([]byte, error) {
			if v.IsNil() {
				return append(b, "null"...), nil
			}
			return elem(b, v.Elem())
		}
	case reflect.Slice:
		if t.Elem().Kind() != reflect.Uint8 { // bytes are base64
			return buildSliceWriter(t)
		}
	case reflect.Map:
		if t.Key() == reflect.TypeFor[string]() {
			return buildMapWriter(t)
		}
	case reflect.Interface:
		if t.NumMethod() == 0 {
			return func(b []byte, v reflect.Value) ([]byte, error) { return appendAny(b, v.Interface()) }
		}
	}
	return writeStandard
}

// encodesItself reports whether encoding/json calls a method of the type.
func encodesItself(t reflect.Type) bool {
	return reflect.PointerTo(t).Implements(reflect.TypeFor[json.Marshaler]()) ||
		reflect.PointerTo(t).Implements(reflect.TypeFor[interface{ MarshalText() ([]byte, error) }]())
}

// writeStandard leaves a value to encoding/json.
func writeStandard(b []byte, v reflect.Value) ([]byte, error) {
	if v.CanAddr() {
		v = v.Addr() // its methods may be those of the pointer
	}
	text, err := json.Marshal(v.Interface())
	return append(b, text...), err
}

func buildStructWriter(t reflect.Type) writer {
	type member struct {
		name      string // with quotes and colon
		index     int
		omitZero  bool
		omitEmpty bool
		write     writer
	}
	var members []member
	seen := map[string]bool{}
	for i := range t.NumField() {
		f := t.Field(i)
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case f.Anonymous || strings.Contains(options, "string"):
			return writeStandard
		case !f.IsExported() || name == "-":
			continue
		case name == "":
			name = f.Name
		}
		if seen[name] {
			return writeStandard
		}
		seen[name] = true
		members = append(members, member{`"` + name + `":`, i, isZeroOmitted(f.Type), strings.Contains(options, "omitempty"), laterWriter(f.Type)})
	}
	return func(b []byte, v reflect.Value) (_ []byte, err error) {
		b = append(b, '{')
		begin := len(b)
		for i := range members {
			m := &members[i]
			value := v.Field(m.index)
			if m.omitZero && value.IsZero() || m.omitEmpty && isEmpty(value) {
				continue
			}
			if len(b) > begin {
				b = append(b, ',')
			}
			if b, err = m.write(append(b, m.name...), value); err != nil {
				return b, err
			}
		}
		return append(b, '}'), nil
	}
}

// isZeroOmitted reports whether encoding/json decodes the text of the type's zero value to zero: a
// method of the type may write something else.
func isZeroOmitted(t reflect.Type) bool {
	text, err := json.Marshal(reflect.New(t).Interface())
	decoded := reflect.New(t)
	return err == nil && json.Unmarshal(text, decoded.Interface()) == nil && decoded.Elem().IsZero()
}

// isEmpty reports whether encoding/json omits the value of a field with omitempty.
func isEmpty(v reflect.Value) bool {
	switch v.Kind() {
	case reflect.Slice, reflect.Map, reflect.Array:
		return v.Len() == 0
	case reflect.Struct:
		return false
	}
	return v.IsZero()
}

func buildSliceWriter(t reflect.Type) writer {
	elem := laterWriter(t.Elem())
	return func(b []byte, v reflect.Value) (_ []byte, err error) {
		if v.IsNil() {
			return append(b, "null"...), nil
		}
		b = append(b, '[')
		for i := range v.Len() {
			if i > 0 {
				b = append(b, ',')
			}
			if b, err = elem(b, v.Index(i)); err != nil {
				return b, err
			}
		}
		return append(b, ']'), nil
	}
}

func buildMapWriter(t reflect.Type) writer {
	switch t {
	case reflect.TypeFor[map[string]string]():
		return func(b []byte, v reflect.Value) ([]byte, error) {
			return appendMap(b, v.Interface().(map[string]string), appendText)
		}
	case reflect.TypeFor[map[string]any]():
		return func(b []byte, v reflect.Value) ([]byte, error) {
			return appendMap(b, v.Interface().(map[string]any), appendAny)
		}
	}
	elem := laterWriter(t.Elem())
	return func(b []byte, v reflect.Value) ([]byte, error) {
		if v.IsNil() {
			return append(b, "null"...), nil
		}
		values := make(map[string]reflect.Value, v.Len())
		for it := v.MapRange(); it.Next(); {
			values[it.Key().String()] = it.Value()
		}
		return appendMap(b, values, elem)
	}
}

// appendMap appends a map, ordered by its keys.
func appendMap[T any](b []byte, m map[string]T, elem func([]byte, T) ([]byte, error)) (_ []byte, err error) {
	if m == nil {
		return append(b, "null"...), nil
	}
	var few [16]string
	names := few[:0]
	for name := range m {
		names = append(names, name)
	}
	slices.Sort(names)
	b = append(b, '{')
	for i, name := range names {
		if i > 0 {
			b = append(b, ',')
		}
		if b, err = appendText(b, name); err != nil {
			return b, err
		}
		if b, err = elem(append(b, ':'), m[name]); err != nil {
			return b, err
		}
	}
	return append(b, '}'), nil
}

// appendAny appends a value of the types that JSON decodes to, or of any other.
func appendAny(b []byte, value any) (_ []byte, err error) {
	switch value := value.(type) {
	case nil:
		return append(b, "null"...), nil
	case bool:
		return strconv.AppendBool(b, value), nil
	case string:
		return appendText(b, value)
	case map[string]any:
		return appendMap(b, value, appendAny)
	case []any:
		if value == nil {
			return append(b, "null"...), nil
		}
		b = append(b, '[')
		for i, e := range value {
			if i > 0 {
				b = append(b, ',')
			}
			if b, err = appendAny(b, e); err != nil {
				return b, err
			}
		}
		return append(b, ']'), nil
	}
	text, err := json.Marshal(value)
	return append(b, text...), err
}

// appendText appends a string. Those with characters that JSON or HTML treats specially are
// left to encoding/json, which replaces invalid text.
func appendText(b []byte, s string) ([]byte, error) {
	for i := range len(s) {
		if c := s[i]; c < ' ' || c > '~' || c == '"' || c == '\\' || c == '<' || c == '>' || c == '&' {
			text, err := json.Marshal(s)
			return append(b, text...), err
		}
	}
	b = append(b, '"')
	b = append(b, s...)
	return append(b, '"'), nil
}
