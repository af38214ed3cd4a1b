// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package facts

import (
	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/plan/opt"
)

// KnownHealth returns the known health of an instance, which stays valid when the
// instance is updated in place; nil if its node has not reported it.
func KnownHealth(in *Instance) *bool {
	a := in.Alloc
	switch {
	case a.DeploymentStatus != nil && a.DeploymentStatus.Healthy != nil:
		return a.DeploymentStatus.Healthy
	case a.DeploymentID == "" && in.State == Running:
		return new(true) // its health was never checked, and it serves
	}
	return nil
}

// IsPinned reports whether only its closed node keeps the instance from being replaced.
func (f *Facts) IsPinned(in *Instance) bool {
	switch {
	case in.State == Ended && f.Job.RunsToCompletion():
		return !f.IsCurrent(in.Alloc) && !f.IsDone(in)
	case in.State == Failed, in.State == Ended:
		return true
	}
	return !f.IsCurrent(in.Alloc) && f.IsDestructive(in.Group, in.Alloc)
}

// IsDone reports whether a task that runs to completion has done what the
// newest version asks for already, under an older one that was no different.
func (f *Facts) IsDone(in *Instance) bool {
	return f.Job.RunsToCompletion() && in.State == Ended && !f.IsDestructive(in.Group, in.Alloc)
}

// HasOutdated reports whether instances of an older version are left in the group,
// even if only to be recovered.
func (f *Facts) HasOutdated(g *Group) bool {
	old, known := f.old[g]
	if !known {
		for i := range g.Instances {
			old = old || f.OwnVersion(&g.Instances[i]) != f.Job
		}
		note(&f.old, g, old)
	}
	return old
}

// HasStragglers reports whether an instance is left behind by a rollout that
// succeeded: its node took nothing new at the time, and does now.
func (f *Facts) HasStragglers() bool {
	for _, g := range f.Groups {
		for i := range g.Instances {
			in := &g.Instances[i]
			if g.Everywhere && g.Rolling && in.Alloc != nil && !in.Closed && !f.IsCurrent(in.Alloc) && f.IsDestructive(g, in.Alloc) {
				return true
			}
		}
	}
	return false
}

// CarriedHealth returns the health of an instance that stays valid under the newest
// version; nil if the new version probes it differently, or the health is unknown. An instance
// that was unhealthy is judged again: what it lacked may be there now.
func (f *Facts) CarriedHealth(in *Instance) *bool {
	if f.NeedsProof(in.Group, in.Alloc) {
		return nil
	}
	if healthy := KnownHealth(in); opt.Of(healthy) {
		return healthy
	}
	return nil
}

// IsAnswering reports whether the allocation passes its current checks, as far as its
// node reports.
func IsAnswering(a *api.Allocation) bool { return a.Serving == nil || a.Serving.Routable }
