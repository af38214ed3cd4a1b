// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package api

import "time"

// Launches say which tasks of an allocation run, where that is not simply all
// of them from its beginning. They are part of what the servers want: the node
// makes it so, however often it or a server is restarted.
type Launches struct {
	ID    string // differs whenever Tasks does
	Tasks map[string]*Launch
}

// A Launch is what is wanted of one task. A task without one runs from the
// beginning of its allocation.
type Launch struct {
	// Token names the run that is wanted. The node runs the task once for each:
	// what runs under another one is ended first. "": it is not to run yet.
	Token string
	// Await is set while the allocation does not count as healthy without the
	// task, which has yet to be launched.
	Await bool `json:",omitempty"`
	Hold  bool `json:",omitempty"` // it is to be ended, and not run until this changes
	// Done is set when the run of that token was done by a predecessor of the
	// allocation: there is nothing to do.
	Done bool `json:",omitempty"`
	// Alone is set when its failure is its own: the allocation goes on as it is.
	Alone bool              `json:",omitempty"`
	Env   map[string]string `json:",omitempty"` // in addition to the task's own
	// Index is that of the newest decision on the task that the launch takes into
	// account: older ones are not to be carried out any more.
	Index uint64 `json:",omitempty"`
	Why   string `json:",omitempty"` // in words, for the task's events
}

// A LaunchStatus is how an allocation is since its launches last changed.
type LaunchStatus struct {
	ID        string // of the Launches that the node acts on
	Healthy   *bool  // all tasks that are to run do, and their checks pass; nil: not known yet
	Timestamp time.Time
}
