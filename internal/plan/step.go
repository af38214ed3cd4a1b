// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"time"

	"github.com/reeve-run/reeve/api"
)

// An action is what a step does to its instance when it is a candidate.
type action uint8

const (
	none       action = iota
	start             // nothing is there: place an instance
	replace           // stop what is there, and place an instance
	update            // change what is there in place
	later             // place an instance at a known time
	launch            // have tasks run in the allocation that is there
	leave             // stop the allocation: nothing comes after it
	deregister        // forget the job
)

// A step is the work of one plan on one instance, or on some tasks of it.
type step struct {
	on      *instance // nil only where the work is not about one (deregister)
	action  action
	status  Status
	next    bool       // it is a candidate: to be done now
	blocked action     // what it will do once an operator has continued its canary phase
	reason  api.Reason // of an action leave
	job     *api.Job   // version that the instance is to have
	why     string     // it is so, or what it waits for
	until   time.Time
	delay   time.Duration // of a replacement by the reschedule policy
	// settles is set when doing the step completes it: nobody has to report
	// anything first.
	settles bool
	// proves is set when its instance is changed in place, and has to be found
	// healthy again.
	proves bool
	tasks  []string   // that it is about; nil: all of the group
	extra  *stepExtra // nil for most
}

// What few steps have.
type stepExtra struct {
	name     string                 // instead of instance:[task, task]
	recovery string                 // one of the api.Recovery constants
	launches map[string]*api.Launch // of an action launch, by task
	forced   *api.Decision          // that made it COMPLETE
	held     *api.Decision          // that interrupted it
	after    []int                  // steps of the phase that must be complete first
	spec     *api.StepSpec          // that declares it
	begun    bool                   // it was under way when it was to be done again
	awaits   bool                   // an instance that is not ready for it
	updates  bool                   // a launch that also moves the allocation to the newest version, in place
}

// mutableExtra returns what few steps have, to be set.
func (st *step) mutableExtra() *stepExtra {
	if st.extra == nil {
		st.extra = new(stepExtra)
	}
	return st.extra
}

// extraOrZero returns what few steps have, to be looked at.
func (st *step) extraOrZero() stepExtra {
	if st.extra == nil {
		return stepExtra{}
	}
	return *st.extra
}

// force makes the step count as done.
func (st *step) force(d *api.Decision) {
	st.action, st.status, st.settles = none, Complete, false
	st.mutableExtra().forced = d
}

// isSettled reports whether the step is complete, or will be once it is done.
func (st *step) isSettled() bool { return st.status == Complete || st.settles }
