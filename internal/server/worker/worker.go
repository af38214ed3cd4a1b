// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

// Package worker works evaluations out: it takes one from the broker, compares
// what should run with what runs, places the difference, has that committed,
// and writes how the evaluation ended.
//
// All decisions are made by the pure packages plan and placement; what is here
// is the order of things and what happens when one of them does not go
// through. Workers share nothing: any number may run at the same time.
package worker

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"strings"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/placement"
	"github.com/reeve-run/reeve/internal/plan"
	"github.com/reeve-run/reeve/internal/server/applier"
	"github.com/reeve-run/reeve/internal/server/broker"
	"github.com/reeve-run/reeve/internal/server/fleet"
	"github.com/reeve-run/reeve/internal/state"
)

// Env is what workers need from their server.
type Env struct {
	Store   *state.Store
	Broker  *broker.Broker
	Fleet   *fleet.Fleet
	Applier *applier.Applier
	Logger  *slog.Logger
	// Rejected is told of every allocation that the applier refused.
	Rejected func(placement.Refusal)
}

// attempts is how often a placement may be refused without anything of it
// being committed, before the evaluation is set aside.
const attempts = 5

// retryAfter is when an evaluation that was set aside is looked at again, if
// nothing happens before that could help it.
const retryAfter = 30 * time.Second

var errLost = errors.New("the evaluation was handed to another worker")

// Run works evaluations out until ctx ends.
func Run(ctx context.Context, env Env) {
	for {
		d, err := env.Broker.Dequeue(ctx)
		if err != nil {
			return
		}
		kept, err := env.guarded(ctx, d)
		switch {
		case err == nil:
			env.Broker.Ack(d, kept)
		case errors.Is(err, errLost), ctx.Err() != nil:
			env.Broker.Nack(d)
		default:
			env.Logger.Warn("evaluation not worked out", "evaluation", d.Evaluation.ID, "job", d.Evaluation.JobID,
				"attempt", d.Attempt, "error", err)
			d.Failure = brief(err)
			env.Broker.Nack(d)
		}
	}
}

// longestFailure bounds what an evaluation says of why it failed, in bytes.
const longestFailure = 500

// brief is an error without the stack of a panic, which is in the log.
func brief(err error) string {
	line, _, _ := strings.Cut(err.Error(), "\n")
	return strings.ToValidUTF8(line[:min(len(line), longestFailure)], "")
}

// guarded is settle, but a panic fails the one evaluation and not the server.
func (env Env) guarded(ctx context.Context, d *broker.Delivery) (kept *api.Evaluation, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v\n%s", p, debug.Stack())
		}
	}()
	return env.settle(ctx, d)
}

// settle works a delivery out, on newer states as long as parts of it are
// refused. kept is the job's blocked evaluation from now on.
func (env Env) settle(ctx context.Context, d *broker.Delivery) (kept *api.Evaluation, err error) {
	index := d.MinIndex
	var refused []string
	var claimed []*api.Allocation // and not submitted yet
	defer func() { env.Fleet.Release(claimed) }()
	for fruitless := 0; ; {
		w, err := env.work(ctx, d, index, &claimed)
		if err != nil {
			return nil, err
		}
		if w.changesNothing() {
			return w.blocked, nil
		}
		if w.nothingToCommit() && len(w.ends) == 0 {
			return nil, nil // others ended them meanwhile
		}
		if fruitless == attempts {
			env.Logger.Warn("placements refused again and again", "evaluation", d.Evaluation.ID, "job", d.Evaluation.JobID,
				"reasons", refused)
			_, err = env.submit(ctx, d, w.setAside(refused))
			return w.blocked, err
		}
		s := w.submission()
		s.Claimed, claimed = claimed, nil
		res, err := env.submit(ctx, d, s)
		if err != nil {
			return nil, err
		}
		if res.Whole {
			return w.blocked, nil
		}
		if res.Placed == 0 {
			fruitless++
		}
		index = res.Refresh
		env.Fleet.Release(refusedOf(s.Claimed, res.Refused)) // in case that the applier has another fleet
		refused = refused[:0]
		for _, r := range res.Refused {
			refused = append(refused, refusal(r))
			if env.Rejected != nil {
				env.Rejected(r)
			}
		}
	}
}

// work compares and places on a state at least as new as the index. What it
// places is claimed: it has to be submitted, or released.
func (env Env) work(ctx context.Context, d *broker.Delivery, index uint64, claimed *[]*api.Allocation) (*work, error) {
	if err := env.Store.Wait(ctx, index); err != nil {
		return nil, err
	}
	snap, now := env.Store.Snapshot(), time.Now()
	job := snap.Job(d.Evaluation.Namespace, d.Evaluation.JobID)
	result, outcome := plan.Reconcile(snap, job, d.Evaluation, now), &placement.Outcome{}
	if len(result.Start) > 0 {
		o := order(snap, job, d.Evaluation, result, now)
		err := env.Fleet.Claim(ctx, snap.Index(), func(v *placement.View) []*api.Allocation {
			outcome = placement.Place(v, o)
			*claimed = outcome.Place
			return outcome.Place
		})
		if err != nil {
			return nil, err
		}
		result.Placed()
	}
	return newWork(d, snap, job, result, outcome, now), nil
}

// refusedOf are the allocations that were refused: all, if none is named.
func refusedOf(claimed []*api.Allocation, refused []placement.Refusal) (out []*api.Allocation) {
	named := make(map[string]bool, len(refused))
	for _, r := range refused {
		if r.AllocID == "" {
			return claimed
		}
		named[r.AllocID] = true
	}
	for _, a := range claimed {
		if named[a.ID] {
			out = append(out, a)
		}
	}
	return out
}

func refusal(r placement.Refusal) string {
	if r.NodeID == "" {
		return r.Reason
	}
	return "node " + api.ShortID(r.NodeID) + ": " + r.Reason
}

// submit has what was worked out committed, if the delivery is still this
// worker's.
func (env Env) submit(ctx context.Context, d *broker.Delivery, s *applier.Submission) (*applier.Result, error) {
	if !env.Broker.Hold(d) {
		env.Fleet.Release(s.Claimed)
		return nil, errLost
	}
	defer env.Broker.Release(d)
	return env.Applier.Submit(ctx, s)
}
