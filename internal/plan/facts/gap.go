// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package facts

import (
	"github.com/reeve-run/reeve/api"
)

// IsMissed reports whether the last allocation of a vacant instance decides how the
// instance is filled again. Any other last allocation may be deleted at any time, so
// it must make no difference: one of an earlier registration of the job, or one that
// the job itself no longer wanted.
func (f *Facts) IsMissed(in *Instance) bool {
	return in.Last != nil && f.Knows(in.Last) && leavesGap(in.Last)
}

// IsMissed reports whether a stopped allocation, the last one of its instance, decides
// how the instance is filled again. It must not be deleted before that.
func IsMissed(r Reader, job *api.Job, a *api.Allocation) bool {
	g := job.Group(a.Group)
	if g == nil || job.Stop || a.IsCanary() && !job.RunsOnEveryNode() || a.NextAllocation != "" || job.RunsToCompletion() || a.Job == nil || a.Job.CreateIndex != job.CreateIndex || !leavesGap(a) {
		return false
	}
	if job.RunsOnEveryNode() {
		n := r.Node(a.NodeID)
		return n != nil && n.Status != api.NodeStatusDown
	}
	return a.Index() < g.Size()
}

// HasInstance reports whether the job still has the instance that the allocation
// was made for. A job that runs on every node may have it again at any time.
func HasInstance(job *api.Job, a *api.Allocation) bool {
	g := job.Group(a.Group)
	return g != nil && (job.RunsOnEveryNode() || a.Index() < g.Size())
}

// leavesGap reports whether the instance of a stopped allocation has to be filled
// again: the job did not stop wanting it.
func leavesGap(a *api.Allocation) bool {
	switch a.DesiredReason {
	case api.ReasonScaledDown, api.ReasonGroupRemoved, api.ReasonJobStopped, api.ReasonPurged, api.ReasonInfeasible:
		return false
	}
	return true
}

// NeedsRecovery reports whether the last allocation of a vacant instance was stopped
// for another reason than a change of the job. Recovery then restores its version.
func NeedsRecovery(last *api.Allocation) bool {
	return leavesGap(last) && last.DesiredReason != api.ReasonUpdated
}
