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
func (s *presence) absenceOf(a *api.Allocation) *absence {
	n := s.node(a)
	if n == nil || !isSilent(n) {
		return nil
	}
	d := s.disconnect(a)
	if s.job != nil && !isOf(s.job, a) { // of a job that was removed and registered again since
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
func (s *presence) recoveryAbsence(a *api.Allocation, n *api.Node) *absence {
	if !isWanted(s.job) || s.job.RunsOnEveryNode() || a.IsServerTerminal() || a.NextAllocation != "" {
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
func (s *presence) suspectAbsence(a *api.Allocation) *absence {
	if !isWanted(s.job) || s.job.RunsOnEveryNode() || s.job.RunsToCompletion() || a.IsServerTerminal() || a.DesiredTransition.ShouldMigrate() {
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

// disconnect is the policy for an allocation: the newest one, which is changed
// in place, or that of its own version if its group has left the job.
func (s *presence) disconnect(a *api.Allocation) *api.Disconnect {
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
			if w.stopped[a] {
				continue
			}
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
