// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"iter"
	"strings"

	"github.com/reeve-run/reeve/api"
)

// ambiguousShown is the maximum number of objects in the error of an ambiguous prefix.
const ambiguousShown = 10

// find returns the object with the id, or the only object whose id begins with it.
func find[T any](noun, id string, exact *T, withPrefix func(string) iter.Seq[*T], idOf func(*T) string) (*T, error) {
	if exact != nil {
		return exact, nil
	}
	var found *T
	var ids []string
	for object := range withPrefix(id) {
		if len(ids) == ambiguousShown {
			ids = append(ids, "...")
			break
		}
		found = object
		ids = append(ids, idOf(object))
	}
	switch {
	case len(ids) == 0 || id == "":
		return nil, api.Errorf(api.CodeNotFound, "%s %q not found", noun, id)
	case len(ids) > 1:
		return nil, api.Errorf(api.CodeInvalid, "%s %q is ambiguous: it begins the ids %s", noun, id, strings.Join(ids, ", "))
	}
	return found, nil
}
