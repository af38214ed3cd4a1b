// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package broker

import (
	"time"

	"github.com/reeve-run/reeve/api"
)

// A Delivery is one job's open evaluations, handed to one worker. Working out
// the newest of them settles all: each asks the same question, and the answer
// depends on the state alone.
type Delivery struct {
	// Evaluation leads: it is the newest, and what is placed carries its id.
	Evaluation *api.Evaluation
	// Riders wait for the same job and end together with the leading one.
	Riders []*api.Evaluation
	// Blocked is the job's blocked evaluation, if it has one. It may be the
	// leading one. Workers keep it while something cannot be placed.
	Blocked *api.Evaluation
	// MinIndex is the state that all of them have been seen at: a worker's
	// snapshot must not be older.
	MinIndex uint64
	// Attempt counts deliveries, from 1.
	Attempt int
	// Failure is why the worker could not work it out; set before Nack.
	Failure string

	job      *jobQueue
	offers   []string // nodes whose offers woke it
	released uint64   // as the queue's when it was handed out
	// forgotten are evaluations of the job that ended, or were deleted, while it
	// is out.
	forgotten []string
	deadline  time.Time
	held      bool // being committed: its deadline does not count
	slot      int  // in the heap of deadlines
}

// all lists every evaluation of the delivery.
func (d *Delivery) all() []*api.Evaluation {
	list := append([]*api.Evaluation{d.Evaluation}, d.Riders...)
	if d.Blocked != nil && d.Blocked != d.Evaluation {
		list = append(list, d.Blocked)
	}
	return list
}
