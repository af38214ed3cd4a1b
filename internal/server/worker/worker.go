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
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/placement"
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
			env.Broker.Nack(d)
		}
	}
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
	for fruitless := 0; fruitless < attempts; {
		w, err := env.work(ctx, d, index)
		if err != nil {
			return nil, err
		}
		if w.changesNothing() {
			return w.blocked, nil
		}
		if w.nothingToCommit() && len(w.ends) == 0 {
			return nil, nil // others ended them meanwhile
		}
		res, err := env.submit(ctx, d, w.submission())
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
		refused = refused[:0]
		for _, r := range res.Refused {
			refused = append(refused, refusal(r))
		}
	}
	w, err := env.work(ctx, d, index)
	if err != nil {
		return nil, err
	}
	env.Logger.Warn("placements refused again and again", "evaluation", d.Evaluation.ID, "job", d.Evaluation.JobID,
		"reasons", refused)
	_, err = env.submit(ctx, d, w.setAside(refused))
	return w.blocked, err
}

// work compares and places on a state at least as new as the index.
func (env Env) work(ctx context.Context, d *broker.Delivery, index uint64) (*work, error) {
	if err := env.Store.Wait(ctx, index); err != nil {
		return nil, err
	}
	snap := env.Store.Snapshot()
	view, err := env.Fleet.View(ctx, snap.Index())
	if err != nil {
		return nil, err
	}
	job := snap.Job(d.Evaluation.Namespace, d.Evaluation.JobID)
	now := time.Now()
	result, outcome := Compute(snap, view, job, d.Evaluation, now)
	return newWork(d, snap, job, result, outcome, now), nil
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
		return nil, errLost
	}
	defer env.Broker.Release(d)
	return env.Applier.Submit(ctx, s)
}
