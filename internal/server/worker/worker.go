// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

// Package worker processes evaluations. A worker dequeues one from the leader's broker, compares
// the intended with the running instances, places the difference, submits the result to
// the leader's applier, and records how the evaluation ended. Workers run on every server.
//
// The pure packages plan and placement make all decisions. This package contains the
// sequence of steps and the handling of failed steps. Workers share nothing: any number
// may run at the same time.
package worker

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"strings"
	"sync/atomic"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/placement"
	"github.com/reeve-run/reeve/internal/plan"
	"github.com/reeve-run/reeve/internal/server/applier"
	"github.com/reeve-run/reeve/internal/server/broker"
	"github.com/reeve-run/reeve/internal/server/fleet"
	"github.com/reeve-run/reeve/internal/state"
)

// Env holds the dependencies of workers.
type Env struct {
	Store  *state.Store
	Queue  Queue
	Fleet  *fleet.Tracker
	Logger *slog.Logger
	// Patience bounds the wait for the state of a delivery; 0: unlimited.
	Patience time.Duration
	// Follows says that other workers place on another fleet. After a submission of which nothing
	// was committed, the evaluation is for them.
	Follows bool
	// Computed counts the evaluations that were processed; nil: nothing does.
	Computed *atomic.Uint64
	// Over is an error of submissions that ends with the leadership of this server, and says nothing
	// about an evaluation; nil: no error does.
	Over error
	// Rejected is called for every allocation that the applier refused.
	Rejected func(placement.Refusal)
	// Timings measures the steps of evaluations; nil: nothing does.
	Timings *Timings
}

// attempts is the number of consecutive submissions that may be refused without any
// allocation being committed, before the evaluation is set aside.
const attempts = 5

// retryAfter is the time after which an evaluation that was set aside is retried, unless a
// change that could help it happens earlier.
const retryAfter = 30 * time.Second

// Run processes evaluations until ctx ends.
func Run(ctx context.Context, env Env) {
	for {
		d, err := env.Queue.Dequeue(ctx)
		if err != nil {
			return
		}
		kept, err := env.guarded(ctx, d)
		switch {
		case err == nil:
			env.Queue.Ack(d, kept)
			if env.Computed != nil {
				env.Computed.Add(1)
			}
		case errors.Is(err, errContended):
			d.Contended = true
			env.Queue.Nack(d)
		case errors.Is(err, ErrLost), errors.Is(err, errBehind), env.Over != nil && errors.Is(err, env.Over), ctx.Err() != nil:
			env.Queue.Nack(d)
		default:
			env.Logger.Warn("evaluation failed", "evaluation", d.Evaluation.ID, "job", d.Evaluation.JobID,
				"attempt", d.Attempt, "error", err)
			d.Failure = brief(err)
			env.Queue.Nack(d)
		}
	}
}

// longestFailure is the maximum length of a failure reason in an evaluation, in bytes.
const longestFailure = 500

// brief returns the error without the stack of a panic, which is in the log.
func brief(err error) string {
	line, _, _ := strings.Cut(err.Error(), "\n")
	return strings.ToValidUTF8(line[:min(len(line), longestFailure)], "")
}

// guarded is settle with a recover: a panic fails one evaluation, not the server.
func (env Env) guarded(ctx context.Context, d *broker.Delivery) (kept *api.Evaluation, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v\n%s", p, debug.Stack())
		}
	}()
	return env.settle(ctx, d)
}

// settle evaluates a delivery and commits the result. It repeats this on newer states
// while the applier refuses parts of it. kept is the job's blocked evaluation from now on.
func (env Env) settle(ctx context.Context, d *broker.Delivery) (kept *api.Evaluation, err error) {
	index := d.MinIndex
	var refused []string
	var claimed []*api.Allocation // claimed but not submitted yet
	defer func() { env.Fleet.Release(claimed) }()
	for fruitless := 0; ; {
		pr, err := env.propose(ctx, d, index, &claimed)
		if err != nil {
			return nil, err
		}
		if pr.changesNothing() {
			return pr.blocked, nil
		}
		if pr.nothingToCommit() && len(pr.ends) == 0 {
			return nil, nil // the evaluations have ended elsewhere meanwhile
		}
		if fruitless == attempts {
			env.Logger.Warn("placements are rejected repeatedly", "evaluation", d.Evaluation.ID, "job", d.Evaluation.JobID,
				"reasons", refused)
			_, err = env.submit(ctx, d, pr.setAside(refused), pr)
			return pr.blocked, err
		}
		s := pr.submission()
		s.Claimed, claimed = claimed, nil
		res, err := env.submit(ctx, d, s, pr)
		if err != nil {
			return nil, err
		}
		if res.Whole {
			return pr.blocked, nil
		}
		if res.Placed == 0 {
			fruitless++
		}
		if env.Follows && fruitless > 0 {
			return nil, errContended
		}
		index = res.Refresh
		env.Fleet.Release(refusedOf(s.Claimed, res.Refused)) // in case the applier uses another fleet
		refused = refused[:0]
		for _, r := range res.Refused {
			refused = append(refused, refusal(r))
			if env.Rejected != nil {
				env.Rejected(r)
			}
		}
	}
}

// evaluate compares and places on a state at least as new as the index. It claims the
// allocations that it places: the caller must submit or release them.
func (env Env) evaluate(ctx context.Context, d *broker.Delivery, index uint64, claimed *[]*api.Allocation) (*proposal, error) {
	begun := time.Now()
	if err := env.await(ctx, index); err != nil {
		return nil, err
	}
	snap, now := env.Store.Snapshot(), time.Now()
	env.Timings.waited(now.Sub(begun))
	defer func() { env.Timings.scheduled(d.Evaluation.Type, time.Since(now)) }()
	job := snap.Job(d.Evaluation.Namespace, d.Evaluation.JobID)
	result, outcome := plan.Reconcile(snap, job, d.Evaluation, now), &placement.Outcome{}
	if len(result.Start) > 0 {
		o := order(snap, job, d.Evaluation, result, now)
		err := env.Fleet.Claim(ctx, snap.Index(), func(v *placement.View) []*api.Allocation {
			env.limit(o, result)
			outcome = placement.Place(v, o)
			*claimed = outcome.Place
			return outcome.Place
		})
		if err != nil {
			return nil, err
		}
		result.Placed()
	}
	return newProposal(d, snap, job, result, outcome, now), nil
}

// await waits for a state at least as new as the index.
func (env Env) await(ctx context.Context, index uint64) error {
	if env.Patience == 0 || env.Store.Index() >= index {
		return env.Store.Wait(ctx, index)
	}
	limited, cancel := context.WithTimeout(ctx, env.Patience)
	defer cancel()
	if err := env.Store.Wait(limited, index); err != nil {
		return errors.Join(errBehind, err)
	}
	return nil
}

// refusedOf returns the refused allocations: all, if a refusal names none.
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

// submit commits a result of the proposal if the worker still owns the delivery.
func (env Env) submit(ctx context.Context, d *broker.Delivery, s *applier.Submission, pr *proposal) (*applier.Result, error) {
	begun := time.Now()
	defer func() { env.Timings.submitted(time.Since(begun)) }()
	return env.Queue.Submit(ctx, d, s, pr.blocked)
}
