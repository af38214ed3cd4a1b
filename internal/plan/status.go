// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package plan

import "slices"

// A Status says how far a step, phase or plan is.
type Status string

// Statuses. Only phases and plans are IN_PROGRESS.
const (
	Pending    Status = "PENDING"     // not done, nothing begun
	Waiting    Status = "WAITING"     // may not go on until an operator continues
	Prepared   Status = "PREPARED"    // a candidate; being placed, or blocked
	Starting   Status = "STARTING"    // placed or being stopped; no word from the node yet
	Started    Status = "STARTED"     // runs; not healthy or finished yet
	Complete   Status = "COMPLETE"    // reached
	Delayed    Status = "DELAYED"     // held back until a known time
	Error      Status = "ERROR"       // cannot succeed as it stands
	InProgress Status = "IN_PROGRESS" // some of it is complete
)

// aggregate is the status of a parent: of its children, and of those of them
// that may be worked on (the candidates). Rules are tried in order.
func aggregate(children, candidates []Status, held bool) Status {
	anyOf := func(list []Status, is ...Status) bool {
		return slices.ContainsFunc(list, func(s Status) bool { return slices.Contains(is, s) })
	}
	allOf := func(list []Status, is Status) bool {
		return !slices.ContainsFunc(list, func(s Status) bool { return s != is })
	}
	open := slices.DeleteFunc(slices.Clone(children), func(s Status) bool { return s == Complete })
	switch {
	case anyOf(children, Error):
		return Error
	case len(open) == 0:
		return Complete
	case held:
		return Waiting
	case allOf(candidates, Delayed) && anyOf(open, Delayed) && !anyOf(open, Prepared, Starting, Started, InProgress):
		return Delayed // also where other work waits behind what is delayed
	case anyOf(children, Prepared):
		return InProgress
	case anyOf(candidates, Waiting):
		return Waiting
	case anyOf(candidates, InProgress):
		return InProgress
	case len(open) < len(children) && anyOf(candidates, Pending, Starting, Started):
		return InProgress
	case anyOf(candidates, Pending):
		return Pending
	case anyOf(children, Waiting):
		return Waiting
	case anyOf(candidates, Starting):
		return Starting
	case anyOf(candidates, Started):
		return Started
	case len(open) < len(children) || anyOf(open, Starting, Started, InProgress):
		return InProgress
	}
	return Pending
}
