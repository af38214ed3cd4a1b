// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package node

// CallerIn returns the id of the allocation whose task created a socket in the v2 control group
// with that id; "" if the group is that of no allocation of this node.
func (n *Node) CallerIn(group uint64) string {
	if n.config.Keeper == nil {
		return ""
	}
	alloc, _, _, ok := parseRun(n.config.Keeper.TaskIn(group))
	if !ok {
		return ""
	}
	if _, err := n.runner(alloc); err != nil {
		return ""
	}
	return alloc
}
