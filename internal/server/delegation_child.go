// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package server

import (
	"slices"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/acl"
)

// checkChild returns an error if a namespace allows its jobs anything that its parent does not allow. old
// is the stored namespace; nil: it is new.
func checkChild(n, old, parent *api.Namespace) error {
	own := func(quota string) bool { return quota == "" || quota == parent.Quota }
	unchanged := old != nil && n.Quota == old.Quota
	switch {
	case !unchanged && (!own(n.Quota) || old != nil && !own(old.Quota)):
		return &Refusal{"only management tokens give a namespace another quota than its parent, or take it away: the quotas of the namespaces above limit it too"}
	case !within(capabilitiesOf(n), capabilitiesOf(parent)):
		return &Refusal{"the namespace would allow task drivers or network modes that its parent " + parent.Name + " does not allow; see: reeve namespace inspect " + parent.Name}
	case !poolsWithin(n.NodePoolConfiguration, parent.NodePoolConfiguration):
		return &Refusal{"the namespace would allow node pools that its parent " + parent.Name + " does not allow; leave out node_pool_config to take over that of the parent, or see: reeve namespace inspect " + parent.Name}
	case !prioritiesWithin(n.Priorities, parent.Priorities):
		return &Refusal{"the namespace would allow priorities that its parent " + parent.Name + " does not allow; leave out priorities to take over those of the parent, or see: reeve namespace inspect " + parent.Name}
	}
	return nil
}

// prioritiesWithin reports whether a child allows only priorities that its parent allows.
func prioritiesWithin(child, parent *api.NamespacePriorities) bool {
	lo, hi := child.Range()
	least, most := parent.Range()
	return lo >= least && hi <= most
}

func capabilitiesOf(n *api.Namespace) api.NamespaceCapabilities {
	if n.Capabilities == nil {
		return api.NamespaceCapabilities{}
	}
	return *n.Capabilities
}

func within(child, parent api.NamespaceCapabilities) bool {
	return listsWithin(child.EnabledTaskDrivers, child.DisabledTaskDrivers, parent.EnabledTaskDrivers, parent.DisabledTaskDrivers) &&
		listsWithin(child.EnabledNetworkModes, child.DisabledNetworkModes, parent.EnabledNetworkModes, parent.DisabledNetworkModes)
}

// listsWithin reports whether the enabled and disabled values of a child allow only what those of its
// parent allow. An empty list of enabled values allows all that are not disabled.
func listsWithin(enabled, disabled, parentEnabled, parentDisabled []string) bool {
	if len(enabled) == 0 {
		return len(parentEnabled) == 0 && !slices.ContainsFunc(parentDisabled, func(v string) bool { return !slices.Contains(disabled, v) })
	}
	for _, v := range enabled {
		allowed := (len(parentEnabled) == 0 || slices.Contains(parentEnabled, v)) && !slices.Contains(parentDisabled, v)
		if !allowed && !slices.Contains(disabled, v) {
			return false
		}
	}
	return true
}

// poolsWithin reports whether rules about node pools allow only what those of the parent allow.
func poolsWithin(child, parent *api.NamespaceNodePools) bool {
	if parent == nil || len(parent.Allowed) == 0 && len(parent.Denied) == 0 {
		return true
	}
	if child == nil || child.Default != "" && !parent.Allows(child.Default) {
		return false
	}
	covered := func(pattern string, by []string) bool {
		return slices.ContainsFunc(by, func(p string) bool { return acl.PatternCovers(p, pattern) })
	}
	switch {
	case len(child.Allowed) > 0 && len(parent.Allowed) > 0:
		for _, pattern := range child.Allowed {
			if !covered(pattern, parent.Allowed) && pattern != parent.Default {
				return false
			}
		}
	case len(child.Allowed) > 0:
		// Without being named, the pool of all nodes is denied wherever one pool is.
		denied := append([]string{api.NodePoolAll}, parent.Denied...)
		for _, pattern := range child.Allowed {
			overlaps := func(p string) bool { return acl.PatternsOverlap(p, pattern) }
			if slices.ContainsFunc(denied, overlaps) && pattern != parent.Default {
				return false
			}
		}
	case len(child.Denied) > 0 && len(parent.Allowed) == 0:
		for _, pattern := range parent.Denied {
			if !covered(pattern, child.Denied) {
				return false
			}
		}
	default:
		return false
	}
	return true
}
