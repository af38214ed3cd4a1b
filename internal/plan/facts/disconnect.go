// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package facts

import (
	"time"

	"github.com/reeve-run/reeve/api"
)

// An absence says how long Reeve waits for an allocation whose node is silent: as long
// as the disconnect or the recovery block says, or else until its replacement is up.
// Without an absence the allocation is lost.
type absence struct {
	Until    time.Time // end of the wait, when it is lost; zero: no end while its node is known
	Replaced bool      // reports whether its instance is started elsewhere in the meantime
	// Recovered reports whether the recovery block grants the absence: the instance
	// continues on its node, if the node returns in time.
	Recovered bool
	// Suspect reports whether it is lost as soon as its replacement is up.
	Suspect bool
}

// AbsenceOf returns the absence of an allocation; nil if its node responds, or if the
// allocation is lost.
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
