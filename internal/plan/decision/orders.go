// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package decision

import (
	"slices"

	"github.com/reeve-run/reeve/api"
)

// Orders are the decisions of operators about one instance: restart, replace, pause
// and resume, oldest first. Pause and resume concern every allocation that holds the
// instance. Restart and replace concern only the allocation that held it at the time,
// so that they are not repeated on its successor.
type Orders []*api.Decision

// Latest returns the newest order that has one of the verbs and covers the task, or
// nil.
func (o Orders) Latest(task string, verbs ...api.Verb) *api.Decision {
	for _, d := range slices.Backward(o) {
		if slices.Contains(verbs, d.Verb) && (len(d.Tasks) == 0 || slices.Contains(d.Tasks, task)) {
			return d
		}
	}
	return nil
}

// PausedBy returns the decision that holds the task of the instance, or nil.
func (o Orders) PausedBy(task string) *api.Decision {
	if d := o.Latest(task, api.VerbPause, api.VerbResume); d != nil && d.Verb == api.VerbPause {
		return d
	}
	return nil
}

// AllPausedBy returns the decision that holds the last of the tasks; nil if one of the
// tasks is not held.
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

// ReplacedBy returns the decision to replace the allocation, or nil.
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

// Describe returns what an operator did, with the name and the reason of the operator.
func Describe(done string, d *api.Decision) string {
	return d.Describe(done)
}

// A Place names an instance.
type Place struct {
	Group string
	Index int
	Node  string // of a job that runs on every node
}
