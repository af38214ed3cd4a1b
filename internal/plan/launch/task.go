// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package launch

import (
	"slices"

	"github.com/reeve-run/reeve/api"
)

// DeployToken is the token of tasks that a deploy step launches in an existing
// allocation.
const DeployToken = "deploy"

// IsLaunched reports whether the tasks were launched in the allocation.
func IsLaunched(a *api.Allocation, tasks []string) bool {
	if a.Launches == nil {
		return true
	}
	return !slices.ContainsFunc(tasks, func(name string) bool {
		l := a.Launches.Tasks[name]
		return l != nil && l.Token == "" && !l.Done
	})
}

// IsLaunching reports whether the node has yet to run any of the tasks that a
// deploy step launched.
func IsLaunching(a *api.Allocation, tasks []string) bool {
	return slices.ContainsFunc(tasks, func(name string) bool {
		l, _ := Of(a, name)
		is := a.TaskStates[name]
		return l.Token == DeployToken && !l.Done && (is == nil || is.Launch != l.Token)
	})
}

// Awaits reports whether the allocation has tasks that are yet to be launched
// before it counts as healthy.
func Awaits(a *api.Allocation) bool {
	if a.Launches == nil {
		return false
	}
	for _, l := range a.Launches.Tasks {
		if l.Await && l.Token == "" && !l.Done {
			return true
		}
	}
	return false
}

// LaunchHealth returns what the node has reported of the allocation's health since its
// launches last changed.
func LaunchHealth(a *api.Allocation) (healthy, unhealthy bool) {
	if a.LaunchStatus == nil || a.Launches == nil || a.LaunchStatus.ID != a.Launches.ID || a.LaunchStatus.Healthy == nil {
		return false, false
	}
	return *a.LaunchStatus.Healthy, !*a.LaunchStatus.Healthy
}

// GoalOf returns the goal of the task.
func GoalOf(job *api.Job, t *api.Task) string {
	switch {
	case t.Goal != "":
		return t.Goal
	case t.Lifecycle != nil && !t.Lifecycle.Sidecar && t.Lifecycle.Hook != "", t.Lifecycle == nil && job.RunsToCompletion():
		return api.GoalFinish
	}
	return api.GoalRunning
}
