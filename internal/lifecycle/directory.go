// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/reeve-run/reeve/api"
)

// A Directory holds the rosters of all units as the catalog's stream describes their stacks. The
// cost of an update depends on the units that it changes. A directory is for one goroutine
// at a time; its rosters are immutable.
type Directory struct {
	stacks  map[unitKey]map[string]*api.StackShare // by unit and name
	rosters map[Place][]*Roster
	units   map[string]int // number of places by namespace
}

// A Place is a unit in a namespace, as names in DNS spell both.
type Place struct{ Unit, Namespace string }

// NewDirectory returns an empty directory.
func NewDirectory() *Directory {
	return &Directory{stacks: make(map[unitKey]map[string]*api.StackShare), rosters: make(map[Place][]*Roster), units: make(map[string]int)}
}

// Apply takes in an update, and returns the places whose roster has changed, in order.
func (d *Directory) Apply(u *api.CatalogUpdate) []Place {
	dirty := make(map[unitKey]bool)
	if u.Complete {
		for key := range d.stacks {
			dirty[key] = true
		}
		clear(d.stacks)
	}
	for _, s := range u.Stacks {
		if s == nil {
			continue
		}
		unit, _, _, ok := api.ParseStackName(s.Stack)
		if !ok {
			continue
		}
		key := unitKey{s.Namespace, unit}
		dirty[key] = true
		switch {
		case s.Removed:
			delete(d.stacks[key], s.Stack)
			continue
		case d.stacks[key] == nil:
			d.stacks[key] = make(map[string]*api.StackShare)
		}
		d.stacks[key][s.Stack] = s
	}
	changed := make(map[Place]bool, len(dirty))
	for key := range dirty {
		changed[d.rebuild(key)] = true
	}
	return slices.SortedFunc(maps.Keys(changed), func(a, b Place) int {
		return cmp.Or(strings.Compare(a.Unit, b.Unit), strings.Compare(a.Namespace, b.Namespace))
	})
}

func (d *Directory) rebuild(key unitKey) Place {
	p := Place{key.name, NamespaceName(key.namespace)}
	list := slices.DeleteFunc(slices.Clone(d.rosters[p]), func(r *Roster) bool { return r.Namespace == key.namespace })
	if stacks := d.stacks[key]; len(stacks) > 0 {
		list = append(list, NewRoster(key.namespace, key.name, slices.Collect(maps.Values(stacks))))
		// Names in DNS have no capital letters: of two namespaces that differ in these alone, the
		// one without has the name.
		slices.SortFunc(list, func(a, b *Roster) int { return strings.Compare(b.Namespace, a.Namespace) })
	} else {
		delete(d.stacks, key)
	}
	had := len(d.rosters[p]) > 0
	switch {
	case len(list) > 0 && !had:
		d.units[p.Namespace]++
	case len(list) == 0 && had:
		if d.units[p.Namespace]--; d.units[p.Namespace] == 0 {
			delete(d.units, p.Namespace)
		}
	}
	d.rosters[p] = list
	if len(list) == 0 {
		delete(d.rosters, p)
	}
	return p
}

// At returns the roster of a place, or nil.
func (d *Directory) At(p Place) *Roster {
	if list := d.rosters[p]; len(list) > 0 {
		return list[0]
	}
	return nil
}

// HasNamespace reports whether a namespace, as in DNS, has units.
func (d *Directory) HasNamespace(name string) bool { return d.units[name] > 0 }

// IsAboveNamespace reports whether a namespace with units is below a name.
func (d *Directory) IsAboveNamespace(name string) bool {
	for namespace := range d.units {
		if rest, ok := strings.CutSuffix(namespace, name); ok && strings.HasSuffix(rest, ".") {
			return true
		}
	}
	return false
}
