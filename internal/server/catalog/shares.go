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

// shares describes each stack to routers and name servers, with its part of its unit's traffic.
type shares struct {
	units  map[api.NamespacedID]*unit           // by namespace and name
	named  map[string]map[api.NamespacedID]bool // keys of units, by name
	global map[string]*api.Unit                 // rules of all namespaces, by unit
	dirty  map[api.NamespacedID]bool            // units that changed since the last news
	now    map[api.NamespacedID]*api.StackShare // by namespace and stack
}

// A unit holds what the shares of one unit's stacks follow from.
type unit struct {
	stacks    map[string]*api.Stack
	shifts    map[string]*api.Shift
	rules     *api.Unit
	described map[string]bool // stacks that readers know, by name
}

// start replaces everything by the content of a snapshot.
func (s *shares) start(snap *state.Snapshot) {
	*s = shares{
		units: make(map[api.NamespacedID]*unit), named: make(map[string]map[api.NamespacedID]bool), global: make(map[string]*api.Unit),
		dirty: make(map[api.NamespacedID]bool), now: make(map[api.NamespacedID]*api.StackShare),
	}
	for stack := range snap.Stacks("*") {
		s.unit(stack.Namespace, stack.Unit).stacks[stack.Name] = stack
	}
	for shift := range snap.Shifts() {
		s.unit(shift.Namespace, shift.Unit).shifts[shift.ID] = shift
	}
	for rules := range snap.Units() {
		s.rule(rules.Namespace, rules.Name, rules)
	}
	s.news()
}

// unit returns a unit that is about to change.
func (s *shares) unit(namespace, name string) *unit {
	key := api.NamespacedID{Namespace: namespace, ID: name}
	if s.units[key] == nil {
		s.units[key] = &unit{stacks: make(map[string]*api.Stack), shifts: make(map[string]*api.Shift), described: make(map[string]bool)}
		if s.named[name] == nil {
			s.named[name] = make(map[api.NamespacedID]bool)
		}
		s.named[name][key] = true
	}
	s.dirty[key] = true
	return s.units[key]
}

// rule takes in the rules of a unit; nil: it has none. Rules of all namespaces concern each
// unit of the name.
func (s *shares) rule(namespace, name string, rules *api.Unit) {
	if namespace != api.AnyNamespace {
		s.unit(namespace, name).rules = rules
		return
	}
	s.global[name] = rules
	if rules == nil {
		delete(s.global, name)
	}
	for key := range s.named[name] {
		s.dirty[key] = true
	}
}

// apply takes in a change of a stack, a shift, or the rules of a unit.
func (s *shares) apply(change *state.Change) {
	switch old := change.Old.(type) {
	case *api.Stack:
		delete(s.unit(old.Namespace, old.Unit).stacks, old.Name)
	case *api.Shift:
		delete(s.unit(old.Namespace, old.Unit).shifts, old.ID)
	case *api.Unit:
		s.rule(old.Namespace, old.Name, nil)
	}
	switch new := change.New.(type) {
	case *api.Stack:
		s.unit(new.Namespace, new.Unit).stacks[new.Name] = new
	case *api.Shift:
		s.unit(new.Namespace, new.Unit).shifts[new.ID] = new
	case *api.Unit:
		s.rule(new.Namespace, new.Name, new)
	}
}

// news returns the shares that have changed since the last news, ordered by namespace and stack.
func (s *shares) news() (changed []*api.StackShare) {
	for key := range s.dirty {
		u := s.units[key]
		x := s.index(key, u)
		known := make(map[api.NamespacedID]bool, len(u.stacks))
		for _, stack := range u.stacks {
			if stack.Status == api.StackTerminated {
				continue
			}
			known[stack.Key()] = true
			share := shareOf(x, stack)
			if old := s.now[stack.Key()]; old == nil || !isSameShare(old, share) {
				s.now[stack.Key()] = share
				u.described[stack.Name] = true
				changed = append(changed, share)
			}
		}
		for name := range u.described {
			id := api.NamespacedID{Namespace: key.Namespace, ID: name}
			if !known[id] {
				delete(s.now, id)
				delete(u.described, name)
				changed = append(changed, &api.StackShare{Namespace: id.Namespace, Stack: id.ID, Removed: true})
			}
		}
		s.forget(key, u)
	}
	clear(s.dirty)
	slices.SortFunc(changed, compareShares)
	return changed
}

// forget drops a unit of which nothing is left.
func (s *shares) forget(key api.NamespacedID, u *unit) {
	if len(u.stacks)+len(u.shifts) > 0 || u.rules != nil {
		return
	}
	delete(s.units, key)
	delete(s.named[key.ID], key)
	if len(s.named[key.ID]) == 0 {
		delete(s.named, key.ID)
	}
}

func (s *shares) index(key api.NamespacedID, u *unit) *lifecycle.Index {
	in := lifecycle.Input{Stacks: make([]*api.Stack, 0, len(u.stacks)), Shifts: slices.Collect(maps.Values(u.shifts))}
	for _, stack := range u.stacks {
		if stack.Status != api.StackTerminated {
			in.Stacks = append(in.Stacks, stack)
		}
	}
	for _, rules := range []*api.Unit{u.rules, s.global[key.ID]} {
		if rules != nil {
			in.Units = append(in.Units, rules)
		}
	}
	return lifecycle.NewIndex(in)
}

// shareOf describes a stack.
func shareOf(x *lifecycle.Index, stack *api.Stack) *api.StackShare {
	share := &api.StackShare{
		Namespace: stack.Namespace, Stack: stack.Name, Status: x.StatusOf(stack), Tags: x.TagsOf(stack), DeployedAt: stack.DeployedAt,
	}
	if stack.IsRoutable() {
		share.Share, share.Target, share.ShiftEnd = x.ShareOf(stack), x.IsTarget(stack), x.ShiftEndOf(stack)
		share.Elsewhere = x.HostsElsewhere(stack)
	}
	return share
}

func isSameShare(a, b *api.StackShare) bool {
	return a.Share == b.Share && a.Status == b.Status && a.Target == b.Target && a.ShiftEnd == b.ShiftEnd &&
		slices.Equal(a.Tags, b.Tags) && slices.Equal(a.Elsewhere, b.Elsewhere) && a.DeployedAt.Equal(b.DeployedAt)
}

// all returns all shares, ordered by namespace and stack.
func (s *shares) all() []*api.StackShare {
	all := slices.Collect(maps.Values(s.now))
	slices.SortFunc(all, compareShares)
	return all
}

func compareShares(a, b *api.StackShare) int {
	return cmp.Or(strings.Compare(a.Namespace, b.Namespace), strings.Compare(a.Stack, b.Stack))
}
