// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package client

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/reeve-run/reeve/api"
)

// A heritage keeps the shares of stacks while servers with less knowledge take over. Without
// them, stacks without a share of the traffic would receive the same as all others. The
// previous servers' description of a stack stays valid as long as the stack has entries and the new
// servers know no stack of its unit.
type heritage struct {
	known     map[api.NamespacedID]*api.StackShare // the servers' stacks
	inherited map[api.NamespacedID]*api.StackShare // stacks of the previous servers
}

func keyOfShare(s *api.StackShare) api.NamespacedID {
	return api.NamespacedID{Namespace: s.Namespace, ID: s.Stack}
}

// unitOf returns the namespace and the unit of a stack.
func unitOf(stack api.NamespacedID) api.NamespacedID {
	unit, _, _, _ := api.ParseStackName(stack.ID)
	return api.NamespacedID{Namespace: stack.Namespace, ID: unit}
}

// begin takes in the stacks of a complete update. With inherit, those of the previous servers
// stay valid.
func (h *heritage) begin(stacks []*api.StackShare, inherit bool) {
	if inherit {
		if h.inherited == nil {
			h.inherited = make(map[api.NamespacedID]*api.StackShare)
		}
		maps.Copy(h.inherited, h.known)
	}
	h.known = make(map[api.NamespacedID]*api.StackShare, len(stacks))
	h.learn(stacks)
}

// learn takes in the servers' stacks, and drops the inherited ones of the same units.
func (h *heritage) learn(stacks []*api.StackShare) (dropped []api.NamespacedID) {
	units := make(map[api.NamespacedID]bool)
	for _, s := range stacks {
		if s == nil {
			continue
		}
		if s.Removed {
			delete(h.known, keyOfShare(s))
		} else {
			h.known[keyOfShare(s)] = s
		}
		units[unitOf(keyOfShare(s))] = true
	}
	return h.drop(func(stack api.NamespacedID) bool { return units[unitOf(stack)] })
}

// prune drops the inherited stacks without entries.
func (h *heritage) prune(entries ...map[string]*api.CatalogEntry) []api.NamespacedID {
	if len(h.inherited) == 0 {
		return nil
	}
	used := make(map[api.NamespacedID]bool)
	for _, all := range entries {
		for _, e := range all {
			used[api.NamespacedID{Namespace: e.Namespace, ID: e.JobID}] = true
		}
	}
	return h.drop(func(stack api.NamespacedID) bool { return !used[stack] })
}

// drop drops inherited stacks, and returns those that the servers do not know.
func (h *heritage) drop(isOver func(api.NamespacedID) bool) (dropped []api.NamespacedID) {
	for stack := range h.inherited {
		if isOver(stack) {
			delete(h.inherited, stack)
			if h.known[stack] == nil {
				dropped = append(dropped, stack)
			}
		}
	}
	return dropped
}

// all returns the inherited stacks, in order.
func (h *heritage) all() []*api.StackShare {
	return slices.SortedFunc(maps.Values(h.inherited), func(a, b *api.StackShare) int {
		return cmp.Or(strings.Compare(a.Namespace, b.Namespace), strings.Compare(a.Stack, b.Stack))
	})
}

// removed describes dropped stacks, in order.
func removed(dropped []api.NamespacedID) (stacks []*api.StackShare) {
	slices.SortFunc(dropped, func(a, b api.NamespacedID) int {
		return cmp.Or(strings.Compare(a.Namespace, b.Namespace), strings.Compare(a.ID, b.ID))
	})
	for _, stack := range dropped {
		stacks = append(stacks, &api.StackShare{Namespace: stack.Namespace, Stack: stack.ID, Removed: true})
	}
	return stacks
}
