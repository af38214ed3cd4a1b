// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package worker

import (
	"context"
	"errors"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/server/applier"
	"github.com/reeve-run/reeve/internal/server/broker"
)

// A Queue hands out evaluations and commits their results: that of the leader, from the leader
// itself or over the network.
type Queue interface {
	// Dequeue waits for the next delivery.
	Dequeue(ctx context.Context) (*broker.Delivery, error)
	// Submit commits a result of the delivery. It returns ErrLost if the worker no longer owns the
	// delivery. kept is the job's blocked evaluation once everything is committed, or nil.
	// Submit releases the allocations that the submission claims and that are not committed.
	Submit(ctx context.Context, d *broker.Delivery, s *applier.Submission, kept *api.Evaluation) (*applier.Result, error)
	// Ack ends a delivery; see broker.Broker.
	Ack(d *broker.Delivery, kept *api.Evaluation)
	// Nack returns a delivery whose evaluation failed. If its Failure is empty, it was not
	// evaluated, or is contended.
	Nack(d *broker.Delivery)
}

// ErrLost means that the delivery was handed to another worker.
var ErrLost = errors.New("the evaluation was handed to another worker")

// errContended means that the applier refused everything that a follower's worker placed.
var errContended = errors.New("other servers placed on the same room")

// errBehind means that the state did not reach the index of a delivery in time.
var errBehind = errors.New("the state is too old for the evaluation")

// Local is the queue of the leader's own workers.
type Local struct {
	*broker.Broker
	Applier *applier.Applier
}

// Submit implements Queue.
func (l Local) Submit(ctx context.Context, d *broker.Delivery, s *applier.Submission, _ *api.Evaluation) (*applier.Result, error) {
	if !l.Hold(d) {
		l.Applier.Discard(s)
		return nil, ErrLost
	}
	defer l.Release(d)
	return l.Applier.Submit(ctx, s)
}
