// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package api

import (
	"reflect"
	"testing"
	"time"
)

// A difference in any field is one.
func TestEqualStepStatesAgreeInEveryField(t *testing.T) {
	fields := reflect.TypeFor[StepState]()
	for i := range fields.NumField() {
		var s, other StepState
		switch field := reflect.ValueOf(&other).Elem().Field(i); v := field.Addr().Interface().(type) {
		case *time.Time:
			*v = time.Unix(1, 0)
		case *[]string:
			*v = []string{"error"}
		case *bool:
			*v = true
		case *int:
			*v = 1
		case *uint64:
			*v = 1
		default:
			field.SetString("x")
		}
		if s.Equal(&other) || !other.Equal(&other) {
			t.Errorf("Equal ignores %s", fields.Field(i).Name)
		}
	}
}

func TestKeysOfStepStates(t *testing.T) {
	for want, s := range map[string]StepState{
		"shop/deploy":                {JobID: "shop", Plan: "deploy"},
		"shop/deploy/web":            {JobID: "shop", Plan: "deploy", Phase: "web"},
		"shop/deploy/web/web-0:[]":   {JobID: "shop", Plan: "deploy", Phase: "web", Step: "web-0:[]"},
		"shop/drain/web/web-0:[]@a1": {JobID: "shop", Plan: "drain", Phase: "web", Step: "web-0:[]", Place: "a1"},
	} {
		if got := s.Key(); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
