// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package facts

import (
	"github.com/reeve-run/reeve/api"
)

// Evacuates reports whether an allocation that a drain moves continues to run until
// its replacement serves. Only an allocation that serves does: on a silent node it
// is not known to serve.
func (f *Facts) Evacuates(g *Group, a *api.Allocation) bool {
	return f.IsWanted() && f.Job.Type == api.JobTypeService && g.Def != nil && !g.Def.Recreates() &&
		a.DesiredTransition.ShouldMigrate() && !a.IsServerTerminal() && IsUpNow(a) && f.MayStay(a) && !f.IsLostWithNode(a) && !f.IsUnreachable(a)
}

// Evacuated returns the allocation on a drained node that the instance's holder is to
// relieve, or nil.
func (f *Facts) Evacuated(in *Instance) *api.Allocation {
	for _, a := range in.Group.Behind {
		if a.ID == in.Alloc.PreviousAllocation && a.DesiredTransition.ShouldMigrate() && f.IsDrained(a) {
			return a
		}
	}
	return nil
}
