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

// A stray is an allocation that runs here and that the servers have never known:
// they lost everything and began anew, or what they know is older than it. The
// node does not stop it. It offers it to the servers, which adopt it, and keeps
// it in any case.
//
// How is it told from one that the servers have removed? A cluster has a name
// for as long as its state lives. What another cluster placed, this one cannot
// have removed. Nor can servers whose history does not have the position up to
// which the node was told: they say so at the beginning of a stream.
const (
	keyCluster  = "cluster"
	keyTimeline = "timeline"
	keyStray    = "stray/"
	offerBatch  = 128
)

// loadStrays reads of which cluster the node was, and what it had to offer.
func (n *Node) loadStrays() error {
	n.cluster, n.timeline = string(n.ledger.Get(keyCluster)), string(n.ledger.Get(keyTimeline))
	n.keptOf = n.cluster
	return n.ledger.Each(keyStray, func(key string, value []byte) error {
		if id := strings.TrimPrefix(key, keyStray); n.runners[id] != nil {
			n.strays[id] = string(value)
			n.untold = string(value) // the agent may have ended before it offered it
		} else {
			n.ledger.Delete(key)
		}
		return nil
	})
}

// join notes of which cluster the servers are. Whatever another one placed here
// is a stray from then on. The mutex is held.
func (n *Node) join(cluster string) {
	if cluster == "" || cluster == n.cluster {
		return
	}
	if n.cluster != "" {
		if len(n.runners) > 0 {
			n.untold = n.cluster
		}
		n.log.Warn("the servers are of another cluster than before: what runs here goes on, and is offered to them",
			"before", n.cluster, "now", cluster, "allocations", len(n.runners))
		for id := range n.runners {
			n.stray(id, n.cluster)
		}
	}
	n.cluster = cluster
	n.ledger.Put(keyCluster, []byte(cluster))
	n.keepPassport()
}

// told is the position up to which the servers have told the node what it runs.
func (n *Node) told() api.Position {
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

// goBack has everything that runs here listen to servers that are on an older
// copy of their data: they count from there. The mutex is held.
func (n *Node) goBack() {
	n.log.Warn("the servers are on an older copy of their data: what they do not know any more goes on, and is offered to them",
		"allocations", len(n.runners))
	for id, r := range n.runners {
		if _, stray := n.strays[id]; !stray && !n.doomed[id] {
			r.ForgetServerIndexes()
		}
	}
}

// follow notes on which timeline the servers are. It comes after what they said
// has been noted: an agent that ended in between is told that they are rewound
// once more. The mutex is held.
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
	if r := n.runners[id]; r != nil { // what was reported meanwhile was passed over
		n.reporter.mark(id, r.Report, true)
	}
}

// missing decides about an allocation that the servers did not name although
// they named all. The mutex is held.
func (n *Node) missing(id string, m *api.NodeAllocations) {
	// A server that is behind the others has not reached the index yet.
	if m.Rewound || m.ClusterID != "" && n.runners[id].Allocation().CreateIndex > m.Index {
		n.stray(id, n.cluster)
	}
	if _, stray := n.strays[id]; stray {
		n.offerSoon()
		return
	}
	n.discard(id, "The servers do not know the allocation any more")
}

func (n *Node) offerSoon() {
	select {
	case n.offers <- struct{}{}:
	default:
	}
}

// keepOffering offers strays whenever the servers turn out not to know them.
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
	of := n.untold
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
		refused, err := n.config.Servers.OfferOrphans(ctx, n.identity.ID, n.identity.Secret, batch)
		if err != nil {
			if ctx.Err() == nil {
				n.log.Warn("offer allocations that the servers do not know", "allocations", len(batch), "error", err)
			}
			return false
		}
		for id, why := range refused {
			n.log.Error("the servers refuse an allocation that runs here: it goes on until somebody stops it", "allocation", id, "why", why)
		}
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.untold == of { // and not yet another one since
		n.untold = ""
	}
	return true
}

// introduce joins the cluster of the servers that answered a registration. It
// reports whether the node has to register again: what it runs had to be known
// first.
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

// introduced is what the servers are told of the node when it registers.
func (n *Node) introduced() *api.Node {
	node := n.Node().Copy()
	n.mu.Lock()
	defer n.mu.Unlock()
	switch {
	case n.untold != "":
		node.LastCluster = n.untold
	case len(n.runners) > 0:
		node.LastCluster = n.cluster
	}
	return node
}
