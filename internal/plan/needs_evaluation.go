// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/plan/facts"
)

// NeedsEvaluation reports whether what a node said of an allocation (old is
// what was known before) calls for an evaluation of its job, and the trigger to
// give it.
func NeedsEvaluation(old, new *api.Allocation) (trigger string, needed bool) {
	switch {
	case old.ClientStatus == api.AllocClientUnknown && new.ClientStatus != api.AllocClientUnknown:
		return api.TriggerAllocReconnect, true
	case old.ClientStatus != new.ClientStatus && new.IsClientTerminal():
		if new.ClientStatus == api.AllocClientFailed {
			return api.TriggerAllocFailure, true
		}
		return api.TriggerAllocStop, true
	case hasMoved(old, new):
		if new.DeploymentID != "" {
			return api.TriggerDeploymentWatcher, true
		}
		return api.TriggerPlanOperation, true
	case isOfDeployment(new) && (old.IsHealthy() != new.IsHealthy() || old.IsUnhealthy() != new.IsUnhealthy()):
		return api.TriggerDeploymentWatcher, true
	case isOfDeployment(new) && old.ClientStatus != new.ClientStatus && new.Job != nil && len(new.Job.Groups) > 1:
		return api.TriggerDeploymentWatcher, true // the next group may begin
	case isAwaited(old, new): // the last: callers may pass over it where nothing is contested
		return api.TriggerAllocReconnect, true
	}
	return "", false
}

func isOfDeployment(a *api.Allocation) bool { return a.DeploymentID != "" && !a.IsServerTerminal() }

// isAwaited reports whether an allocation is up or serves now that may be the
// replacement of one whose node is silent, back again or drained, or the one that
// is back.
func isAwaited(old, new *api.Allocation) bool {
	return (new.PreviousAllocation != "" || new.NextAllocation != "") && !new.IsServerTerminal() &&
		(facts.IsUpNow(new) && !facts.IsUpNow(old) || facts.ServesNow(new) && !facts.ServesNow(old))
}
