// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package decision

import (
	"slices"

	"github.com/reeve-run/reeve/api"
)

// Orders are what operators decided about instances: restart, replace, pause
// and resume. They are about an instance, whichever allocation holds it, but for
// restart and replace, which are about the allocation that held it then: what
// is carried out once is not carried out again on what comes after it.
type Orders []*api.Decision

// Latest returns the newest of the orders that is one of the verbs and covers the
// task; nil if none is.
func (o Orders) Latest(task string, verbs ...api.Verb) *api.Decision {
	for _, d := range slices.Backward(o) {
		if slices.Contains(verbs, d.Verb) && (len(d.Tasks) == 0 || slices.Contains(d.Tasks, task)) {
			return d
		}
	}
	return nil
}

// PausedBy returns the decision that holds the task of the instance; nil if none does.
func (o Orders) PausedBy(task string) *api.Decision {
	if d := o.Latest(task, api.VerbPause, api.VerbResume); d != nil && d.Verb == api.VerbPause {
		return d
	}
	return nil
}

// AllPausedBy returns the decision that holds all of the tasks; nil if one of them
// is not held.
func (o Orders) AllPausedBy(tasks []string) (by *api.Decision) {
	for _, task := range tasks {
		d := o.PausedBy(task)
		if d == nil {
			return nil
		}
		by = d
	}
	return by
}

// ReplacedBy returns the decision to replace the allocation; nil if there is none.
func (o Orders) ReplacedBy(a *api.Allocation) *api.Decision {
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

// Describe tells what was done, by whom, and why.
func Describe(done string, d *api.Decision) string {
	return d.Describe(done)
}

// A Place names an instance.
type Place struct {
	Group string
	Index int
	Node  string // of a job that runs on every node
}
