// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"time"

	"github.com/reeve-run/reeve/api"
)

// A Verdict is what CheckDeployment finds. Status is "" while the deployment
// goes on; then it is to be asked again when an allocation of the job changes,
// and at Wake (never, if zero) at the latest.
type Verdict struct {
	Status      string // api.DeploymentSuccessful, api.DeploymentFailed or ""
	Description string
	AutoRevert  bool // failed, and a group that failed wants the last stable version back
	Wake        time.Time
}

// CheckDeployment says whether the running deployment d of the job has
// succeeded or failed by now. Whoever acts on it writes UpdateDeployment, and
// SetJobStability when it succeeded.
func CheckDeployment(r Reader, job *api.Job, d *api.Deployment, now time.Time) Verdict {
	return Verdict{}
}

// NeedsEvaluation reports whether what a node said of an allocation (old is
// what was known before) calls for an evaluation of its job, and the trigger to
// give it.
func NeedsEvaluation(old, new *api.Allocation) (trigger string, needed bool) {
	switch {
	case old.ClientStatus != new.ClientStatus && new.IsClientTerminal():
		if new.ClientStatus == api.AllocClientFailed {
			return api.TriggerAllocFailure, true
		}
		return api.TriggerAllocStop, true
	case new.DeploymentID == "" || new.IsServerTerminal():
		return "", false
	case old.IsHealthy() != new.IsHealthy() || old.IsUnhealthy() != new.IsUnhealthy():
		return api.TriggerDeploymentWatcher, true
	case old.ClientStatus != new.ClientStatus && new.Job != nil && len(new.Job.Groups) > 1:
		return api.TriggerDeploymentWatcher, true
	}
	return "", false
}
