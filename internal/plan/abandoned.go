// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package plan

import "github.com/reeve-run/reeve/api"

// A job that has failed for good starts nothing any more: what runs goes on to
// its end where it is, and what would have to be started elsewhere is stopped.

// dropAbandoned takes what nothing will come after out of its place.
func (s *sorter) dropAbandoned(g *group) {
	if s.job == nil || s.job.Failure == nil {
		return
	}
	for i := range g.instances {
		in := &g.instances[i]
		var reason api.Reason
		switch in.state {
		case lost:
			reason = s.whyLost(in.alloc)
		case moving:
			reason = api.ReasonEvicted
		default:
			continue
		}
		g.addExcess(in.alloc, reason)
		in.last, in.alloc, in.state = in.alloc, nil, vacant
	}
}

// isAbandoned reports whether the instance is left as it is because its job has
// failed for good.
func (s *facts) isAbandoned(in *instance) bool {
	return s.job != nil && s.job.Failure != nil && (in.state == vacant || in.state == failed || in.isReplaced())
}

// abandonStep makes the step of such an instance.
func (s *deployer) abandonStep(st *step) {
	st.action, st.status, st.why = none, Error, "the job has failed: "+s.job.Failure.Reason
}
