// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package update

import (
	"fmt"
	"maps"
	"reflect"
	"slices"

	"github.com/reeve-run/reeve/api"
)

// NeedRestart lists the fields in which two canonicalized versions of a job differ and
// that cannot change while its instances run: the instances would be restarted, replaced,
// moved or, if their group was removed, stopped. If the list is empty, the new version
// takes effect in place.
func NeedRestart(old, new *api.Job) []string {
	list := restartFields(old, new, "")
	for _, was := range old.Groups {
		at := fmt.Sprintf("group %q", was.Name)
		is := new.Group(was.Name)
		if is == nil {
			list = append(list, at+": it was removed")
			continue
		}
		list = append(list, restartFields(was, is, at+", ")...)
		list = append(list, serviceFields(was.Services, is.Services, at+", ")...)
		for _, t := range was.Tasks {
			in := fmt.Sprintf("%s, task %q", at, t.Name)
			now := is.Task(t.Name)
			if now == nil {
				list = append(list, in+": it was removed")
				continue
			}
			list = append(list, restartFields(t, now, in+", ")...)
			if templatesDiffer(t.Templates, now.Templates) {
				list = append(list, in+", Templates")
			}
			list = append(list, serviceFields(t.Services, now.Services, in+", ")...)
		}
		for _, t := range is.Tasks {
			if was.Task(t.Name) == nil {
				list = append(list, fmt.Sprintf("%s, task %q: it was added", at, t.Name))
			}
		}
	}
	return list
}

func serviceFields(old, new []*api.Service, at string) (list []string) {
	for _, was := range old {
		if is := find(new, func(s *api.Service) bool { return s.Name == was.Name }); is != nil {
			list = append(list, restartFields(was, is, fmt.Sprintf("%sservice %q, ", at, was.Name))...)
		}
	}
	return list
}

// restartFields lists the fields of one block.
func restartFields[T any](old, new *T, at string) (list []string) {
	a, b := reflect.ValueOf(old).Elem(), reflect.ValueOf(new).Elem()
	kinds := effects[a.Type()]
	for _, name := range slices.Sorted(maps.Keys(kinds)) {
		if e := kinds[name]; (e == replaces || e == whereabouts) && !same(a.FieldByName(name), b.FieldByName(name)) {
			list = append(list, at+name)
		}
	}
	return list
}
