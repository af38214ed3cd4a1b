// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/plan/facts"
)

// NeedsEvaluation reports whether a node's report, which changed an allocation from old to
// new, requires an evaluation of its job, and returns the trigger of the evaluation.
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
	case isAwaited(old, new): // the last: callers may skip it if no place is contested
		return api.TriggerAllocReconnect, true
	}
	return "", false
}

func isOfDeployment(a *api.Allocation) bool { return a.DeploymentID != "" && !a.IsServerTerminal() }

// isAwaited reports whether the allocation has just become up or begun to serve, and may
// be a replacement (of an allocation whose node is silent, returned or drained) or a
// returned original.
func isAwaited(old, new *api.Allocation) bool {
	return (new.PreviousAllocation != "" || new.NextAllocation != "") && !new.IsServerTerminal() &&
		(facts.IsUpNow(new) && !facts.IsUpNow(old) || facts.ServesNow(new) && !facts.ServesNow(old))
}
