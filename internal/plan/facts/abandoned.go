// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package facts

import (
	"github.com/reeve-run/reeve/api"
)

// A job that has failed for good starts nothing any more: what runs goes on to
// its end where it is, and what would have to be started elsewhere is stopped.

// dropAbandoned takes what nothing will come after out of its place.
func (s *sorter) dropAbandoned(g *Group) {
	if s.Job == nil || s.Job.Failure == nil {
		return
	}
	for i := range g.Instances {
		in := &g.Instances[i]
		var reason api.Reason
		switch in.State {
		case Lost:
			reason = s.WhyLost(in.Alloc)
		case Moving:
			reason = api.ReasonEvicted
		default:
			continue
		}
		g.addExcess(in.Alloc, reason)
		in.Last, in.Alloc, in.State = in.Alloc, nil, Vacant
	}
}

// IsAbandoned reports whether the instance is left as it is because its job has
// failed for good.
func (f *Facts) IsAbandoned(in *Instance) bool {
	return f.Job != nil && f.Job.Failure != nil && (in.State == Vacant || in.State == Failed || in.IsReplaced())
}
