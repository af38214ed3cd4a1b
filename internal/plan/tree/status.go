// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package tree

import (
	"github.com/reeve-run/reeve/api"
)

// A Status says how far a step, phase or plan is.
type Status = api.PlanStatus

// Statuses. Only phases and plans are IN_PROGRESS.
const (
	Pending    = api.PlanPending
	Waiting    = api.PlanWaiting
	Prepared   = api.PlanPrepared
	Starting   = api.PlanStarting
	Started    = api.PlanStarted
	Complete   = api.PlanComplete
	Delayed    = api.PlanDelayed
	Error      = api.PlanError
	InProgress = api.PlanInProgress
)

// Statuses are several, each once.
type statuses uint16

func MaskOf(s Status) statuses {
	switch s {
	case Pending:
		return 1 << 0
	case Waiting:
		return 1 << 1
	case Prepared:
		return 1 << 2
	case Starting:
		return 1 << 3
	case Started:
		return 1 << 4
	case Complete:
		return 1 << 5
	case Delayed:
		return 1 << 6
	case Error:
		return 1 << 7
	case InProgress:
		return 1 << 8
	}
	return 0
}

func Mask(list ...Status) (all statuses) {
	for _, s := range list {
		all |= MaskOf(s)
	}
	return all
}

var (
	restful  = Mask(Complete, Pending, Waiting) // nothing is under way
	underWay = Mask(Prepared, Starting, Started, InProgress)
	onTheWay = Mask(Pending, Starting, Started)
)

// A Tally is what a parent's status is made of: which statuses its children
// have, and which those of them that may be worked on (the candidates).
type Tally struct {
	children, candidates statuses
	Total, Complete      int
}

// Add counts a child.
func (t *Tally) Add(s Status, candidate bool) {
	is := MaskOf(s)
	t.children |= is
	if candidate {
		t.candidates |= is
	}
	t.Total++
	if s == Complete {
		t.Complete++
	}
}

// status is the parent's. Held is set when an operator holds it. Rules are
// tried in order.
func (t *Tally) status(held bool) Status {
	done := MaskOf(Complete)
	open, begun := t.children&^done, t.children&done != 0
	switch {
	case open&MaskOf(Error) != 0:
		return Error
	case open == 0:
		return Complete
	case held:
		return Waiting
	case t.candidates&^MaskOf(Delayed) == 0 && open&MaskOf(Delayed) != 0 && open&underWay == 0:
		return Delayed // also where other work waits behind what is delayed
	case open&MaskOf(Prepared) != 0:
		return InProgress
	case t.candidates&MaskOf(Waiting) != 0:
		return Waiting
	case t.candidates&MaskOf(InProgress) != 0:
		return InProgress
	case begun && t.candidates&onTheWay != 0:
		return InProgress
	case t.candidates&MaskOf(Pending) != 0:
		return Pending
	case open&MaskOf(Waiting) != 0:
		return Waiting
	case t.candidates&MaskOf(Starting) != 0:
		return Starting
	case t.candidates&MaskOf(Started) != 0:
		return Started
	case begun, open&underWay != 0:
		return InProgress
	}
	return Pending
}
