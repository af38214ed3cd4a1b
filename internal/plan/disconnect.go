// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"time"

	"github.com/reeve-run/reeve/api"
)

// An absence is what may be hoped of an allocation whose node is silent: what the
// disconnect or the recovery block says; without them, that it comes back before
// its replacement is up. Without an absence it is lost.
type absence struct {
	until    time.Time // then it is lost; zero: as long as its node is known
	replaced bool      // its instance is started elsewhere meanwhile
	// recovered is set when that is by the recovery block: its instance goes on
	// where it is, if it can.
	recovered bool
	// suspect is set when it is lost as soon as its replacement is up.
	suspect bool
}

// absenceOf returns the absence of an allocation; nil if its node is there, or if it
// is lost.
func (s *survey) absenceOf(a *api.Allocation) *absence {
	n := s.node(a)
	if n == nil || !isSilent(n) {
		return nil
	}
	d := s.disconnect(a)
	if s.job != nil && !s.knows(a) { // of a job that was removed and registered again since
		return nil
	}
	if d == nil {
		if ab := s.recoveryAbsence(a, n); ab != nil {
			return ab
		}
		return s.suspectAbsence(a)
	}
	ab := &absence{}
	since := time.Unix(n.StatusUpdatedAt, 0)
	switch {
	case n.Status == api.NodeStatusDisconnected && d.LostAfter != nil:
		ab.until, ab.replaced = since.Add(*d.LostAfter), d.Replaces()
	case d.StopOnClientAfter != nil: // the node stops it itself; until then it may run
		ab.until = since.Add(*d.StopOnClientAfter)
	case d.LostAfter != nil:
	case !d.Replaces() && !a.IsServerTerminal():
		return ab
	default:
		return s.suspectAbsence(a)
	}
	if !ab.until.After(s.now) {
		return nil
	}
	return ab
}

// recoveryAbsence returns the absence that the recovery block gives: none to what was
// replaced already, by a disconnect block that the job had until now.
func (s *survey) recoveryAbsence(a *api.Allocation, n *api.Node) *absence {
	if !s.wanted() || s.job.RunsOnEveryNode() || a.IsServerTerminal() || a.NextAllocation != "" {
		return nil
	}
	after := permanentAfter(s.job.Group(a.Group))
	until := time.Unix(n.StatusUpdatedAt, 0).Add(after)
	if after <= 0 || !until.After(s.now) {
		return nil
	}
	return &absence{until: until, recovered: true}
}

// suspectAbsence returns the absence of a service's instance that ran: it is suspect
// until its replacement is up, and has its place again if its node is back
// before. Where a recovery block gave it time, that is over.
func (s *survey) suspectAbsence(a *api.Allocation) *absence {
	if !s.wanted() || s.job.RunsOnEveryNode() || s.job.RunsToCompletion() || a.IsServerTerminal() || a.DesiredTransition.ShouldMigrate() {
		return nil
	}
	if a.ClientStatus != api.AllocClientRunning && a.ClientStatus != api.AllocClientUnknown {
		return nil // nothing of it is known to have run
	}
	if permanentAfter(s.job.Group(a.Group)) > 0 {
		return nil
	}
	return &absence{replaced: true, suspect: true}
}

// isSuspected reports whether the allocation is lost once something else is up in
// its place.
func (s *survey) isSuspected(a *api.Allocation) bool {
	ab := s.absenceOf(a)
	return ab != nil && ab.suspect
}

// isSilent reports whether the servers do not hear of the node.
func isSilent(n *api.Node) bool {
	return n.Status == api.NodeStatusDown || n.Status == api.NodeStatusDisconnected
}

// disconnect is the policy for an allocation: the newest one, which is changed
// in place, or that of its own version if its group has left the job.
func (s *survey) disconnect(a *api.Allocation) *api.Disconnect {
	for _, job := range []*api.Job{s.job, a.Job} {
		if job == nil {
			continue
		}
		if g := job.Group(a.Group); g != nil {
			return g.Disconnect
		}
	}
	return nil
}

// node is the allocation's, nil if it was removed.
func (s *survey) node(a *api.Allocation) *api.Node {
	n, known := s.nodes[a.NodeID]
	if !known {
		n = s.r.Node(a.NodeID)
		note(&s.nodes, a.NodeID, n)
		s.drains = s.drains || n != nil && n.DrainStrategy != nil
	}
	return n
}

// isLostWithNode reports whether the allocation is lost with its node.
func (s *survey) isLostWithNode(a *api.Allocation) bool {
	n := s.node(a)
	return n == nil || isSilent(n) && s.absenceOf(a) == nil
}

// isUnreachable reports whether the allocation's node is silent, and may come back
// with it.
func (s *survey) isUnreachable(a *api.Allocation) bool {
	return s.absenceOf(a) != nil
}

// whyLost says why an allocation is lost, in words.
func (s *survey) whyLost(a *api.Allocation) string {
	n, d := s.node(a), s.disconnect(a)
	switch {
	case n == nil:
		return becauseRemoved
	case d == nil:
	case !isSilent(n) && d.StopOnClientAfter != nil:
		return becauseFenced
	case !isSilent(n):
	case n.Status == api.NodeStatusDisconnected && d.LostAfter != nil:
		return becauseAway
	case d.StopOnClientAfter != nil:
		return becauseFenced
	}
	return becauseLost
}

// noteAbsences notes which allocations are out of reach, and when those will be
// lost.
func (w *work) noteAbsences() {
	for _, g := range w.groups {
		for in := range g.every {
			if in.state == unknown {
				w.noteAbsence(in.alloc)
			}
		}
		for _, a := range g.behind {
			w.noteAbsence(a)
			if !w.isUnreachable(a) {
				w.result.Kept = append(w.result.Kept, a)
			}
		}
	}
}

func (w *work) noteAbsence(a *api.Allocation) {
	ab := w.absenceOf(a)
	if ab == nil {
		return
	}
	if a.ClientStatus != api.AllocClientUnknown {
		c := w.change(a)
		c.ClientStatus, c.ClientDescription = api.AllocClientUnknown, "its node is out of reach"
		w.counts(a.Group).Disconnect++
	}
	if !ab.until.IsZero() {
		w.due = append(w.due, followUp{a, ab.until, api.TriggerMaxDisconnect})
	}
}
