// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package tree

import (
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/plan/facts"
)

// An action is what a step does to its instance when it is a candidate.
type action uint8

const (
	None       action = iota
	Start             // nothing is there: place an instance
	Replace           // stop what is there, and place an instance
	Update            // change what is there in place
	Later             // place an instance at a known time
	Launch            // have tasks run in the allocation that is there
	Leave             // stop the allocation: nothing comes after it
	Deregister        // forget the job
)

// A Step is the work of one plan on one instance, or on some tasks of it.
type Step struct {
	On      *facts.Instance // nil only where the work is not about one (deregister)
	Action  action
	Status  Status
	Next    bool       // it is a candidate: to be done now
	Blocked action     // what it will do once an operator has continued its canary phase
	Reason  api.Reason // of an action leave
	Job     *api.Job   // version that the instance is to have
	Why     string     // it is so, or what it waits for
	Until   time.Time
	Delay   time.Duration // of a replacement by the reschedule policy
	// Settles is set when doing the step completes it: nobody has to report
	// anything first.
	Settles bool
	// Proves is set when its instance is changed in place, and has to be found
	// healthy again.
	Proves bool
	Tasks  []string   // that it is about; nil: all of the group
	Extra  *stepExtra // nil for most
}

// What few steps have.
type stepExtra struct {
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
func (st *Step) MutableExtra() *stepExtra {
	if st.Extra == nil {
		st.Extra = new(stepExtra)
	}
	return st.Extra
}

// ExtraOrZero returns what few steps have, to be looked at.
func (st *Step) ExtraOrZero() stepExtra {
	if st.Extra == nil {
		return stepExtra{}
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
