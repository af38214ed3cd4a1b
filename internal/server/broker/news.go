// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package broker

// changeHistory records recent changes. An evaluation becomes blocked some time after its snapshot
// was taken, and changes in between count.
type changeHistory struct {
	nodes   map[string]change // last change by node
	classes map[string]uint64 // index of the last change, by class
	recent  []recentChange    // a ring
	next    int
	dropped uint64 // index of the newest change that has left recent
	newest  uint64
}

// A change of a node may have made room for an instance that did not fit before.
type change struct {
	class string
	index uint64
}

type recentChange struct {
	node  string
	index uint64
}

// recentChanges bounds the ring. For older changes, only the classes are known.
const recentChanges = 4096

func newChangeHistory() *changeHistory {
	return &changeHistory{nodes: map[string]change{}, classes: map[string]uint64{}, recent: make([]recentChange, 0, recentChanges)}
}

func (n *changeHistory) add(node, class string, index uint64) {
	n.nodes[node] = change{class, max(index, n.nodes[node].index)}
	n.classes[class] = max(index, n.classes[class])
	n.newest = max(n.newest, index)
	c := recentChange{node, index}
	if len(n.recent) < cap(n.recent) {
		n.recent = append(n.recent, c)
		return
	}
	n.dropped = max(n.dropped, n.recent[n.next].index)
	n.recent[n.next] = c
	n.next = (n.next + 1) % len(n.recent)
}

// forget removes a deleted node.
func (n *changeHistory) forget(node string) { delete(n.nodes, node) }

// since yields the nodes that changed after the index, newest first. It returns false if
// it no longer knows all of them.
func (n *changeHistory) since(index uint64, yield func(node string, c change) (more bool)) (all bool) {
	if n.newest <= index {
		return true
	}
	for i := range n.recent {
		at := n.next - 1 - i
		if at < 0 {
			at += len(n.recent)
		}
		c := n.recent[at]
		if c.index <= index {
			continue // changes arrive in feed order by node and class, but repeated offers do not
		}
		if last, ok := n.nodes[c.node]; ok && !yield(c.node, last) {
			return true
		}
	}
	return n.dropped <= index
}
