// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package server

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/state"
)

// Units lists the units of a namespace, or of all if it is "*", with their stacks, and the index of their
// last change.
func Units(snap *state.Snapshot, namespace string) ([]*api.UnitStatus, uint64) {
	byKey := make(map[api.NamespacedID]*api.UnitStatus)
	list := []*api.UnitStatus{}
	unit := func(namespace, name string) *api.UnitStatus {
		key := api.NamespacedID{Namespace: namespace, ID: name}
		if byKey[key] == nil {
			byKey[key] = &api.UnitStatus{
				Namespace: namespace, Name: name, Rules: snap.Unit(namespace, name), Global: snap.Unit(api.AnyNamespace, name), Stacks: []*api.StackStatus{},
			}
			list = append(list, byKey[key])
		}
		return byKey[key]
	}
	stacks, index := Stacks(snap, StackFilter{Namespace: namespace})
	for _, stack := range stacks {
		u := unit(stack.Namespace, stack.Unit)
		u.Stacks = append(u.Stacks, stack)
	}
	for u := range snap.Units() {
		if u.Namespace != api.AnyNamespace && (namespace == "*" || namespace == u.Namespace) {
			unit(u.Namespace, u.Name)
		}
	}
	for shift := range snap.Shifts() {
		if u := byKey[api.NamespacedID{Namespace: shift.Namespace, ID: shift.Unit}]; u != nil && shift.IsActive() {
			u.Shifts = append(u.Shifts, shift)
		}
	}
	slices.SortFunc(list, func(a, b *api.UnitStatus) int {
		return cmp.Or(strings.Compare(a.Namespace, b.Namespace), strings.Compare(a.Name, b.Name))
	})
	return list, index
}

// Unit returns one unit with its stacks.
func Unit(snap *state.Snapshot, namespace, name string) (*api.UnitStatus, uint64, error) {
	list, index := Units(snap, namespace)
	for _, u := range list {
		if u.Name == name {
			return u, index, nil
		}
	}
	return nil, index, api.Errorf(api.CodeNotFound, "unit %q not found in namespace %s: it has no stacks; list units with: reeve unit list", name, namespace)
}

// unitVerbs change the rules of a unit in place.
var unitVerbs = map[string]func(u *api.Unit, req *api.UnitVerbRequest, now time.Time) error{
	"deprecate":   deprecate,
	"undeprecate": undeprecate,
	"tag":         tagVersion,
	"policy": func(u *api.Unit, req *api.UnitVerbRequest, _ time.Time) error {
		if req.Policy != nil {
			if err := req.Policy.Validate(); err != nil {
				return err
			}
		}
		u.Policy = req.Policy
		return nil
	},
}

func deprecate(u *api.Unit, req *api.UnitVerbRequest, now time.Time) error {
	v, err := api.ParseFeatureVersion(req.Version)
	if err != nil {
		return api.Errorf(api.CodeInvalid, "deprecate: %v", err)
	}
	if u.IsDeprecated(v) {
		return nil
	}
	u.Deprecated = append(slices.Clone(u.Deprecated), &api.Deprecation{Version: v, By: cmp.Or(req.By, "unknown"), Reason: req.Reason, Since: now})
	slices.SortFunc(u.Deprecated, func(a, b *api.Deprecation) int { return a.Version.Compare(b.Version) })
	return nil
}

func undeprecate(u *api.Unit, req *api.UnitVerbRequest, _ time.Time) error {
	v, err := api.ParseFeatureVersion(req.Version)
	if err != nil {
		return api.Errorf(api.CodeInvalid, "undeprecate: %v", err)
	}
	if !u.IsDeprecated(v) {
		return api.Errorf(api.CodeConflict, "version %s of unit %s is not deprecated: nothing to undo", v, u.Name)
	}
	u.Deprecated = slices.DeleteFunc(slices.Clone(u.Deprecated), func(d *api.Deprecation) bool { return d.Version == v })
	return nil
}

// maxTags bounds the tags of a unit.
const maxTags = 50

func tagVersion(u *api.Unit, req *api.UnitVerbRequest, _ time.Time) error {
	if err := api.ValidateTag(req.Tag); err != nil {
		return err
	}
	u.Tags = maps.Clone(u.Tags)
	if req.Version == "" {
		if _, ok := u.Tags[req.Tag]; !ok {
			return api.Errorf(api.CodeConflict, "unit %s has no tag %q: nothing to remove", u.Name, req.Tag)
		}
		delete(u.Tags, req.Tag)
		return nil
	}
	v, err := api.ParseStackVersion(req.Version)
	if err != nil {
		return api.Errorf(api.CodeInvalid, "tag %q: %v", req.Tag, err)
	}
	if u.Tags == nil {
		u.Tags = make(map[string]api.StackVersion)
	}
	if _, ok := u.Tags[req.Tag]; !ok && len(u.Tags) >= maxTags {
		return api.Errorf(api.CodeInvalid, "unit %s has %d tags, the most that are possible: remove one first", u.Name, maxTags)
	}
	u.Tags[req.Tag] = v
	return nil
}

// UnitVerb changes the rules of a unit: deprecate, undeprecate, tag or policy.
func (s *Server) UnitVerb(ctx context.Context, namespace, name, verb string, req *api.UnitVerbRequest) (*api.UnitResponse, error) {
	change, ok := unitVerbs[verb]
	if !ok {
		return nil, api.Errorf(api.CodeInvalid, "unknown verb %q of a unit: use deprecate, undeprecate, tag or policy", verb)
	}
	if req == nil {
		req = &api.UnitVerbRequest{}
	}
	if err := api.ValidateUnitName(name); err != nil {
		return nil, api.Errorf(api.CodeInvalid, "%v", err)
	}
	scope := namespace
	if req.AllNamespaces {
		scope = api.AnyNamespace
	}
	for attempt := 1; ; attempt++ {
		snap := s.store.Snapshot()
		rules := &api.Unit{Namespace: scope, Name: name}
		if old := snap.Unit(scope, name); old != nil {
			*rules = *old
		} else if !req.AllNamespaces && !hasStacks(snap, namespace, name) {
			return nil, api.Errorf(api.CodeNotFound, "unit %q not found in namespace %s: it has no stacks; list units with: reeve unit list", name, namespace)
		}
		if err := change(rules, req, time.Now()); err != nil {
			return nil, err
		}
		index, err := s.propose(ctx, state.PutUnit(rules))
		if api.CodeOf(err) == api.CodeConflict && attempt < changeAttempts {
			continue
		}
		if err != nil {
			return nil, err
		}
		if req.AllNamespaces {
			return &api.UnitResponse{Unit: &api.UnitStatus{Namespace: scope, Name: name, Rules: s.store.Snapshot().Unit(scope, name), Stacks: []*api.StackStatus{}}, Index: index}, nil
		}
		u, _, err := Unit(s.store.Snapshot(), namespace, name)
		return &api.UnitResponse{Unit: u, Index: index}, err
	}
}

func hasStacks(snap *state.Snapshot, namespace, unit string) bool {
	for range snap.StacksOfUnit(namespace, unit) {
		return true
	}
	return false
}

// lastShift returns the running shift of a unit in a namespace, or the last one that ended.
func lastShift(snap *state.Snapshot, namespace, unit string) (*api.Shift, error) {
	running, err := unitShift(snap, namespace, unit)
	if api.CodeOf(err) != api.CodeNotFound {
		return running, err
	}
	var last *api.Shift
	for s := range snap.ShiftsOfUnit(namespace, unit) {
		if last == nil || s.EndedAt.After(last.EndedAt) {
			last = s
		}
	}
	if last == nil {
		return nil, err
	}
	return last, nil
}

// unitShift returns the running shift of a unit in a namespace: the only one, or that of a major version.
func unitShift(snap *state.Snapshot, namespace, unit string) (*api.Shift, error) {
	var found []*api.Shift
	for s := range snap.ShiftsOfUnit(namespace, unit) {
		if s.IsActive() {
			found = append(found, s)
		}
	}
	switch len(found) {
	case 0:
		return nil, api.Errorf(api.CodeNotFound, "shift not found: %s is neither a shift nor a unit with a running shift; begin one with: reeve stack shift -to VERSION %s", unit, unit)
	case 1:
		return found[0], nil
	}
	return nil, api.Errorf(api.CodeConflict, "unit %s has %d running shifts: name one by its id, such as %s", unit, len(found), api.ShortID(found[0].ID))
}
