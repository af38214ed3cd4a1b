// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package sdk

import "github.com/reeve-run/reeve/api"

// taskStatus returns a task's state in the dialect: a Mesos state without TASK_, or the
// effect of an operator's verb.
func (p pod) taskStatus(task string) string {
	a, state := p.allocation, p.allocation.TaskStates[task]
	running := state != nil && state.State == api.TaskStateRunning
	launch := p.launch(task)
	switch {
	case launch != nil && launch.Hold && running:
		return "PAUSING"
	case launch != nil && launch.Hold:
		return "PAUSED"
	case p.Plan == api.PlanDecommission && running:
		return "DECOMMISSIONING"
	case p.Plan == api.PlanDecommission && a.IsClientTerminal():
		return "DECOMMISSIONED"
	case a.ClientStatus == api.AllocClientLost:
		return "LOST"
	case a.ClientStatus == api.AllocClientUnknown:
		return "UNREACHABLE"
	case running:
		return "RUNNING"
	case state == nil:
		return ""
	case state.State == api.TaskStatePending, launch != nil && launch.Token != state.Launch:
		return "STAGING"
	case state.Failed:
		return "FAILED"
	case a.IsServerTerminal():
		return "KILLED"
	}
	return "FINISHED"
}

// isPaused reports whether an operator holds every task of the pod.
func (p pod) isPaused() bool {
	if !p.Paused || p.allocation == nil {
		return false
	}
	for _, t := range p.tasks() {
		if l := p.launch(t.Name); l == nil || !l.Hold {
			return false
		}
	}
	return true
}
