// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"encoding"
	"reflect"
	"strings"
	"time"

	"github.com/reeve-run/reeve/api"
)

// schemas collects the JSON schemas of Go types by reflection, under the
// types' names.
type schemas map[string]any

type object = map[string]any

// of returns the schema of a type. It adds named structs to the collection, and refers to
// them.
func (s schemas) of(t reflect.Type) object {
	switch t {
	case reflect.TypeFor[time.Time]():
		return object{"type": "string", "format": "date-time"}
	case reflect.TypeFor[time.Duration]():
		return object{"type": "integer", "format": "int64", "description": "nanoseconds"}
	case reflect.TypeFor[api.Reason]():
		s["Reason"] = object{"type": "string", "enum": api.Reasons()}
		return object{"$ref": "#/components/schemas/Reason"}
	case reflect.TypeFor[[]byte]():
		return object{"type": "string", "contentEncoding": "base64"}
	}
	if t.Implements(reflect.TypeFor[encoding.TextMarshaler]()) && t.Kind() == reflect.Struct {
		return object{"type": "string"}
	}
	switch t.Kind() {
	case reflect.Pointer:
		return nullable(s.of(t.Elem()))
	case reflect.Slice:
		return object{"type": []string{"array", "null"}, "items": s.of(t.Elem())}
	case reflect.Map:
		return object{"type": []string{"object", "null"}, "additionalProperties": s.of(t.Elem())}
	case reflect.Struct:
		return s.structure(t)
	case reflect.String:
		return object{"type": "string"}
	case reflect.Bool:
		return object{"type": "boolean"}
	case reflect.Float32, reflect.Float64:
		return object{"type": "number"}
	case reflect.Int, reflect.Int64:
		return object{"type": "integer", "format": "int64"}
	case reflect.Int8, reflect.Int16, reflect.Int32:
		return object{"type": "integer", "format": "int32"}
	case reflect.Uint, reflect.Uint64, reflect.Uint8, reflect.Uint16, reflect.Uint32:
		return object{"type": "integer", "minimum": 0}
	}
	return object{} // anything
}

// nullable extends a schema by null.
func nullable(schema object) object {
	switch kind := schema["type"].(type) {
	case string:
		schema["type"] = []string{kind, "null"}
	case nil:
		if _, ok := schema["$ref"]; ok {
			return object{"oneOf": []any{schema, object{"type": "null"}}}
		}
	}
	return schema
}

func (s schemas) structure(t reflect.Type) object {
	name := t.Name()
	ref := object{"$ref": "#/components/schemas/" + name}
	if _, known := s[name]; known {
		return ref
	}
	properties := object{}
	s[name] = object{"type": "object", "properties": properties} // before the fields: types refer to themselves
	s.fields(t, properties)
	return ref
}

func (s schemas) fields(t reflect.Type, properties object) {
	for f := range t.Fields() {
		tag, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case tag == "-" || !f.IsExported():
		case f.Anonymous && tag == "":
			embedded := f.Type
			if embedded.Kind() == reflect.Pointer {
				embedded = embedded.Elem()
			}
			s.fields(embedded, properties)
		case tag != "":
			properties[tag] = s.of(f.Type)
		default:
			properties[f.Name] = s.of(f.Type)
		}
	}
}
