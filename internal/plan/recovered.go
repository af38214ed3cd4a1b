// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"slices"
	"time"

	"github.com/reeve-run/reeve/api"
)

// Where an instance is recovered. A group without a recovery block recovers
// anywhere, at once, and what is in the directory goes along only if the disk
// block says so. With one, an instance is recovered on its own node, in its own
// directory (TRANSIENT), until it has been failing, or its node has been silent,
// for permanent_after; then anywhere, with an empty one (PERMANENT). So is what
// an operator has replaced, at once.

const whyRecoveredThere = "its node is down: it goes on there if that is back by then, and is started anywhere else after that"

const whyBeside = "its node is out of reach: if that is back first, it goes on there"

// permanentAfter is the time that the group's recovery block gives; 0: there is none.
func permanentAfter(g *api.Group) time.Duration {
	if g == nil || g.Recovery == nil {
		return 0
	}
	return of(g.Recovery.PermanentAfter)
}

// recoveredAs says how the instance is recovered at a time, if it is to take
// over from a: TRANSIENT, and until when; PERMANENT; or "", as its disk says.
func (s *facts) recoveredAs(in *instance, a *api.Allocation, at time.Time) (kind string, until time.Time) {
	if s.ordersOn(in).replacedBy(a) != nil {
		return api.RecoveryPermanent, until
	}
	after := permanentAfter(in.group.def)
	if after <= 0 {
		return "", until
	}
	switch n := s.node(a); {
	case n == nil, a.ClientStatus == api.AllocClientLost:
		return api.RecoveryPermanent, until
	case n.DrainStrategy != nil, a.ClientStatus != api.AllocClientFailed:
		return "", until
	}
	until = s.failingSince(in, a).Add(after)
	if !at.Before(until) {
		return api.RecoveryPermanent, until
	}
	return api.RecoveryTransient, until
}

// recoveryShown is the kind that people see, which is known without a recovery
// block too.
func (s *recoverer) recoveryShown(in *instance, due time.Time) string {
	a := in.alloc
	if a == nil {
		a = in.last
	}
	at := s.now
	if due.After(at) {
		at = due
	}
	if in.away != nil && in.away.recovered {
		return api.RecoveryTransient
	}
	kind, _ := s.recoveredAs(in, a, at)
	if kind == "" {
		return usualKind(in)
	}
	return kind
}

// usualKind is how an instance is recovered without a recovery block; "" where
// its data goes along, or its node is given.
func usualKind(in *instance) string {
	if in.node != "" || keepsDisk(in.group.def) {
		return ""
	}
	return api.RecoveryPermanent
}

// keepsDisk reports whether a new allocation has the data of the one before it.
func keepsDisk(g *api.Group) bool {
	return g != nil && g.EphemeralDisk != nil && (isTrue(g.EphemeralDisk.Sticky) || isTrue(g.EphemeralDisk.Migrate))
}

// stay has a step wait that is to be done on the node of what it takes over
// from, while that takes nothing.
func (s *recoverer) stay(st *step, a *api.Allocation) {
	kind, until := s.recoveredAs(st.on, a, s.now)
	if kind != api.RecoveryTransient {
		return
	}
	switch n := s.node(a); {
	case isSilent(n):
		st.why = whyRecoveredThere
	case !n.IsReady():
		st.why = "its node takes nothing new: it is started there if that changes by then, and anywhere else after that"
	default:
		return
	}
	st.status, st.until, st.action = Delayed, until, none
	if st.on.alloc != nil {
		st.action = later
	}
}

// failingSince is when the row of failures began that a is the last of: since
// then the instance never ran for longer than the longest delay between attempts.
func (s *facts) failingSince(in *instance, a *api.Allocation) time.Time {
	at := failedAt(a)
	if t := a.RescheduleTracker; t != nil && t.Since != 0 && at.Sub(time.Unix(0, a.CreateTime)) <= calmOf(s.policy(in)) {
		return time.Unix(0, t.Since)
	}
	return at
}

// comingUp shows a replacement that recovery has started, until it is well.
func (s *recoverer) comingUp(in *instance) step {
	a := in.alloc
	st := step{on: in, job: a.Job}
	switch {
	case a.DeploymentID != "":
		return step{}
	case in.last != nil && in.last.ID == a.PreviousAllocation && needsRecovery(in.last) && !s.isDrained(in.last):
		st.why = in.last.DesiredDescription
	case slices.ContainsFunc(in.group.behind, func(b *api.Allocation) bool { return b.ID == a.PreviousAllocation && s.isSuspected(b) }):
		st.why = whyBeside
	default:
		return step{}
	}
	switch {
	case in.state == placed:
		st.status = Starting
	case s.judged(in) && a.DeploymentStatus == nil:
		st.status, st.why = Started, "it runs, and is not known to be healthy yet"
	default:
		return step{}
	}
	if a.Recovery != "" {
		st.mutableExtra().recovery = a.Recovery
	} else if kind := usualKind(in); kind != "" {
		st.mutableExtra().recovery = kind
	}
	return st
}

// judged reports whether the node is about to say how healthy the allocation of
// a service is that took another one's place.
func (s *facts) judged(in *instance) bool {
	if s.job.Type != api.JobTypeService || in.group.def.Migrate == nil {
		return false
	}
	return s.now.Before(since(in.alloc).Add(of(in.group.def.Migrate.HealthyDeadline)))
}
