// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package node

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/reeve-run/reeve/api"
)

// A stray is an allocation on this node that its servers have never known: they lost their
// state, or were restored from an older copy. The node does not stop strays. It offers them
// to the servers, which may adopt them, and keeps them in any case.
//
// The difference from an allocation that the servers have removed: a cluster has a name as
// long as its state exists, so a cluster cannot have removed an allocation that another one
// placed. Nor can servers whose history lacks the position of the last message that the node
// received: they say so at the start of a stream.
const (
	keyCluster  = "cluster"
	keyTimeline = "timeline"
	keyStray    = "stray/"
	offerBatch  = 128
)

// loadStrays reads the node's cluster and strays from the ledger.
func (n *Node) loadStrays() error {
	n.cluster, n.timeline = string(n.ledger.Get(keyCluster)), string(n.ledger.Get(keyTimeline))
	n.keptOf = n.cluster
	return n.ledger.Each(keyStray, func(key string, value []byte) error {
		if id := strings.TrimPrefix(key, keyStray); n.runners[id] != nil {
			n.strays[id] = string(value)
			n.unoffered = string(value) // the previous agent may have ended before it offered them
		} else {
			n.ledger.Delete(key)
		}
		return nil
	})
}

// join notes the cluster of the servers. All allocations of another cluster become strays.
// The mutex is held.
func (n *Node) join(cluster string) {
	if cluster == "" || cluster == n.cluster {
		return
	}
	if n.cluster != "" {
		if len(n.runners) > 0 {
			n.unoffered = n.cluster
		}
		n.log.Warn("the servers belong to another cluster than before: the node's allocations continue, and are offered to them",
			"before", n.cluster, "now", cluster, "allocations", len(n.runners))
		for id := range n.runners {
			n.stray(id, n.cluster)
		}
	}
	n.cluster = cluster
	n.ledger.Put(keyCluster, []byte(cluster))
	n.keepPassport()
}

// position returns the position of the last message that the node received.
func (n *Node) position() api.Position {
	n.mu.Lock()
	defer n.mu.Unlock()
	p := api.Position{Timeline: n.timeline}
	for id, r := range n.runners {
		if _, stray := n.strays[id]; !stray {
			p.Index = max(p.Index, r.Allocation().CreateIndex)
		}
	}
	return p
}

// rewind prepares all allocations for servers that run from an older copy of their data, and
// continue their indexes from there. The mutex is held.
func (n *Node) rewind() {
	n.log.Warn("the servers run on an older copy of their data: allocations that they no longer know continue, and are offered to them",
		"allocations", len(n.runners))
	for id, r := range n.runners {
		if _, stray := n.strays[id]; !stray && !n.doomed[id] {
			r.ForgetServerIndexes()
		}
	}
}

// follow notes the timeline of the servers after a message was applied: if the agent ends in
// between, the next stream says again that the servers are rewound. The mutex is held.
func (n *Node) follow(timeline string) {
	if timeline != "" && timeline != n.timeline {
		n.timeline = timeline
		n.ledger.Put(keyTimeline, []byte(timeline))
		n.keepPassport()
	}
}

// stray notes that the servers do not know the allocation. The mutex is held.
func (n *Node) stray(id, cluster string) {
	if _, known := n.strays[id]; known || n.doomed[id] {
		return
	}
	n.strays[id] = cluster
	n.ledger.Put(keyStray+id, []byte(cluster))
	n.runners[id].ForgetServerIndexes()
}

// found notes that the servers know the allocation. The mutex is held.
func (n *Node) found(id string) {
	if _, stray := n.strays[id]; !stray {
		return
	}
	delete(n.strays, id)
	n.ledger.Delete(keyStray + id)
	if r := n.runners[id]; r != nil { // the servers ignored earlier reports
		n.reporter.mark(id, r.Report, true)
	}
}

// missing decides about an allocation that is not in the servers' complete list. The mutex
// is held.
func (n *Node) missing(id string, m *api.NodeAllocations) {
	// A server that lags behind the others may not have reached the allocation's index yet.
	if m.Rewound || m.ClusterID != "" && n.runners[id].Allocation().CreateIndex > m.Index {
		n.stray(id, n.cluster)
	}
	if _, stray := n.strays[id]; stray {
		n.offerSoon()
		return
	}
	n.discard(id, "The servers no longer know the allocation")
}

func (n *Node) offerSoon() {
	select {
	case n.offers <- struct{}{}:
	default:
	}
}

// keepOffering offers strays whenever the node has new ones.
func (n *Node) keepOffering(ctx context.Context) {
	pause := newBackoff(100*time.Millisecond, 10*time.Second)
	for {
		select {
		case <-n.offers:
		case <-ctx.Done():
			return
		}
		for !n.offer(ctx) && pause.wait(ctx) {
		}
		pause.reset()
	}
}

// offer offers all strays, and reports whether the servers have answered.
func (n *Node) offer(ctx context.Context) bool {
	n.mu.Lock()
	of := n.unoffered
	var orphans []*api.OfferedOrphan
	for id, cluster := range n.strays {
		r := n.runners[id]
		if r == nil {
			continue
		}
		if a := r.FullReport(); !a.IsTerminal() {
			orphans = append(orphans, &api.OfferedOrphan{ClusterID: cluster, Allocation: a})
		}
	}
	n.mu.Unlock()
	slices.SortFunc(orphans, func(a, b *api.OfferedOrphan) int { return strings.Compare(a.Allocation.ID, b.Allocation.ID) })
	for batch := range slices.Chunk(orphans, offerBatch) {
		refused, err := n.config.Servers.OfferOrphans(ctx, n.identity.ID, batch)
		if err != nil {
			if ctx.Err() == nil {
				n.log.Warn("cannot offer allocations that the servers do not know", "allocations", len(batch), "error", err)
			}
			return false
		}
		for id, why := range refused {
			n.log.Error("the servers reject an allocation that runs here: it continues until an operator stops it", "allocation", id, "why", why)
		}
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.unoffered == of { // unless the cluster changed in the meantime
		n.unoffered = ""
	}
	return true
}

// introduce joins the cluster of the servers that answered a registration. It reports whether
// the node must register again, because it first had to recognize its strays.
func (n *Node) introduce(ctx context.Context, answer *api.NodeHeartbeatResponse) (again bool) {
	if answer == nil {
		return false
	}
	n.mu.Lock()
	n.join(answer.ClusterID)
	n.mu.Unlock()
	if answer.Status != api.NodeStatusInit {
		return false
	}
	pause := newBackoff(100*time.Millisecond, 5*time.Second)
	for !n.offer(ctx) {
		if !pause.wait(ctx) {
			return false
		}
	}
	return true
}

// registration returns the description that the node registers with.
func (n *Node) registration() *api.Node {
	node := n.Node().Copy()
	n.mu.Lock()
	defer n.mu.Unlock()
	switch {
	case n.unoffered != "":
		node.LastCluster = n.unoffered
	case len(n.runners) > 0:
		node.LastCluster = n.cluster
	}
	return node
}
