// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package api

// Serving is a node's report on whether an allocation serves, if it has services or
// routes, or is monitored. It is nil for other allocations, for which it is enough that
// they run.
type Serving struct {
	// Up is set once its tasks run and all liveness checks have passed: the instance is
	// RUNNING. It stays set until the allocation ends or a task restarts.
	Up bool
	// Routable is set while the allocation is up, its readiness checks pass, and it is not
	// leaving: it may receive traffic.
	Routable bool
	Reason   string                 `json:",omitempty"` // reason why it is not Routable, in words
	Since    int64                  `json:",omitempty"` // time of the last change of Up or Routable; Unix nanoseconds
	Services []*ServiceRegistration `json:",omitempty"` // interpolated by the node; set once Up
	Failing  []*CheckFailure        `json:",omitempty"` // failing checks, in the order of the job
	Warm     *WarmProgress          `json:",omitempty"` // of its stack's warm block, since its tasks started
}

// IsUp reports whether the allocation's instance is RUNNING: it has started and its
// liveness checks have passed.
func (a *Allocation) IsUp() bool {
	if a.Serving == nil {
		return a.ClientStatus == AllocClientRunning
	}
	return a.Serving.Up && !a.IsClientTerminal()
}

// IsSuspect reports whether the allocation is unknown or lost: its node is disconnected or
// down.
func (a *Allocation) IsSuspect() bool {
	return a.ClientStatus == AllocClientUnknown || a.ClientStatus == AllocClientLost
}

// IsRoutable reports whether the allocation may receive traffic. An allocation that is
// stopping or given up leaves the catalog immediately. An allocation on a silent node
// keeps its last state (unknown) until its replacement is up and the servers remove it.
func (a *Allocation) IsRoutable() bool {
	if a.Serving == nil || !a.Serving.Routable || a.IsServerTerminal() {
		return false
	}
	return a.ClientStatus == AllocClientRunning || a.ClientStatus == AllocClientUnknown
}

// TakesTraffic reports whether the allocation is up and routable. One that does not report
// whether it serves is routable until the servers stop it.
func (a *Allocation) TakesTraffic() bool {
	return a.WasUp() && (a.IsRoutable() || a.Serving == nil && !a.IsServerTerminal())
}

// IsCrashing reports whether the allocation has crashed, is not up again, and has another
// attempt in progress or due.
func (a *Allocation) IsCrashing() bool {
	switch {
	case a.IsServerTerminal() || a.IsSuspect():
		return false
	case a.ClientStatus == AllocClientFailed:
		return a.FollowupEvalID != ""
	}
	return a.Crashes != nil && a.Crashes.Count > 0 && !a.IsClientTerminal() && !a.IsUp()
}

// IsFailing reports whether the allocation runs and one of its checks fails.
func (a *Allocation) IsFailing() bool {
	return a.Serving != nil && len(a.Serving.Failing) > 0 && !a.IsTerminal()
}

// WasUp reports whether the allocation is up, or was at its node's last report.
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

// Crashes counts the crashes of an instance over its successive allocations.
type Crashes struct {
	Count  int    // since the instance was last healthy for long enough
	Total  int    // total
	Reason string `json:",omitempty"` // reason of the last crash, in words
	At     int64  `json:",omitempty"` // time of the last crash; Unix nanoseconds
	// The last crash: its kind, its task, and its result.
	Kind     TroubleKind `json:",omitempty"`
	Task     string      `json:",omitempty"`
	ExitCode int         `json:",omitempty"`
	Signal   int         `json:",omitempty"`
	Next     int64       `json:",omitempty"` // time of the next attempt; 0: in progress, or none; Unix nanoseconds
}
