// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package filter

import (
	"reflect"
	"strings"
	"sync"

	"github.com/reeve-run/reeve/api"
)

// The evaluator finds a field by the name in its JSON tag, and reads a tag without a
// name, as in `json:",omitempty"`, as an empty name. It therefore receives values of
// twin types: the same structs with a name in every tag. Go converts between structs that
// differ only in their tags.

// named returns a value, or a pointer to one, of the twin type. A reason becomes its name,
// which is its JSON form.
func named(v reflect.Value) reflect.Value {
	if !v.IsValid() {
		return v
	}
	if v.Kind() == reflect.Interface {
		v = v.Elem()
	}
	t := v.Type()
	if t == reflect.TypeFor[api.Reason]() {
		return reflect.ValueOf(api.Reason(v.Uint()).String())
	}
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

// namedType returns the twin of a struct type, and any other type unchanged.
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
			return t // reflect cannot create such a type; no filtered type has such fields
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
