// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package server

import (
	"cmp"
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/server/control"
	"github.com/reeve-run/reeve/internal/state"
)

// stacksShown bounds the stacks that an error lists.
const stacksShown = 5

// findStack returns the stack that a name means in a namespace: its name or id, UNIT@VERSION with one
// to three numbers, or the beginning of its name from "UNIT--" on. A unit's name means its only stack.
// Terminated stacks are meant only if no other is.
func findStack(snap *state.Snapshot, namespace, name string) (*api.Stack, error) {
	if s := snap.Stack(namespace, name); s != nil {
		return s, nil
	}
	unit, _, _ := strings.Cut(name, "@")
	unit, _, _ = strings.Cut(unit, "--")
	if found := meantStacks(snap.StacksOfUnit(namespace, unit), name); len(found) > 0 {
		return onlyStack(found, namespace, name)
	}
	var near []*api.Stack
	for s := range snap.Stacks(namespace) {
		switch {
		case s.ID == name:
			return s, nil
		case name != "" && (s.Unit == unit || strings.HasPrefix(s.Name, name)):
			near = append(near, s)
		}
	}
	if len(near) > 0 {
		return nil, api.Errorf(api.CodeNotFound, "stack %q not found in namespace %s; did you mean %s?", name, namespace, listStacks(near))
	}
	return nil, api.Errorf(api.CodeNotFound, "stack %q not found in namespace %s; list stacks with: reeve stack list", name, namespace)
}

// meantStacks returns the stacks that an incomplete name can mean.
func meantStacks(stacks iter.Seq[*api.Stack], name string) []*api.Stack {
	var live, ended []*api.Stack
	for s := range stacks {
		switch {
		case !isMeant(s, name):
		case s.Status == api.StackTerminated:
			ended = append(ended, s)
		default:
			live = append(live, s)
		}
	}
	if len(live) == 0 {
		return ended
	}
	return live
}

// onlyStack returns the stack that a name means, or an error if it can mean several.
func onlyStack(found []*api.Stack, namespace, name string) (*api.Stack, error) {
	if len(found) > 1 {
		return nil, api.Errorf(api.CodeInvalid, "%q is ambiguous in namespace %s: it can mean %s; give more of the name", name, namespace, listStacks(found))
	}
	return found[0], nil
}

// isMeant reports whether a name that is not complete can mean a stack. The beginning of a name reaches
// beyond the unit: "inventory" does not mean a stack of unit inventory-db.
func isMeant(s *api.Stack, name string) bool {
	if unit, version, ok := strings.Cut(name, "@"); ok {
		return s.Unit == unit && isVersion(s.Version, version)
	}
	return s.Unit == name || strings.Contains(name, "--") && strings.HasPrefix(s.Name, name)
}

// isVersion reports whether a version is the given one, of which patch and minor may be left out.
func isVersion(v api.StackVersion, text string) bool {
	full := v.String()
	return text != "" && (full == text || strings.HasPrefix(full, text+"."))
}

// listStacks lists the first of several stacks with their statuses, newest version first.
func listStacks(list []*api.Stack) string {
	list = slices.Clone(list)
	slices.SortStableFunc(list, func(a, b *api.Stack) int { return b.Version.Compare(a.Version) })
	var texts []string
	for _, s := range list[:min(len(list), stacksShown)] {
		texts = append(texts, fmt.Sprintf("%s (%s)", s.Name, s.Status))
	}
	text := strings.Join(texts, ", ")
	if more := len(list) - stacksShown; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

// shiftTarget returns the ready stack of a unit that a name means, as findStack does, or a version.
func shiftTarget(snap *state.Snapshot, namespace, unit, name string) (*api.Stack, error) {
	var ready, meant, others []*api.Stack
	for s := range snap.StacksOfUnit(namespace, unit) {
		isNamed := s.Name == name || s.ID == name || s.Version.String() == name || name != unit && isMeant(s, name)
		switch {
		case isNamed && s.IsRoutable():
			meant = append(meant, s)
		case isNamed:
			others = append(others, s)
		case s.IsRoutable():
			ready = append(ready, s)
		}
	}
	switch {
	case len(meant) == 1:
		return meant[0], nil
	case len(meant) > 1:
		return nil, api.Errorf(api.CodeInvalid, "%q is ambiguous: it can mean %s; give more of the name", name, listStacks(meant))
	case len(others) > 0:
		newest := others[0]
		for _, s := range others {
			if s.DeployedAt.After(newest.DeployedAt) {
				newest = s
			}
		}
		return nil, api.Errorf(api.CodeConflict, "cannot shift to stack %s: it is %s; only ready stacks receive traffic", newest.Name, newest.Status)
	case len(ready) > 0:
		return nil, api.Errorf(api.CodeNotFound, "stack of unit %s not found: no ready stack is %s in namespace %s; ready are %s", unit, name, namespace, listStacks(ready))
	}
	return nil, api.Errorf(api.CodeNotFound, "unit %s not found: it has no ready stack in namespace %s", unit, namespace)
}

// shiftEnd returns the stack that a name means which is more than a unit's name, or nil.
func shiftEnd(snap *state.Snapshot, namespace, name string) *api.Stack {
	if !strings.Contains(name, "--") && !strings.Contains(name, "@") {
		return nil
	}
	s, err := findStack(snap, namespace, name)
	if err != nil {
		return nil
	}
	return s
}

// stackShift returns the newest shift that leads to a stack or away from it.
func stackShift(snap *state.Snapshot, s *api.Stack) (newest *api.Shift, err error) {
	if newest = lastShiftOf(snap, s); newest == nil {
		return nil, api.Errorf(api.CodeNotFound, "shift not found: no traffic has been shifted to stack %s or away from it; begin a shift with: reeve stack shift -to %s %s", s.Name, s.Version, s.Unit)
	}
	return newest, nil
}

// startingStack returns the ready stack whose job starts the children of a unit: the target of UNIT's
// newest major version, the stack that serves callers of UNIT@MAJOR or UNIT@MAJOR.MINOR, or
// UNIT@MAJOR.MINOR.PATCH. It returns nil if the unit has no stacks in the namespace.
func startingStack(snap *state.Snapshot, namespace, name string) (*api.Stack, error) {
	unit, version, _ := strings.Cut(name, "@")
	var all, ready []*api.Stack
	for s := range snap.StacksOfUnit(namespace, unit) {
		all = append(all, s)
		if s.IsRoutable() && (version == "" || satisfies(s.Version, version)) {
			ready = append(ready, s)
		}
	}
	switch {
	case len(all) == 0:
		return nil, nil
	case len(ready) == 0:
		return nil, api.Errorf(api.CodeConflict, "unit %s has no ready stack that %q means; it has %s", unit, name, listStacks(all))
	}
	newest := slices.MaxFunc(ready, func(a, b *api.Stack) int {
		return cmp.Or(a.Version.Compare(b.Version), a.DeployedAt.Compare(b.DeployedAt))
	})
	if _, err := api.ParseStackVersion(version); err == nil {
		return newest, nil
	}
	want, err := api.ParseFeatureVersion(version)
	if err != nil {
		want = api.FeatureVersion{Major: newest.Version.Major}
	}
	if t := control.UnitIndex(snap, namespace, unit).Resolve(namespace, unit, want); t.Stack != nil {
		return t.Stack, nil
	}
	return newest, nil // deprecated
}

// satisfies reports whether a version satisfies a wanted one: MAJOR, MAJOR.MINOR, or exactly MAJOR.MINOR.PATCH.
func satisfies(v api.StackVersion, want string) bool {
	if feature, err := api.ParseFeatureVersion(want); err == nil {
		return v.Satisfies(feature)
	}
	return isVersion(v, want)
}
