// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package control

import (
	"cmp"
	"maps"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/lifecycle"
	"github.com/reeve-run/reeve/internal/state"
)

// LifecycleIndex indexes all stacks that are not terminated. Uses returns the undeclared callers that
// routers observed lately; nil: only the stored ones count.
func LifecycleIndex(snap *state.Snapshot, uses func(*state.Snapshot) []lifecycle.Use) *lifecycle.Index {
	var in lifecycle.Input
	if uses != nil {
		in.Uses = uses(snap)
	}
	observed := make(map[api.NamespacedID]map[string]bool)
	for _, use := range in.Uses {
		if observed[use.Stack] == nil {
			observed[use.Stack] = make(map[string]bool)
		}
		observed[use.Stack][use.Caller+" "+use.Want] = true
	}
	for s := range snap.Stacks("*") {
		if s.Status != api.StackTerminated {
			in.Stacks = append(in.Stacks, s)
			in.Uses = append(in.Uses, storedUses(s, observed)...)
		}
	}
	in.Units = slices.Collect(snap.Units())
	for s := range snap.Shifts() {
		if s.IsActive() {
			in.Shifts = append(in.Shifts, s)
		}
	}
	return lifecycle.NewIndex(in)
}

// storedUses returns the stored callers of a stack in the last hour that are not among the observed ones.
func storedUses(s *api.Stack, observed map[api.NamespacedID]map[string]bool) (uses []lifecycle.Use) {
	for _, use := range s.Observed {
		if time.Since(use.Last) < lifecycle.ObservedFor && !observed[s.Key()][use.Caller+" "+use.Want] {
			uses = append(uses, lifecycle.Use{Stack: s.Key(), StackUse: use})
		}
	}
	return uses
}

// UnitIndex indexes the stacks of one unit in one namespace.
func UnitIndex(snap *state.Snapshot, namespace, unit string) *lifecycle.Index {
	var in lifecycle.Input
	for s := range snap.StacksOfUnit(namespace, unit) {
		if s.Status != api.StackTerminated {
			in.Stacks = append(in.Stacks, s)
		}
	}
	for _, u := range []*api.Unit{snap.Unit(namespace, unit), snap.Unit(api.AnyNamespace, unit)} {
		if u != nil {
			in.Units = append(in.Units, u)
		}
	}
	for s := range snap.ShiftsOfUnit(namespace, unit) {
		if s.IsActive() {
			in.Shifts = append(in.Shifts, s)
		}
	}
	return lifecycle.NewIndex(in)
}

// CallersIndex indexes the stacks of the units of a name in all namespaces, and all stacks that declare to depend on
// them. About the stacks of these units it knows the same as LifecycleIndex without observed uses, also who calls them.
func CallersIndex(snap *state.Snapshot, unit string) *lifecycle.Index {
	var in lifecycle.Input
	namespace := ""
	for s := range snap.Namesakes(unit) {
		in.Stacks = append(in.Stacks, s)
		in.Uses = append(in.Uses, storedUses(s, nil)...)
		if s.Namespace == namespace {
			continue
		}
		namespace = s.Namespace
		if rules := snap.Unit(namespace, unit); rules != nil {
			in.Units = append(in.Units, rules)
		}
		for shift := range snap.ShiftsOfUnit(namespace, unit) {
			if shift.IsActive() {
				in.Shifts = append(in.Shifts, shift)
			}
		}
	}
	if rules := snap.Unit(api.AnyNamespace, unit); rules != nil {
		in.Units = append(in.Units, rules)
	}
	for s := range snap.Dependents(unit) {
		if s.Unit != unit {
			in.Stacks = append(in.Stacks, s)
		}
	}
	return lifecycle.NewIndex(in)
}

// DeploymentIndex indexes the stacks of the units that a deployment concerns: its own units, everything that
// they depend on, directly or not, and units that expose its hosts. It also returns the units, in order.
func DeploymentIndex(snap *state.Snapshot, list []lifecycle.Deployable) (*lifecycle.Index, []api.NamespacedID) {
	c := closure{snap: snap, seen: make(map[api.NamespacedID]bool), stacks: make(map[*api.Stack]bool)}
	hosts := make(map[string]bool)
	for _, d := range list {
		c.add(d.Namespace, d.Unit)
		for _, dep := range d.Spec.Depends {
			c.add(d.Namespace, dep.Unit)
		}
		for _, e := range d.Spec.Expose {
			hosts[strings.ToLower(e.Host)] = true
		}
	}
	if len(hosts) > 0 {
		for s := range snap.Stacks("*") {
			if s.Spec != nil && slices.ContainsFunc(s.Spec.Expose, func(e *api.StackExposure) bool { return hosts[strings.ToLower(e.Host)] }) {
				c.add(s.Namespace, s.Unit)
			}
		}
	}
	units := slices.SortedFunc(maps.Keys(c.seen), func(a, b api.NamespacedID) int {
		return cmp.Or(strings.Compare(a.Namespace, b.Namespace), strings.Compare(a.ID, b.ID))
	})
	return lifecycle.NewIndex(c.input()), units
}

// A closure collects units, and the units that they depend on.
type closure struct {
	snap   *state.Snapshot
	seen   map[api.NamespacedID]bool // units, by namespace and name
	stacks map[*api.Stack]bool
}

// add adds the stacks of a unit in a namespace and in the namespaces around it, and what they depend on.
func (c *closure) add(namespace, unit string) {
	for ; namespace != "."; namespace = path.Dir(namespace) {
		key := api.NamespacedID{Namespace: namespace, ID: unit}
		if c.seen[key] {
			return // those around it were added with it
		}
		c.seen[key] = true
		for s := range c.snap.StacksOfUnit(namespace, unit) {
			if s.Status == api.StackTerminated {
				continue
			}
			c.stacks[s] = true
			if s.Spec == nil {
				continue
			}
			for _, dep := range s.Spec.Depends {
				c.add(namespace, dep.Unit)
			}
		}
	}
}

// input returns the stacks with the rules and running shifts of their units.
func (c *closure) input() (in lifecycle.Input) {
	for s := range c.stacks {
		in.Stacks = append(in.Stacks, s)
	}
	for key := range c.seen {
		if rules := c.snap.Unit(key.Namespace, key.ID); rules != nil {
			in.Units = append(in.Units, rules)
		}
		if rules := c.snap.Unit(api.AnyNamespace, key.ID); rules != nil {
			in.Units = append(in.Units, rules)
		}
		for s := range c.snap.ShiftsOfUnit(key.Namespace, key.ID) {
			if s.IsActive() {
				in.Shifts = append(in.Shifts, s)
			}
		}
	}
	return in
}
