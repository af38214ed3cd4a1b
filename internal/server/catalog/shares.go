// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package catalog

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/lifecycle"
	"github.com/reeve-run/reeve/internal/state"
)

// shares holds the part of its unit's traffic that each stack receives.
type shares struct {
	units map[api.NamespacedID]*unit // by namespace and name
	dirty map[api.NamespacedID]bool  // units that changed since the last news
	now   map[api.NamespacedID]float64
}

// A unit holds what the shares of one unit's stacks follow from.
type unit struct {
	stacks map[string]*api.Stack
	shifts map[string]*api.Shift
	rules  *api.Unit
}

// start replaces everything by the content of a snapshot.
func (s *shares) start(snap *state.Snapshot) {
	s.units = make(map[api.NamespacedID]*unit)
	s.dirty = make(map[api.NamespacedID]bool)
	s.now = make(map[api.NamespacedID]float64)
	for stack := range snap.Stacks("*") {
		s.unit(stack.Namespace, stack.Unit).stacks[stack.Name] = stack
	}
	for shift := range snap.Shifts() {
		s.unit(shift.Namespace, shift.Unit).shifts[shift.ID] = shift
	}
	for rules := range snap.Units() {
		s.unit(rules.Namespace, rules.Name).rules = rules
	}
	s.news()
}

func (s *shares) unit(namespace, name string) *unit {
	key := api.NamespacedID{Namespace: namespace, ID: name}
	if s.units[key] == nil {
		s.units[key] = &unit{stacks: make(map[string]*api.Stack), shifts: make(map[string]*api.Shift)}
	}
	s.dirty[key] = true
	return s.units[key]
}

// apply takes in a change of a stack, a shift, or the rules of a unit.
func (s *shares) apply(change *state.Change) {
	switch old := change.Old.(type) {
	case *api.Stack:
		delete(s.unit(old.Namespace, old.Unit).stacks, old.Name)
	case *api.Shift:
		delete(s.unit(old.Namespace, old.Unit).shifts, old.ID)
	case *api.Unit:
		s.unit(old.Namespace, old.Name).rules = nil
	}
	switch new := change.New.(type) {
	case *api.Stack:
		s.unit(new.Namespace, new.Unit).stacks[new.Name] = new
	case *api.Shift:
		s.unit(new.Namespace, new.Unit).shifts[new.ID] = new
	case *api.Unit:
		s.unit(new.Namespace, new.Name).rules = new
	}
}

// news returns the shares that have changed since the last news, ordered by namespace and stack.
func (s *shares) news() (changed []*api.StackShare) {
	for key := range s.dirty {
		u := s.units[key]
		in := lifecycle.Input{Stacks: slices.Collect(maps.Values(u.stacks)), Shifts: slices.Collect(maps.Values(u.shifts))}
		if u.rules != nil {
			in.Units = append(in.Units, u.rules)
		}
		x := lifecycle.NewIndex(in)
		for _, stack := range u.stacks {
			if stack.Status == api.StackTerminated {
				if _, known := s.now[stack.Key()]; known {
					delete(s.now, stack.Key())
					changed = append(changed, &api.StackShare{Namespace: stack.Namespace, Stack: stack.Name, Removed: true})
				}
				continue
			}
			share := 0.0
			if stack.IsRoutable() {
				share = x.RoutedShareOf(stack)
			}
			if old, known := s.now[stack.Key()]; !known || old != share {
				s.now[stack.Key()] = share
				changed = append(changed, &api.StackShare{Namespace: stack.Namespace, Stack: stack.Name, Share: share})
			}
		}
	}
	clear(s.dirty)
	slices.SortFunc(changed, compareShares)
	return changed
}

// all returns all shares, ordered by namespace and stack.
func (s *shares) all() (all []*api.StackShare) {
	for key, share := range s.now {
		all = append(all, &api.StackShare{Namespace: key.Namespace, Stack: key.ID, Share: share})
	}
	slices.SortFunc(all, compareShares)
	return all
}

func compareShares(a, b *api.StackShare) int {
	return cmp.Or(strings.Compare(a.Namespace, b.Namespace), strings.Compare(a.Stack, b.Stack))
}
