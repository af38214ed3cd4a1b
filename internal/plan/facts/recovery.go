// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package facts

import (
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/plan/opt"
	"github.com/reeve-run/reeve/internal/plan/reschedule"
)

// PermanentAfter returns the time that the group's recovery block grants; 0 without one.
func PermanentAfter(g *api.Group) time.Duration {
	if g == nil || g.Recovery == nil {
		return 0
	}
	return opt.Of(g.Recovery.PermanentAfter)
}

// RecoveredAs says how the instance is recovered at a time, if it is to take
// over from a: TRANSIENT, and until when; PERMANENT; or "", as its disk says.
func (f *Facts) RecoveredAs(in *Instance, a *api.Allocation, at time.Time) (kind string, until time.Time) {
	if f.OrdersOn(in).ReplacedBy(a) != nil {
		return api.RecoveryPermanent, until
	}
	after := PermanentAfter(in.Group.Def)
	if after <= 0 {
		return "", until
	}
	switch n := f.Node(a); {
	case n == nil, a.ClientStatus == api.AllocClientLost:
		return api.RecoveryPermanent, until
	case n.DrainStrategy != nil, a.ClientStatus != api.AllocClientFailed:
		return "", until
	}
	until = f.FailingSince(in, a).Add(after)
	if !at.Before(until) {
		return api.RecoveryPermanent, until
	}
	return api.RecoveryTransient, until
}

// KeepsDisk reports whether a new allocation has the data of the one before it.
func KeepsDisk(g *api.Group) bool {
	return g != nil && g.EphemeralDisk != nil && (opt.IsTrue(g.EphemeralDisk.Sticky) || opt.IsTrue(g.EphemeralDisk.Migrate))
}

// FailingSince is when the row of failures began that a is the last of: since
// then the instance never ran for longer than the longest delay between attempts.
func (f *Facts) FailingSince(in *Instance, a *api.Allocation) time.Time {
	at := reschedule.FailedAt(a)
	if t := a.RescheduleTracker; t != nil && t.Since != 0 && at.Sub(time.Unix(0, a.CreateTime)) <= reschedule.CalmPeriod(f.Policy(in)) {
		return time.Unix(0, t.Since)
	}
	return at
}

// AwaitsHealth reports whether the node is about to say how healthy the allocation of
// a service is that took another one's place.
func (f *Facts) AwaitsHealth(in *Instance) bool {
	if f.Job.Type != api.JobTypeService || in.Group.Def.Migrate == nil {
		return false
	}
	return f.Now.Before(StartedAt(in.Alloc).Add(opt.Of(in.Group.Def.Migrate.HealthyDeadline)))
}

// OwnVersion returns the version that an instance is recovered to: the version of its
// last allocation, or the newest one if the allocation is not missed, if both versions
// run the same, or if the job was removed and registered again since.
func (f *Facts) OwnVersion(in *Instance) *api.Job {
	a := in.Alloc
	if a == nil && f.IsMissed(in) {
		a = in.Last
	}
	switch {
	case a == nil, f.IsCurrent(a), !f.Knows(a), a.Job.Group(in.Group.Name) == nil,
		!f.differs(in.Group, a):
		return f.Job
	}
	return a.Job
}

// Policy returns the reschedule policy of an instance: that of the newest version,
// which changes in place.
func (f *Facts) Policy(in *Instance) *api.Reschedule {
	if in.Group.Def != nil {
		return in.Group.Def.Reschedule
	}
	return nil
}
