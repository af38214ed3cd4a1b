// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package api

// Serving is what an allocation's node says of whether it serves, if it has
// services or routes, or is monitored. Of others, nil, it is enough to know that
// they run.
type Serving struct {
	// Up is set once its tasks run and all liveness checks passed: the instance is
	// RUNNING. It stays set until the allocation ends or a task is restarted.
	Up bool
	// Routable says that it is up, its readiness checks pass, and it does not
	// leave: traffic may come.
	Routable bool
	Reason   string                 `json:",omitempty"` // why it is not Routable, in words
	Since    int64                  `json:",omitempty"` // of the last change of Up or Routable; Unix nanoseconds
	Services []*ServiceRegistration `json:",omitempty"` // as interpolated by the node; once Up
	Failing  []*CheckFailure        `json:",omitempty"` // checks that fail, as the job lists them
}

// IsUp reports whether the allocation's instance is RUNNING: it was started and
// its liveness checks passed.
func (a *Allocation) IsUp() bool {
	if a.Serving == nil {
		return a.ClientStatus == AllocClientRunning
	}
	return a.Serving.Up && !a.IsClientTerminal()
}

// IsSuspect reports whether the allocation's node is not heard of, while nothing
// else is known to be in its place.
func (a *Allocation) IsSuspect() bool {
	return a.ClientStatus == AllocClientUnknown || a.ClientStatus == AllocClientLost
}

// IsRoutable reports whether traffic may go to the allocation. One that is told
// to stop, or is given up, is out of the catalog at once. One whose node is not
// heard of stays in it as it last was (unknown), until the servers take it out
// because another one is up in its place.
func (a *Allocation) IsRoutable() bool {
	if a.Serving == nil || !a.Serving.Routable || a.IsServerTerminal() {
		return false
	}
	return a.ClientStatus == AllocClientRunning || a.ClientStatus == AllocClientUnknown
}

// IsCrashing reports whether the allocation has crashed, is not up again, and
// another attempt is made or due.
func (a *Allocation) IsCrashing() bool {
	switch {
	case a.IsServerTerminal() || a.IsSuspect():
		return false
	case a.ClientStatus == AllocClientFailed:
		return a.FollowupEvalID != ""
	}
	return a.Crashes != nil && a.Crashes.Count > 0 && !a.IsClientTerminal() && !a.IsUp()
}

// IsFailing reports whether the allocation runs, and one of its checks fails.
func (a *Allocation) IsFailing() bool {
	return a.Serving != nil && len(a.Serving.Failing) > 0 && !a.IsTerminal()
}

// WasUp reports whether the allocation is up, or was when its node was last heard
// of.
func (a *Allocation) WasUp() bool {
	if !a.IsSuspect() {
		return a.IsUp()
	}
	if a.Serving != nil {
		return a.Serving.Up
	}
	for _, t := range a.TaskStates {
		if t.State == TaskStateRunning {
			return true
		}
	}
	return false
}

// Crashes is how often an instance crashed, in the allocations that followed one
// another in it.
type Crashes struct {
	Count  int    // since it was last well for long enough
	Total  int    // ever
	Reason string `json:",omitempty"` // of the last one, in words
	At     int64  `json:",omitempty"` // of the last one; Unix nanoseconds
	// Of the last one: what it was, of which task, and how that ended.
	Kind     TroubleKind `json:",omitempty"`
	Task     string      `json:",omitempty"`
	ExitCode int         `json:",omitempty"`
	Signal   int         `json:",omitempty"`
	Next     int64       `json:",omitempty"` // when it is tried again; 0: it is, or never; Unix nanoseconds
}
