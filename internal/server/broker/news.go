// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package broker

// news remembers what changed lately: an evaluation becomes blocked some time
// after the state that it was worked out on, and a change in between counts.
type news struct {
	nodes   map[string]change // the last change of each node
	classes map[string]uint64 // by class: index of the last change
	recent  []recentChange    // a ring
	next    int
	dropped uint64 // index of the newest change that is not in recent any more
	newest  uint64
}

// change is of a node: something may fit there that did not.
type change struct {
	class string
	index uint64
}

type recentChange struct {
	node  string
	index uint64
}

// recentChanges bounds the ring. Beyond it only classes are known.
const recentChanges = 4096

func newNews() *news {
	return &news{nodes: map[string]change{}, classes: map[string]uint64{}, recent: make([]recentChange, 0, recentChanges)}
}

func (n *news) add(node, class string, index uint64) {
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

// addClass notes a change of a class without saying where.
func (n *news) addClass(class string, index uint64) {
	n.classes[class] = max(index, n.classes[class])
	n.newest, n.dropped = max(n.newest, index), max(n.dropped, index)
}

// forget drops a node that is gone.
func (n *news) forget(node string) { delete(n.nodes, node) }

// since yields the nodes that changed after the index, the last first. It is
// false if not all of them are known any more.
func (n *news) since(index uint64, yield func(node string, c change) (more bool)) (all bool) {
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
			continue // classes and nodes are told in the order of the feed, offers given back are not
		}
		if last, ok := n.nodes[c.node]; ok && !yield(c.node, last) {
			return true
		}
	}
	return n.dropped <= index
}
