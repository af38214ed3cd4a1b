// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package tree

import (
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/plan/facts"
)

// An Action is what a step does to its instance when it is a candidate.
type Action uint8

const (
	None       Action = iota
	Start             // place an instance
	Replace           // stop the allocation, and place an instance
	Update            // change the allocation in place
	Later             // place an instance at a known time
	Launch            // launch tasks in the existing allocation
	Leave             // stop the allocation, without successor
	Deregister        // remove the job
)

// A Step is the work of one plan on one instance, or on some tasks of it.
type Step struct {
	On      *facts.Instance // nil: the step concerns no instance (Deregister)
	Action  Action
	Status  Status
	Next    bool       // reports whether it is a candidate, which runs now
	Blocked Action     // action after an operator has continued its canary phase
	Reason  api.Reason // of the stop, if recovery replaces a failed allocation or the action is leave; 0: see its state
	Job     *api.Job   // version that the instance is to have
	Why     string     // reason of its status
	Until   time.Time
	Delay   time.Duration // of a replacement by the reschedule policy
	// Settles reports whether executing the step completes it, without a report of the
	// node.
	Settles bool
	// Proves reports whether its instance is changed in place, and has to become healthy
	// again.
	Proves bool
	Tasks  []string   // tasks that it concerns; nil: all of the group
	Extra  *StepExtra // nil for most
}

// StepExtra holds fields that few steps have.
type StepExtra struct {
	Name     string                 // instead of instance:[task, task]
	Recovery string                 // one of the api.Recovery constants
	Launches map[string]*api.Launch // of an action launch, by task
	Forced   *api.Decision          // that made it COMPLETE
	Held     *api.Decision          // that interrupted it
	After    []int                  // steps of the phase that must be complete first
	Spec     *api.StepSpec          // that declares it
	Begun    bool                   // it was under way when it was to be done again
	Awaits   bool                   // an instance that is not ready for it
	Updates  bool                   // a launch that also moves the allocation to the newest version, in place
}

// MutableExtra returns what few steps have, to be set.
func (st *Step) MutableExtra() *StepExtra {
	if st.Extra == nil {
		st.Extra = new(StepExtra)
	}
	return st.Extra
}

// ExtraOrZero returns the extra fields of a step, or zero values if it has none.
func (st *Step) ExtraOrZero() StepExtra {
	if st.Extra == nil {
		return StepExtra{}
	}
	return *st.Extra
}

// force makes the step count as done.
func (st *Step) force(d *api.Decision) {
	st.Action, st.Status, st.Settles = None, Complete, false
	st.MutableExtra().Forced = d
}

// isSettled reports whether the step is complete, or will be once it is done.
func (st *Step) isSettled() bool { return st.Status == Complete || st.Settles }
