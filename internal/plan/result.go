// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/placement"
)

// A Result is what is to be done now about one job.
type Result struct {
	// Start are instances to place. Where one replaces an allocation, the stop
	// of that is in the request: it is to happen only if the placement does.
	Start []*placement.Request
	// Stop are allocations to stop whatever becomes of Start.
	Stop []*placement.Stop
	// Update are allocations updated in place: copies of existing ones with the
	// new job version, or with the id of the evaluation that will replace them.
	Update []*api.Allocation
	// Kept are the job's allocations that go on running, Update included.
	Kept []*api.Allocation

	// Deployment is a new deployment, or the running one with what changed; nil
	// if neither.
	Deployment        *api.Deployment
	DeploymentUpdates []DeploymentUpdate
	// Restart is the job's active restart with what changed; nil if nothing did.
	Restart *api.JobRestart
	// Deregister is set when nothing is left of a job that is to be forgotten.
	Deregister bool
	// FollowUps are evaluations for instances whose next attempt is due later.
	FollowUps []*api.Evaluation

	// Held is what the job waits for an operator with, in words; "" if it does not.
	Held string

	// Updates counts, by group, what this evaluation does.
	Updates map[string]*api.DesiredUpdates
	// Queued counts, by group, the instances in Start. What was not placed is in
	// the placement's outcome.
	Queued map[string]int

	pieces []*requestPiece // what Start is made of
}

// IsEmpty reports whether nothing is to be done.
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
