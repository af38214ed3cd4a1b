// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package api

import "time"

// Launches determine which tasks of an allocation run, unless all of them run from its
// start. They are part of the intended state. The node enforces them across restarts of
// nodes and servers.
type Launches struct {
	ID    string // changes whenever Tasks changes
	Tasks map[string]*Launch
}

// A Launch is the intended state of one task. A task without a Launch runs from the start
// of its allocation.
type Launch struct {
	// Token identifies the intended run. The node runs the task once per token, after it
	// has ended a run with another token. "": do not run yet.
	Token string
	// Await is set while the allocation does not count as healthy without the task, which
	// is not launched yet.
	Await bool `json:",omitempty"`
	Hold  bool `json:",omitempty"` // end the task, and do not run it until this changes
	// Done is set if a predecessor of the allocation completed the run with that token:
	// the node does nothing.
	Done bool `json:",omitempty"`
	// Alone is set if the task's failure does not affect the rest of the allocation.
	Alone bool              `json:",omitempty"`
	Env   map[string]string `json:",omitempty"` // added to the task's own environment
	// Index is the index of the newest decision about the task that the launch includes.
	// The node must not carry out older decisions.
	Index uint64 `json:",omitempty"`
	Why   string `json:",omitempty"` // reason in words, for the task's events
}

// A LaunchStatus is the status of an allocation since its launches last changed.
type LaunchStatus struct {
	ID        string // ID of the Launches in effect
	Healthy   *bool  // reports whether all tasks that are to run do, and their checks pass; nil: unknown
	Timestamp time.Time
}
