// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package worker

import (
	"context"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/placement"
	"github.com/reeve-run/reeve/internal/server/broker"
)

// propose evaluates. A view of the fleet counts placements that are not committed yet, or
// later than the evaluation's state: they take room, and the evaluation cannot preempt them,
// because its state lacks them. Nothing frees room when they are committed, so that a blocked
// evaluation would not wake. An evaluation that lacks room is therefore repeated on a state
// that has them.
func (env Env) propose(ctx context.Context, d *broker.Delivery, index uint64, claimed *[]*api.Allocation) (*proposal, error) {
	for attempt := 1; ; attempt++ {
		pr, err := env.evaluate(ctx, d, index, claimed)
		if err != nil || !pr.outcome.Room || !pr.preempts() {
			return pr, err
		}
		limit := pr.job.Priority - placement.PriorityGap
		if !env.Fleet.HasUnseen(pr.snap.Index(), limit) {
			return pr, nil
		}
		if attempt == attempts {
			pr.blocked.WaitUntil = pr.now.Add(retryAfter).UTC()
			return pr, nil
		}
		env.Fleet.Release(*claimed) // those that this one waits for may wait for room too
		*claimed = nil
		if index, err = env.Fleet.AwaitUnseen(ctx, pr.snap.Index(), limit); err != nil {
			return nil, err
		}
	}
}

// preempts reports whether the job may preempt others.
func (pr *proposal) preempts() bool {
	return pr.job != nil && pr.snap.SchedulerConfig().Preemption.Enabled(pr.job.Type)
}
