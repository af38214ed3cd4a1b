// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package control

import (
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/state"
)

// childrenStopped bounds the children that are stopped at a time.
const childrenStopped = 100

// stopChildren stops the jobs that a periodic or parameterized stack has started, before the stack is removed.
// Until then they had the stack's grace to end by themselves. It reports whether all have ended.
func stopChildren(snap *state.Snapshot, s *api.Stack, now time.Time) (cmds []state.Command, ended bool) {
	if s.Shape != api.ShapePeriodic && s.Shape != api.ShapeParameterized {
		return nil, true
	}
	ended = true
	for child := range snap.JobsPrefix(s.Namespace, s.Name+"/") {
		if child.ParentID != s.Name || child.Status == api.JobStatusDead {
			continue
		}
		ended = false
		if child.Stop {
			continue
		}
		cmds = append(cmds, &state.DeregisterJob{
			Namespace: child.Namespace, ID: child.ID, Time: now.UnixNano(),
			Evaluation: stackEvaluation(child, api.TriggerJobDeregister, now),
		})
		if len(cmds) == childrenStopped {
			break
		}
	}
	return cmds, ended
}
