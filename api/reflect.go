// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package api

import (
	"iter"
	"reflect"
	"strings"
)

// reflectFields yields the fields of a struct that its JSON contains, including those of
// embedded structs.
func reflectFields(t reflect.Type) iter.Seq[reflect.StructField] {
	return func(yield func(reflect.StructField) bool) {
		for _, f := range reflect.VisibleFields(t) {
			if f.Anonymous || !f.IsExported() || jsonName(f) == "-" {
				continue
			}
			if !yield(f) {
				return
			}
		}
	}
}

// jsonName returns a field's key in JSON.
func jsonName(f reflect.StructField) string {
	name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
	if name == "" {
		return f.Name
	}
	return name
}
