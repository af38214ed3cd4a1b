// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package state

import (
	"slices"
	"strings"

	"github.com/reeve-run/reeve/api"
)

// changedUnits returns the names of the units whose stacks may have other callers, or may be called
// by other versions, than at an index: units of stacks that changed, what live ones of those depend on, units with other
// rules, and units with a new shift. The progress of a shift changes neither.
func (c *content) changedUnits(since uint64) map[string]bool {
	changed := make(map[string]bool)
	for s := range c.Stacks("*") {
		if s.ModifyIndex <= since {
			continue
		}
		changed[s.Unit] = true
		if s.IsLive() && s.Spec != nil {
			for _, dep := range s.Spec.Depends {
				changed[dep.Unit] = true
			}
		}
	}
	for u := range c.Units() {
		if u.ModifyIndex > since {
			changed[u.Name] = true
		}
	}
	for s := range c.Shifts() {
		if s.CreateIndex > since {
			changed[s.Unit] = true
		}
	}
	return changed
}

// changedUnit returns the name of a unit among those given of which a stack or the rules changed after
// an index, or "".
func (c *content) changedUnit(units []api.NamespacedID, since uint64) string {
	for _, key := range units {
		for s := range c.StacksOfUnit(key.Namespace, key.ID) {
			if s.ModifyIndex > since {
				return key.ID
			}
		}
		for _, namespace := range []string{key.Namespace, api.AnyNamespace} {
			if u := c.Unit(namespace, key.ID); u != nil && u.ModifyIndex > since {
				return key.ID
			}
		}
	}
	return ""
}

// changedExposure returns the name of a stack that changed after an index and exposes a host of new stacks
// of other units, or "".
func (c *content) changedExposure(new []*api.Stack, since uint64) string {
	hosts := make(map[string]*api.Stack)
	for _, s := range new {
		if s != nil && s.Spec != nil {
			for _, e := range s.Spec.Expose {
				hosts[strings.ToLower(e.Host)] = s
			}
		}
	}
	if len(hosts) == 0 {
		return ""
	}
	for s := range c.Stacks("*") {
		if s.ModifyIndex <= since || s.Spec == nil {
			continue
		}
		if slices.ContainsFunc(s.Spec.Expose, func(e *api.StackExposure) bool {
			other := hosts[strings.ToLower(e.Host)]
			return other != nil && (other.Namespace != s.Namespace || other.Unit != s.Unit)
		}) {
			return s.Name
		}
	}
	return ""
}
