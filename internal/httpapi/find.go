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
		return nil, errAmbiguous(noun, id, ids)
	}
	return found, nil
}

func errAmbiguous(noun, id string, ids []string) error {
	return api.Errorf(api.CodeInvalid, "%s %q is ambiguous: it begins the ids %s", noun, id, strings.Join(ids, ", "))
}

// ambiguous returns the error of find for objects that the caller may see.
func ambiguous(noun, id string, found []owned) error {
	var ids []string
	for _, object := range found[:min(len(found), ambiguousShown)] {
		ids = append(ids, object.id)
	}
	if len(found) > ambiguousShown {
		ids = append(ids, "...")
	}
	return errAmbiguous(noun, id, ids)
}

// completeID replaces the beginning of an object's id in the path by the whole id, also for the agent to
// which the request goes.
func (c *call) completeID(key, whole string) {
	segments := strings.Split(c.r.URL.Path, "/")
	// The names of routes come first, and may equal the beginning of an id.
	for i, pattern := range strings.Split(c.route.Pattern, "/") {
		if pattern == "{"+key+"}" && i < len(segments) {
			segments[i] = whole
		}
	}
	other, u := *c.r, *c.r.URL
	u.Path, u.RawPath = strings.Join(segments, "/"), ""
	other.URL = &u
	other.SetPathValue(key, whole)
	c.r = &other
}
