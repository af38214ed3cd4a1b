// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/placement"
)

// A Result is the work to do now for one job.
type Result struct {
	// Start holds the instances to place. A request that replaces an allocation
	// contains its stop, which happens only together with the placement.
	Start []*placement.Request
	// Stop holds the allocations to stop, independently of Start.
	Stop []*placement.Stop
	// Update holds the allocations updated in place: copies of existing ones with the
	// new job version, or with the id of the evaluation that will replace them.
	Update []*api.Allocation
	// Kept holds the job's allocations that continue to run, including Update.
	Kept []*api.Allocation

	// Deployment is a new deployment, or the running one with its changes; nil
	// if neither exists.
	Deployment        *api.Deployment
	DeploymentUpdates []DeploymentUpdate
	// Restart is the job's active restart with its changes; nil if nothing changed.
	Restart *api.JobRestart
	// Deregister reports whether the job is to be removed: nothing of it is left.
	Deregister bool
	// FollowUps holds evaluations for instances whose next attempt is due later.
	FollowUps []*api.Evaluation

	// Held is a sentence about the part of the job that waits for an operator; "" if
	// no part does.
	Held string

	// Updates counts, by group, the changes of this evaluation.
	Updates map[string]*api.DesiredUpdates
	// Queued counts, by group, the instances in Start. The placement's outcome lists
	// the unplaced ones.
	Queued map[string]int

	pieces []*requestPiece // memory of Start
}

// IsEmpty reports whether the result contains no work.
func (r *Result) IsEmpty() bool {
	return len(r.Start) == 0 && len(r.Stop) == 0 && len(r.Update) == 0 &&
		r.Restart == nil && !r.Deregister && r.Deployment == nil && len(r.DeploymentUpdates) == 0 && len(r.FollowUps) == 0
}

// A DeploymentUpdate changes a stored deployment's status.
type DeploymentUpdate struct {
	ID          string
	Status      string
	Reason      api.Reason
	Description string // sentence of the reason
}
