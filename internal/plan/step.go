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
	none    action = iota
	start          // nothing is there: place an instance
	replace        // stop what is there, and place an instance
	update         // change what is there in place
	later          // place an instance at a known time
)

// A step is the work of one plan on one instance.
type step struct {
	on     *instance
	do     action
	status Status
	job    *api.Job // version that the instance is to have
	why    string
	until  time.Time
	delay  time.Duration // of a replacement by the reschedule policy
	// settles is set when doing the step completes it: nobody has to report
	// anything first.
	settles bool
}

// A phase is the steps of one plan on one group.
type phase struct {
	group *group
	steps []step
	rule  rule
	// open is set when the phases before it let it begin.
	open bool
	held bool // by an operator
}

// isComplete reports whether every step is.
func (p *phase) isComplete() bool {
	for i := range p.steps {
		if st := &p.steps[i]; st.status != Complete && !st.settles {
			return false
		}
	}
	return true
}

// isStarted reports whether every step's instance has been started at least.
func (p *phase) isStarted() bool {
	for i := range p.steps {
		if st := &p.steps[i]; st.status != Complete && st.status != Started && (st.do != update || st.on.state == placed) {
			return false
		}
	}
	return true
}
