// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"reflect"
	"strings"
	"sync"
)

// The evaluator of filters finds a field by the name in its JSON tag, and takes
// a tag without one, as in `json:",omitempty"`, for an empty name. So it is shown
// structs of the same fields whose tags all have names: Go converts between
// structs that differ in nothing but tags.

// named returns a value, or a pointer to one, whose fields the evaluator finds.
func named(v reflect.Value) reflect.Value {
	if !v.IsValid() {
		return v
	}
	if v.Kind() == reflect.Interface {
		v = v.Elem()
	}
	t := v.Type()
	if t.Kind() == reflect.Pointer {
		if twin := namedType(t.Elem()); twin != t.Elem() {
			return v.Convert(reflect.PointerTo(twin))
		}
		return v
	}
	if twin := namedType(t); twin != t {
		return v.Convert(twin)
	}
	return v
}

var namedTypes sync.Map // reflect.Type -> reflect.Type

// namedType returns a struct type whose tags all have names, and any other type
// as it is.
func namedType(t reflect.Type) reflect.Type {
	if t.Kind() != reflect.Struct {
		return t
	}
	if twin, ok := namedTypes.Load(t); ok {
		return twin.(reflect.Type)
	}
	twin, _ := namedTypes.LoadOrStore(t, makeNamedType(t))
	return twin.(reflect.Type)
}

func makeNamedType(t reflect.Type) reflect.Type {
	fields := make([]reflect.StructField, t.NumField())
	differs := false
	for i := range fields {
		f := t.Field(i)
		if !f.IsExported() || f.Anonymous {
			return t // such a type cannot be made; none that is filtered has any
		}
		if name, options, _ := strings.Cut(f.Tag.Get("json"), ","); name == "" && options != "" {
			f.Tag, differs = reflect.StructTag(`json:"`+f.Name+`"`), true
		}
		fields[i] = f
	}
	if !differs {
		return t
	}
	return reflect.StructOf(fields)
}
