// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package runner

import "github.com/reeve-run/reeve/api"

// Disown has the runner listen to servers that count from the beginning: those
// that placed the allocation are no more, or have forgotten it.
func (r *Runner) Disown() {
	r.mu.Lock()
	defer r.mu.Unlock()
	a := r.alloc.Copy()
	a.AllocModifyIndex = 0
	r.alloc = a
	r.save()
}

// Whole is the allocation with its job and with all that the node says of it.
func (r *Runner) Whole() *api.Allocation {
	says := r.Report()
	a := r.Allocation().Copy()
	a.ClientStatus, a.ClientDescription, a.ModifyTime = says.ClientStatus, says.ClientDescription, says.ModifyTime
	a.TaskStates, a.LaunchStatus, a.Serving = says.TaskStates, says.LaunchStatus, says.Serving
	if says.Crashes != nil {
		a.Crashes = says.Crashes
	}
	if says.NetworkStatus != nil {
		a.NetworkStatus = says.NetworkStatus
	}
	return a
}
