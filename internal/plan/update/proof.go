// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package update

import (
	"reflect"
	"slices"

	"github.com/reeve-run/reeve/api"
)

// This file decides which changes in place must prove themselves. Checks change in
// place, but nobody knows whether an instance passes the new ones. So the health of
// each changed instance is determined again, and the change is rolled out like a
// replacement: to one instance first, then max_parallel at a time (strategy.go).

// AsksMore reports whether the new version of a group asks its instances
// something that the old one did not, or asks it elsewhere.
func AsksMore(old, new *api.Group) bool {
	if newChecks(old.Services, new.Services) {
		return true
	}
	for _, is := range new.Tasks {
		was := old.Task(is.Name)
		if was == nil {
			continue // that is another task: it is replaced
		}
		if is.Monitor != nil && !reflect.DeepEqual(is.Monitor, was.Monitor) || newChecks(was.Services, is.Services) {
			return true
		}
	}
	return false
}

// newChecks reports whether a service has a check that is new, or differs, or goes
// to another address.
func newChecks(old, new []*api.Service) bool {
	for _, is := range new {
		was := find(old, func(s *api.Service) bool { return s.Name == is.Name && s.TaskName == is.TaskName })
		if was == nil {
			was = &api.Service{}
		}
		moved := is.PortLabel != was.PortLabel || is.Address != was.Address || is.AddressMode != was.AddressMode
		for _, c := range is.Checks {
			same := func(o *api.Check) bool { return isSameCheck(o, c) }
			if c.OnUpdate != onUpdateIgnore && (moved || !slices.ContainsFunc(was.Checks, same)) {
				return true
			}
		}
	}
	return false
}

// isSameCheck reports whether two checks ask the same in the same way.
func isSameCheck(a, b *api.Check) bool {
	x, y := *a, *b
	x.Notes, y.Notes, x.OnUpdate, y.OnUpdate = "", "", "", ""
	return reflect.DeepEqual(&x, &y)
}

// onUpdateIgnore is of checks that are no part of health.
const onUpdateIgnore = "ignore"
