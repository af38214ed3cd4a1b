// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package facts

import (
	"github.com/reeve-run/reeve/api"
)

// A job that has failed permanently starts no instance. Running instances continue
// until they end; instances that would have to move are stopped.

// dropAbandoned removes allocations that will have no successor from their instances.
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

// IsAbandoned reports whether the instance stays vacant or failed because its job has
// failed permanently.
func (f *Facts) IsAbandoned(in *Instance) bool {
	return f.Job != nil && f.Job.Failure != nil && (in.State == Vacant || in.State == Failed || in.IsReplaced())
}
