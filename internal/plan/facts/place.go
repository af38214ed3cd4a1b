// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package facts

import (
	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/plan/decision"
)

func (i *Instance) Place() decision.Place {
	return decision.Place{Group: i.Group.Name, Index: i.Index, Node: i.Node}
}

// Name returns group-index, or group@node for a job that runs on every node. The name
// of a canary differs from that of the instance whose place it is to take.
func (i *Instance) Name() string {
	name := InstanceName(i.Group.Name, i.Index, i.Node)
	if i.Canary {
		name += "-canary"
	}
	return name
}

func InstanceName(group string, index int, node string) string {
	if node != "" {
		return group + "@" + api.ShortID(node)
	}
	return api.InstanceName(group, index)
}

func TaskNames(g *api.Group) []string {
	if g == nil {
		return nil
	}
	names := make([]string, len(g.Tasks))
	for i, t := range g.Tasks {
		names[i] = t.Name
	}
	return names
}

// Ending returns the allocation that held the instance after the present one, was stopped, and has
// not ended yet; nil without one. It was stopped early, to make room for its successor, while an
// older allocation is out of reach.
func (i *Instance) Ending() *api.Allocation {
	if i.Last == nil || i.Last.IsClientTerminal() || !newer(i.Last, i.Alloc) {
		return nil
	}
	return i.Last
}

// HolderID returns the id of the allocation that holds the instance, or held it last.
func (i *Instance) HolderID() string {
	switch {
	case i.Alloc != nil:
		return i.Alloc.ID
	case i.Last != nil:
		return i.Last.ID
	}
	return ""
}
