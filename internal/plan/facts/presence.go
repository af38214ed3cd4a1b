// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package facts

import (
	"time"

	"github.com/reeve-run/reeve/api"
)

// presence tells whether the nodes of a job's allocations respond, and what
// follows for the allocations.
type presence struct {
	r         Reader
	job       *api.Job
	now       time.Time
	nodes     map[string]*api.Node // memory of node; nil: removed
	seenDrain bool                 // reports whether a node in nodes is drained
}

// Node is the allocation's, nil if it was removed.
func (p *presence) Node(a *api.Allocation) *api.Node {
	n, known := p.nodes[a.NodeID]
	if !known {
		n = p.r.Node(a.NodeID)
		note(&p.nodes, a.NodeID, n)
		p.seenDrain = p.seenDrain || n != nil && n.DrainStrategy != nil
	}
	return n
}

// IsLostWithNode reports whether the allocation is lost with its node.
func (p *presence) IsLostWithNode(a *api.Allocation) bool {
	n := p.Node(a)
	return n == nil || IsSilent(n) && p.AbsenceOf(a) == nil
}

// IsUnreachable reports whether the allocation's node is silent, and may come back
// with it.
func (p *presence) IsUnreachable(a *api.Allocation) bool {
	return p.AbsenceOf(a) != nil
}

// IsSuspected reports whether the allocation is lost once something else is up in
// its place.
func (p *presence) IsSuspected(a *api.Allocation) bool {
	ab := p.AbsenceOf(a)
	return ab != nil && ab.Suspect
}

// IsSilent reports whether the servers do not hear of the node.
func IsSilent(n *api.Node) bool {
	return n.Status == api.NodeStatusDown || n.Status == api.NodeStatusDisconnected
}

// WhyLost says why an allocation is lost.
func (p *presence) WhyLost(a *api.Allocation) api.Reason {
	n, d := p.Node(a), p.disconnect(a)
	switch {
	case n == nil:
		return api.ReasonNodeRemoved
	case d == nil:
	case !IsSilent(n) && d.StopOnClientAfter != nil:
		return api.ReasonFenced
	case !IsSilent(n):
	case n.Status == api.NodeStatusDisconnected && d.LostAfter != nil:
		return api.ReasonDisconnected
	case d.StopOnClientAfter != nil:
		return api.ReasonFenced
	}
	return api.ReasonNodeDown
}

// IsDrained reports whether the allocation is on a node that is drained.
func (p *presence) IsDrained(a *api.Allocation) bool {
	n := p.Node(a)
	return n != nil && n.DrainStrategy != nil
}

// MayStay reports whether an allocation that has to move may run on until there
// is a place for its replacement, or that serves: its node is drained, and not for too long yet.
func (p *presence) MayStay(a *api.Allocation) bool {
	n := p.r.Node(a.NodeID)
	return n != nil && n.DrainStrategy != nil && !n.DrainStrategy.IsPast(p.now)
}

// IsLost reports whether no node can stop the allocation, and Reeve no longer waits for
// its node.
func (p *presence) IsLost(a *api.Allocation) bool {
	ab := p.AbsenceOf(a)
	return p.IsLostWithNode(a) || ab != nil && (ab.Until.IsZero() || ab.Recovered)
}

// WhyMoved says why an allocation has to stop that is to be started elsewhere.
func (p *presence) WhyMoved(a *api.Allocation) api.Reason {
	if n := p.Node(a); n != nil && n.DrainStrategy != nil {
		return api.ReasonMigrated
	}
	return api.ReasonMoved
}

// whyMovedAway is whyMoved for what something else has taken over from.
func (p *presence) whyMovedAway(a *api.Allocation) api.Reason {
	if p.IsDrained(a) {
		return api.ReasonMigrated
	}
	return api.ReasonDuplicate
}

// IsSuspect reports whether the allocation may run on a node that is not heard of.
func (p *presence) IsSuspect(a *api.Allocation) bool {
	switch a.ClientStatus {
	case api.AllocClientComplete, api.AllocClientFailed:
		return false
	}
	n := p.Node(a)
	return n != nil && IsSilent(n) || a.IsSuspect() && a.IsRoutable()
}
