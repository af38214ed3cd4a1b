// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package plan

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

// node is the allocation's, nil if it was removed.
func (s *presence) node(a *api.Allocation) *api.Node {
	n, known := s.nodes[a.NodeID]
	if !known {
		n = s.r.Node(a.NodeID)
		note(&s.nodes, a.NodeID, n)
		s.seenDrain = s.seenDrain || n != nil && n.DrainStrategy != nil
	}
	return n
}

// isLostWithNode reports whether the allocation is lost with its node.
func (s *presence) isLostWithNode(a *api.Allocation) bool {
	n := s.node(a)
	return n == nil || isSilent(n) && s.absenceOf(a) == nil
}

// isUnreachable reports whether the allocation's node is silent, and may come back
// with it.
func (s *presence) isUnreachable(a *api.Allocation) bool {
	return s.absenceOf(a) != nil
}

// isSuspected reports whether the allocation is lost once something else is up in
// its place.
func (s *presence) isSuspected(a *api.Allocation) bool {
	ab := s.absenceOf(a)
	return ab != nil && ab.suspect
}

// isSilent reports whether the servers do not hear of the node.
func isSilent(n *api.Node) bool {
	return n.Status == api.NodeStatusDown || n.Status == api.NodeStatusDisconnected
}

// whyLost says why an allocation is lost.
func (s *presence) whyLost(a *api.Allocation) api.Reason {
	n, d := s.node(a), s.disconnect(a)
	switch {
	case n == nil:
		return api.ReasonNodeRemoved
	case d == nil:
	case !isSilent(n) && d.StopOnClientAfter != nil:
		return api.ReasonFenced
	case !isSilent(n):
	case n.Status == api.NodeStatusDisconnected && d.LostAfter != nil:
		return api.ReasonDisconnected
	case d.StopOnClientAfter != nil:
		return api.ReasonFenced
	}
	return api.ReasonNodeDown
}

// isDrained reports whether the allocation is on a node that is drained.
func (s *presence) isDrained(a *api.Allocation) bool {
	n := s.node(a)
	return n != nil && n.DrainStrategy != nil
}

// mayStay reports whether an allocation that has to move may run on until there
// is a place for its replacement, or that serves: its node is drained, and not for too long yet.
func (s *presence) mayStay(a *api.Allocation) bool {
	n := s.r.Node(a.NodeID)
	return n != nil && n.DrainStrategy != nil && !n.DrainStrategy.IsPast(s.now)
}

// isLost reports whether nobody is there to stop the allocation, and none is
// waited for any more.
func (s *presence) isLost(a *api.Allocation) bool {
	ab := s.absenceOf(a)
	return s.isLostWithNode(a) || ab != nil && (ab.until.IsZero() || ab.recovered)
}

// whyMoved says why an allocation has to stop that is to be started elsewhere.
func (s *presence) whyMoved(a *api.Allocation) api.Reason {
	if n := s.node(a); n != nil && n.DrainStrategy != nil {
		return api.ReasonMigrated
	}
	return api.ReasonMoved
}

// whyMovedAway is whyMoved for what something else has taken over from.
func (s *presence) whyMovedAway(a *api.Allocation) api.Reason {
	if s.isDrained(a) {
		return api.ReasonMigrated
	}
	return api.ReasonDuplicate
}

// isSuspect reports whether the allocation may run on a node that is not heard of.
func (s *presence) isSuspect(a *api.Allocation) bool {
	switch a.ClientStatus {
	case api.AllocClientComplete, api.AllocClientFailed:
		return false
	}
	n := s.node(a)
	return n != nil && isSilent(n) || a.IsSuspect() && a.IsRoutable()
}
