// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package worker

import (
	"hash/fnv"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/placement"
	"github.com/reeve-run/reeve/internal/plan"
	"github.com/reeve-run/reeve/internal/quota"
)

// Compute computes the changes that an evaluation's job needs, and the nodes for its new
// instances. It changes nothing: a dry run is Compute alone. job is nil if it was purged.
func Compute(r Reader, view *placement.View, job *api.Job, eval *api.Evaluation, now time.Time) (*plan.Result, *placement.Outcome) {
	result := plan.Reconcile(r, job, eval, now)
	o := order(r, job, eval, result, now)
	o.Budget = quota.New(r, eval.Namespace)
	returnStopped(o.Budget, result, nil)
	return result, placement.Place(view, o)
}

// order returns the order to place.
func order(r Reader, job *api.Job, eval *api.Evaluation, result *plan.Result, now time.Time) *placement.Order {
	seed := fnv.New64a()
	seed.Write([]byte(eval.ID))
	return &placement.Order{
		EvalID: eval.ID, Namespace: eval.Namespace, JobID: eval.JobID,
		AllAtOnce: job != nil && job.AllAtOnce,
		Requests:  result.Start, Kept: result.Kept,
		Claims: Claims(r, job), Policy: Policy(r, job), Now: now.UnixNano(), Seed: seed.Sum64(),
	}
}
