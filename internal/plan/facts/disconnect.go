// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package facts

import (
	"time"

	"github.com/reeve-run/reeve/api"
)

// An absence is what may be hoped of an allocation whose node is silent: what the
// disconnect or the recovery block says; without them, that it comes back before
// its replacement is up. Without an absence it is lost.
type absence struct {
	Until    time.Time // then it is lost; zero: as long as its node is known
	Replaced bool      // its instance is started elsewhere meanwhile
	// Recovered is set when that is by the recovery block: its instance goes on
	// where it is, if it can.
	Recovered bool
	// Suspect is set when it is lost as soon as its replacement is up.
	Suspect bool
}

// AbsenceOf returns the absence of an allocation; nil if its node is there, or if it
// is lost.
func (p *presence) AbsenceOf(a *api.Allocation) *absence {
	n := p.Node(a)
	if n == nil || !IsSilent(n) {
		return nil
	}
	d := p.disconnect(a)
	if p.job != nil && !isOf(p.job, a) { // of a job that was removed and registered again since
		return nil
	}
	if d == nil {
		if ab := p.recoveryAbsence(a, n); ab != nil {
			return ab
		}
		return p.suspectAbsence(a)
	}
	ab := &absence{}
	since := time.Unix(n.StatusUpdatedAt, 0)
	switch {
	case n.Status == api.NodeStatusDisconnected && d.LostAfter != nil:
		ab.Until, ab.Replaced = since.Add(*d.LostAfter), d.Replaces()
	case d.StopOnClientAfter != nil: // the node stops it itself; until then it may run
		ab.Until = since.Add(*d.StopOnClientAfter)
	case d.LostAfter != nil:
	case !d.Replaces() && !a.IsServerTerminal():
		return ab
	default:
		return p.suspectAbsence(a)
	}
	if !ab.Until.After(p.now) {
		return nil
	}
	return ab
}

// recoveryAbsence returns the absence that the recovery block gives: none to what was
// replaced already, by a disconnect block that the job had until now.
func (p *presence) recoveryAbsence(a *api.Allocation, n *api.Node) *absence {
	if !isWanted(p.job) || p.job.RunsOnEveryNode() || a.IsServerTerminal() || a.NextAllocation != "" {
		return nil
	}
	after := PermanentAfter(p.job.Group(a.Group))
	until := time.Unix(n.StatusUpdatedAt, 0).Add(after)
	if after <= 0 || !until.After(p.now) {
		return nil
	}
	return &absence{Until: until, Recovered: true}
}

// suspectAbsence returns the absence of a service's instance that ran: it is suspect
// until its replacement is up, and has its place again if its node is back
// before. Where a recovery block gave it time, that is over.
func (p *presence) suspectAbsence(a *api.Allocation) *absence {
	if !isWanted(p.job) || p.job.RunsOnEveryNode() || p.job.RunsToCompletion() || a.IsServerTerminal() || a.DesiredTransition.ShouldMigrate() {
		return nil
	}
	if a.ClientStatus != api.AllocClientRunning && a.ClientStatus != api.AllocClientUnknown {
		return nil // nothing of it is known to have run
	}
	if PermanentAfter(p.job.Group(a.Group)) > 0 {
		return nil
	}
	return &absence{Replaced: true, Suspect: true}
}

// disconnect is the policy for an allocation: the newest one, which is changed
// in place, or that of its own version if its group has left the job.
func (p *presence) disconnect(a *api.Allocation) *api.Disconnect {
	for _, job := range []*api.Job{p.job, a.Job} {
		if job == nil {
			continue
		}
		if g := job.Group(a.Group); g != nil {
			return g.Disconnect
		}
	}
	return nil
}
