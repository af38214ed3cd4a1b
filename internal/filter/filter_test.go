// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package filter

import (
	"reflect"
	"strings"
	"testing"

	"github.com/reeve-run/reeve/api"
)

// A field that the JSON of an object omits can be selected too.
func TestFiltersFindEveryField(t *testing.T) {
	for _, object := range []any{
		&api.Job{}, &api.Allocation{}, &api.Evaluation{}, &api.Deployment{}, &api.Node{}, &api.NodePool{}, &api.Instance{}, &api.Plan{},
		&api.JobRestart{}, &api.Decision{}, &api.Callback{}, &api.Domain{}, &api.ServiceRegistration{}, &api.CatalogEntry{}, &api.RouteListStub{}, &api.Orphan{},
	} {
		typ := reflect.TypeOf(object).Elem()
		for i := range typ.NumField() {
			f := typ.Field(i)
			name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
			if name == "-" {
				continue
			}
			if name == "" {
				name = f.Name
			}
			switch f.Type.Kind() {
			case reflect.String, reflect.Bool, reflect.Int, reflect.Int64, reflect.Uint64:
				f, err := Parse(name + ` == "1"`)
				if err != nil {
					t.Fatal(err)
				}
				if _, err := f.Matches(object); err != nil {
					t.Errorf("%s.%s: %v", typ.Name(), name, err)
				}
			}
		}
	}
}

func TestFiltersFindReasonsByName(t *testing.T) {
	for expression, want := range map[string]bool{
		`DesiredReason == "migrated"`:   true,
		`DesiredReason == "purged"`:     false,
		`DesiredReason matches "^migr"`: true,
		`DesiredReason != ""`:           true,
	} {
		f, err := Parse(expression)
		if err != nil {
			t.Fatal(err)
		}
		got, err := f.Matches(&api.Allocation{DesiredReason: api.ReasonMigrated})
		if err != nil || got != want {
			t.Errorf("%s matches a migrated allocation: %t (%v), want %t", expression, got, err, want)
		}
	}
}
