// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"slices"

	"github.com/reeve-run/reeve/api"
)

// orders are what operators decided about instances: restart, replace, pause
// and resume. They are about an instance, whichever allocation holds it, but for
// restart and replace, which are about the allocation that held it then: what
// is carried out once is not carried out again on what comes after it.
type orders []*api.Decision

// latest returns the newest of the orders that is one of the verbs and covers the
// task; nil if none is.
func (o orders) latest(task string, verbs ...api.Verb) *api.Decision {
	for _, d := range slices.Backward(o) {
		if slices.Contains(verbs, d.Verb) && (len(d.Tasks) == 0 || slices.Contains(d.Tasks, task)) {
			return d
		}
	}
	return nil
}

// pausedBy returns the decision that holds the task of the instance; nil if none does.
func (o orders) pausedBy(task string) *api.Decision {
	if d := o.latest(task, api.VerbPause, api.VerbResume); d != nil && d.Verb == api.VerbPause {
		return d
	}
	return nil
}

// allPausedBy returns the decision that holds all of the tasks; nil if one of them
// is not held.
func (o orders) allPausedBy(tasks []string) (by *api.Decision) {
	for _, task := range tasks {
		d := o.pausedBy(task)
		if d == nil {
			return nil
		}
		by = d
	}
	return by
}

// replacedBy returns the decision to replace the allocation; nil if there is none.
func (o orders) replacedBy(a *api.Allocation) *api.Decision {
	if a == nil {
		return nil
	}
	for _, d := range slices.Backward(o) {
		if d.Verb == api.VerbReplace && d.Allocation == a.ID {
			return d
		}
	}
	return nil
}

// describeDecision tells what was done, by whom, and why.
func describeDecision(done string, d *api.Decision) string {
	return d.Describe(done)
}
