// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package runner

import "github.com/reeve-run/reeve/api"

// ForgetServerIndexes makes the runner accept updates from servers whose indexes restarted
// at zero, because the servers that placed the allocation lost their state or no longer exist.
func (r *Runner) ForgetServerIndexes() {
	r.mu.Lock()
	defer r.mu.Unlock()
	a := r.alloc.Copy()
	a.AllocModifyIndex = 0
	r.alloc = a
	r.save()
}

// FullReport returns the allocation with its job and the node's current report.
func (r *Runner) FullReport() *api.Allocation {
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
