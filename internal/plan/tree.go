// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"time"

	"github.com/reeve-run/reeve/api"
)

// A Plan is a tree of work between what is and what should be.
type Plan struct {
	Name     string // "deploy", "recovery" or "decommission"
	Strategy string
	Status   Status
	Phases   []*Phase
	Errors   []string `json:",omitempty"`
}

// A Phase is steps under one strategy.
type Phase struct {
	Name     string // of the group
	Strategy string
	Status   Status
	Steps    []*Step
	Errors   []string `json:",omitempty"`
}

// A Step is the work on one instance.
type Step struct {
	Name       string // group-index:[task, task]
	Status     Status
	Message    string    `json:",omitempty"` // why, in words
	Until      time.Time `json:",omitzero"`  // when a DELAYED step goes on
	Group      string
	Index      int
	Allocation string `json:",omitempty"` // id of the one that it is about
	JobVersion uint64 // that the instance is to have
}

// Derive returns the job's plans as they are now, to be shown. Nothing is
// changed by it. Job may be nil if it was purged.
func Derive(r Reader, key api.NamespacedID, job *api.Job, now time.Time) []*Plan {
	return nil
}
