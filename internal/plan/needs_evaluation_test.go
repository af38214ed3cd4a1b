// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"testing"

	"github.com/reeve-run/reeve/api"
)

func TestNeedsEvaluation(t *testing.T) {
	one := &api.Job{Groups: []*api.Group{{}}}
	two := &api.Job{Groups: []*api.Group{{}, {}}}
	alloc := func(job *api.Job, status, deployment string, healthy ...bool) *api.Allocation {
		a := &api.Allocation{Job: job, DesiredStatus: api.AllocDesiredRun, ClientStatus: status, DeploymentID: deployment}
		if len(healthy) > 0 {
			a.DeploymentStatus = &api.AllocDeploymentStatus{Healthy: &healthy[0]}
		}
		return a
	}
	stopping := alloc(one, "running", "")
	stopping.DesiredStatus = api.AllocDesiredStop
	stopped := alloc(one, "complete", "")
	stopped.DesiredStatus = api.AllocDesiredStop
	// serving has taken over from another allocation, and is ready for traffic or not.
	serving := func(a *api.Allocation, ready bool) *api.Allocation {
		a.PreviousAllocation, a.Serving = "p", &api.Serving{Up: true, Routable: ready}
		return a
	}
	for _, test := range []struct {
		name     string
		old, new *api.Allocation
		trigger  string
	}{
		{"nothing new", alloc(one, "running", "d"), alloc(one, "running", "d"), ""},
		{"started, without deployment", alloc(two, "pending", ""), alloc(two, "running", ""), ""},
		{"started, the only group", alloc(one, "pending", "d"), alloc(one, "running", "d"), ""},
		{"started, another group may wait for it", alloc(two, "pending", "d"), alloc(two, "running", "d"), api.TriggerDeploymentWatcher},
		{"became healthy", alloc(one, "running", "d"), alloc(one, "running", "d", true), api.TriggerDeploymentWatcher},
		{"became unhealthy", alloc(one, "running", "d"), alloc(one, "running", "d", false), api.TriggerDeploymentWatcher},
		{"is ready: what it takes over from may end", serving(alloc(one, "running", "d"), false), serving(alloc(one, "running", "d"), true), api.TriggerAllocReconnect},
		{"is ready and healthy: the deployment goes on", serving(alloc(one, "running", "d"), false), serving(alloc(one, "running", "d", true), true), api.TriggerDeploymentWatcher},
		{"failed", alloc(one, "running", ""), alloc(one, "failed", ""), api.TriggerAllocFailure},
		{"ended", alloc(one, "running", ""), alloc(one, "complete", ""), api.TriggerAllocStop},
		{"has stopped as told: its room is free", stopping, stopped, api.TriggerAllocStop},
	} {
		t.Run(test.name, func(t *testing.T) {
			trigger, needed := NeedsEvaluation(test.old, test.new)
			if trigger != test.trigger || needed != (test.trigger != "") {
				t.Errorf("%q, %t; want %q", trigger, needed, test.trigger)
			}
		})
	}
}
