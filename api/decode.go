// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package api

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"reflect"
	"slices"
	"strings"
	"time"
)

// DecodeJSON decodes one JSON value into v, a pointer. It accepts the same input as
// encoding/json, and additionally durations as strings ("30s") besides integer
// nanoseconds. It returns unknown keys as warnings. For a value of the wrong type, a null
// in place of an object, or malformed JSON, it returns an *Error of CodeInvalid that names
// the field or the line, and v is unchanged.
func DecodeJSON(data []byte, v any) (warnings []string, err error) {
	return DecodeJSONWith(nil, data, v)
}

// DecodeJSONWith is DecodeJSON with a faster decoder, which is tried first. fill decodes a text into
// the zero value that v points to, exactly as encoding/json does if the text has no unknown key; it
// returns false to leave the text to encoding/json.
func DecodeJSONWith(fill func(text []byte, v any) bool, data []byte, v any) (warnings []string, err error) {
	target := reflect.ValueOf(v).Elem()
	fresh := reflect.New(target.Type())
	if fill != nil {
		text := bytes.TrimRight(data, " \t\r\n")
		if fill(text, fresh.Interface()) && (!bytes.Contains(text, []byte("null")) || !holdsNull(fresh)) {
			target.Set(fresh.Elem())
			return nil, nil
		}
		fresh = reflect.New(target.Type())
	}
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	if err := d.Decode(fresh.Interface()); err == nil && d.InputOffset() == int64(len(bytes.TrimRight(data, " \t\r\n"))) &&
		(!bytes.Contains(data, []byte("null")) || !holdsNull(fresh)) {
		target.Set(fresh.Elem())
		return nil, nil
	}
	return decodeSlowly(data, target)
}

// decodeSlowly finds deviations from the type and their paths.
func decodeSlowly(data []byte, target reflect.Value) ([]string, error) {
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	var tree any
	if err := d.Decode(&tree); err != nil {
		return nil, syntaxError(data, err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, Errorf(CodeInvalid, "there is more after the end of the JSON value, at line %d", lineAt(data, d.InputOffset()))
	}
	w := jsonWalk{}
	tree = w.value("", tree, target.Type())
	if len(w.problems) > 0 {
		e := Errorf(CodeInvalid, "the request's JSON has wrong values")
		e.Detail = w.problems
		return nil, e
	}
	clean, err := json.Marshal(tree)
	if err != nil {
		return nil, Errorf(CodeInvalid, "the request's JSON cannot be read: %v", err)
	}
	fresh := reflect.New(target.Type())
	if err := json.Unmarshal(clean, fresh.Interface()); err != nil {
		return nil, syntaxError(clean, err)
	}
	target.Set(fresh.Elem())
	return w.unknown, nil
}

func syntaxError(data []byte, err error) error {
	var syntax *json.SyntaxError
	var wrong *json.UnmarshalTypeError
	switch {
	case errors.Is(err, io.EOF):
		return Errorf(CodeInvalid, "the request has no body; a JSON object is expected")
	case errors.Is(err, io.ErrUnexpectedEOF):
		return Errorf(CodeInvalid, "the JSON ends too early, at line %d", lineAt(data, int64(len(data))))
	case errors.As(err, &syntax):
		return Errorf(CodeInvalid, "the JSON is broken at line %d: %v", lineAt(data, syntax.Offset), err)
	case errors.As(err, &wrong):
		return Errorf(CodeInvalid, "%s: a %s does not fit", wrong.Field, wrong.Value)
	}
	return Errorf(CodeInvalid, "the JSON cannot be read: %v", err)
}

func lineAt(data []byte, offset int64) int {
	return 1 + bytes.Count(data[:min(int(offset), len(data))], []byte("\n"))
}

// A jsonWalk compares a JSON tree with its target type.
type jsonWalk struct {
	unknown  []string
	problems []string
}

var (
	durationType = reflect.TypeFor[time.Duration]()
	timeType     = reflect.TypeFor[time.Time]()
	bytesType    = reflect.TypeFor[[]byte]()
)

func (w *jsonWalk) wrong(path, want string, got any) any {
	if path == "" {
		path = "the value"
	}
	w.problems = append(w.problems, fmt.Sprintf("%s must be %s, not %s", path, want, describeJSON(got)))
	return nil
}

func describeJSON(v any) string {
	switch v := v.(type) {
	case nil:
		return "null"
	case map[string]any:
		return "an object"
	case []any:
		return "a list"
	case string:
		if len(v) > 40 {
			v = v[:40] + "..."
		}
		return fmt.Sprintf("the string %q", v)
	}
	return fmt.Sprint(v)
}

// value converts v to the form that encoding/json accepts for type t.
func (w *jsonWalk) value(path string, v any, t reflect.Type) any {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if v == nil {
		return nil
	}
	switch {
	case t == durationType:
		return w.duration(path, v)
	case t == timeType, t == bytesType:
		if _, ok := v.(string); !ok {
			return w.wrong(path, "a string", v)
		}
		return v
	}
	switch t.Kind() {
	case reflect.Struct:
		return w.object(path, v, t)
	case reflect.Map:
		object, ok := v.(map[string]any)
		if !ok {
			return w.wrong(path, "an object", v)
		}
		for _, k := range slices.Sorted(maps.Keys(object)) { // problems are listed in one order
			e := object[k]
			if e == nil && t.Elem().Kind() == reflect.Pointer {
				w.wrong(path+"."+k, "an object", nil)
			}
			object[k] = w.value(path+"."+k, e, t.Elem())
		}
		return object
	case reflect.Slice:
		list, ok := v.([]any)
		if !ok {
			return w.wrong(path, "a list", v)
		}
		for i, e := range list {
			at := fmt.Sprintf("%s[%d]", path, i)
			if e == nil && t.Elem().Kind() == reflect.Pointer {
				w.wrong(at, "an object", nil)
			}
			list[i] = w.value(at, e, t.Elem())
		}
		return list
	case reflect.String:
		if _, ok := v.(string); !ok {
			return w.wrong(path, "a string", v)
		}
	case reflect.Bool:
		if _, ok := v.(bool); !ok {
			return w.wrong(path, "true or false", v)
		}
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64,
		reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return w.integer(path, v, t)
	case reflect.Float32, reflect.Float64:
		if _, ok := v.(json.Number); !ok {
			return w.wrong(path, "a number", v)
		}
	}
	return v
}

func (w *jsonWalk) duration(path string, v any) any {
	switch v := v.(type) {
	case json.Number:
		if _, err := v.Int64(); err == nil {
			return v
		}
	case string:
		if v == "" {
			return 0 // Nomad's clients send it for an unset duration
		}
		if d, err := time.ParseDuration(v); err == nil {
			return int64(d)
		}
	}
	return w.wrong(path, `a duration: nanoseconds, or a string such as "30s"`, v)
}

func (w *jsonWalk) integer(path string, v any, t reflect.Type) any {
	n, ok := v.(json.Number)
	if !ok {
		return w.wrong(path, "a whole number", v)
	}
	if err := json.Unmarshal([]byte(n), reflect.New(t).Interface()); err == nil {
		return v
	}
	// 3.0 and 1e3 are whole numbers too, which encoding/json rejects.
	if f, err := n.Float64(); err == nil && f == math.Trunc(f) && math.Abs(f) < 1<<53 {
		whole := fmt.Sprintf("%.0f", f)
		if json.Unmarshal([]byte(whole), reflect.New(t).Interface()) == nil {
			return json.Number(whole)
		}
	}
	return w.wrong(path, "a whole number that fits "+t.Kind().String(), v)
}

func (w *jsonWalk) object(path string, v any, t reflect.Type) any {
	object, ok := v.(map[string]any)
	if !ok {
		return w.wrong(path, "an object", v)
	}
	fields := jsonFields(t)
	keys := make([]string, 0, len(object))
	for k := range object {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	for _, k := range keys {
		at := k
		if path != "" {
			at = path + "." + k
		}
		f, known := fields[strings.ToLower(k)]
		if !known {
			w.unknown = append(w.unknown, at+" is not a known field and was ignored")
			delete(object, k)
			continue
		}
		object[k] = w.value(at, object[k], f)
	}
	return object
}

// jsonFields returns field types by lower-case JSON key, with embedded structs flattened
// as in encoding/json.
func jsonFields(t reflect.Type) map[string]reflect.Type {
	fields := map[string]reflect.Type{}
	for f := range reflectFields(t) {
		fields[strings.ToLower(jsonName(f))] = f.Type
	}
	return fields
}
