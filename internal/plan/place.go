// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package plan

import "github.com/reeve-run/reeve/api"

// A place names an instance.
type place struct {
	group string
	index int
	node  string // of a job that runs on every node
}

func (i *instance) place() place { return place{group: i.group.name, index: i.index, node: i.node} }

// name is group-index, or group@node of a job that runs on every node; a canary
// is told apart from the instance whose place it is to take.
func (i *instance) name() string {
	name := instanceName(i.group.name, i.index, i.node)
	if i.canary {
		name += "-canary"
	}
	return name
}

func instanceName(group string, index int, node string) string {
	if node != "" {
		return group + "@" + api.ShortID(node)
	}
	return api.InstanceName(group, index)
}

func taskNames(g *api.Group) []string {
	if g == nil {
		return nil
	}
	names := make([]string, len(g.Tasks))
	for i, t := range g.Tasks {
		names[i] = t.Name
	}
	return names
}
