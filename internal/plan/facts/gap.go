// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package facts

import (
	"github.com/reeve-run/reeve/api"
)

// IsMissed reports whether the last allocation of a vacant place says how that
// is to be filled. Any other last one might as well have been forgotten, and may
// not make a difference: one from before the job was removed and registered
// again, or that the job itself did not want any more.
func (f *Facts) IsMissed(in *Instance) bool {
	return in.Last != nil && f.Knows(in.Last) && leavesGap(in.Last)
}

// IsMissed reports whether a stopped allocation, the last one of its instance,
// says how that is to be filled again: until that is done, it must not be
// forgotten.
func IsMissed(r Reader, job *api.Job, a *api.Allocation) bool {
	g := job.Group(a.Group)
	if g == nil || job.Stop || a.IsCanary() && !job.RunsOnEveryNode() || a.NextAllocation != "" || !rolls(job, g) || a.Job == nil || a.Job.CreateIndex != job.CreateIndex || !leavesGap(a) {
		return false
	}
	if job.RunsOnEveryNode() {
		n := r.Node(a.NodeID)
		return n != nil && n.Status != api.NodeStatusDown
	}
	return a.Index() < g.Size()
}

// HasInstance reports whether the job still has the instance that the allocation
// was made for. One that runs on every node may have it again at any time.
func HasInstance(job *api.Job, a *api.Allocation) bool {
	g := job.Group(a.Group)
	return g != nil && (job.RunsOnEveryNode() || a.Index() < g.Size())
}

// leavesGap reports whether what stopped an allocation was anything but that
// the job did not want its instance any more.
func leavesGap(a *api.Allocation) bool {
	switch a.DesiredReason {
	case api.ReasonScaledDown, api.ReasonGroupRemoved, api.ReasonJobStopped, api.ReasonPurged, api.ReasonInfeasible:
		return false
	}
	return true
}

// NeedsRecovery reports whether what stopped the last allocation of a vacant
// place was not a change of the job: then it is recovered as it was.
func NeedsRecovery(last *api.Allocation) bool {
	return leavesGap(last) && last.DesiredReason != api.ReasonUpdated
}
