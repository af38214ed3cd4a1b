// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package broker

import (
	"time"

	"github.com/reeve-run/reeve/api"
)

// A Delivery holds one job's open evaluations, handed to one worker. Evaluating the newest
// of them answers all: each asks the same question, and the answer depends only on the
// state.
type Delivery struct {
	// Evaluation is the newest evaluation. New allocations carry its id.
	Evaluation *api.Evaluation
	// Riders are the job's other pending evaluations. They end together with Evaluation.
	Riders []*api.Evaluation
	// Blocked is the job's blocked evaluation, or nil. It may be Evaluation itself.
	// Workers keep it while an instance cannot be placed.
	Blocked *api.Evaluation
	// MinIndex is the minimum index of the worker's snapshot: the state at that index
	// contains all of the evaluations.
	MinIndex uint64
	// Attempt is the number of the delivery, from 1.
	Attempt int
	// Failure is the reason why the evaluation failed. Set it before Nack.
	Failure string
	// Contended reports whether the applier refused every placement of a worker on another
	// server. Set it before Nack.
	Contended bool

	job      *jobQueue
	offers   []string // nodes and quotas whose offers woke the job
	released uint64   // the queue's released count at delivery
	// forgotten lists evaluations of the job that ended, or were deleted, during the
	// delivery.
	forgotten []string
	deadline  time.Time
	held      bool // reports whether the placement is being committed, which suspends the deadline
	slot      int  // index in the heap of deadlines
}

// all returns every evaluation of the delivery.
func (d *Delivery) all() []*api.Evaluation {
	list := append([]*api.Evaluation{d.Evaluation}, d.Riders...)
	if d.Blocked != nil && d.Blocked != d.Evaluation {
		list = append(list, d.Blocked)
	}
	return list
}
