// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"testing"

	"github.com/reeve-run/reeve/api"
)

func TestLaunchesThatMoveCallForAnEvaluation(t *testing.T) {
	yes, no := true, false
	status := func(id string, healthy *bool) *api.LaunchStatus { return &api.LaunchStatus{ID: id, Healthy: healthy} }
	task := func(state, token string) map[string]*api.TaskState {
		return map[string]*api.TaskState{"server": {State: state, Launch: token}}
	}
	first := map[string]*api.Launch{"next": {Await: true}}
	restarted := map[string]*api.Launch{"server": {Token: "r"}}
	custom := map[string]*api.Launch{"backup": {}}
	const pending, running, dead = api.TaskStatePending, api.TaskStateRunning, api.TaskStateDead
	job := &api.Job{Type: api.JobTypeService, Groups: []*api.Group{{
		Name: "main", Tasks: []*api.Task{{Name: "server"}, {Name: "init", Goal: api.GoalFinish}, {Name: "next"}, {Name: "backup"}},
	}}}
	for _, c := range []struct {
		name     string
		launches map[string]*api.Launch
		was, is  api.Allocation
		want     bool
	}{
		{"a task runs for which another waits", first, api.Allocation{}, api.Allocation{TaskStates: task(running, "")}, true},
		{"a task is pending", first, api.Allocation{}, api.Allocation{TaskStates: task(pending, "")}, false},
		{"a task runs for which nothing waits", custom, api.Allocation{}, api.Allocation{TaskStates: task(running, "")}, false},
		{"a task runs under its new token", restarted, api.Allocation{TaskStates: task(running, "")}, api.Allocation{TaskStates: task(running, "r")}, true},
		{"a task began that is to end", map[string]*api.Launch{"init": {Token: "r"}}, api.Allocation{}, api.Allocation{TaskStates: map[string]*api.TaskState{"init": {State: running, Launch: "r"}}}, false},
		{"a task ended that was to end", map[string]*api.Launch{"init": {Token: "r"}}, api.Allocation{}, api.Allocation{TaskStates: map[string]*api.TaskState{"init": {State: dead, Launch: "r"}}}, true},
		{"a task that was launched ended", restarted, api.Allocation{TaskStates: task(running, "r")}, api.Allocation{TaskStates: task(dead, "r")}, true},
		{"nothing new of a task", restarted, api.Allocation{TaskStates: task(running, "r")}, api.Allocation{TaskStates: task(running, "r")}, false},
		{"launches are taken in", restarted, api.Allocation{}, api.Allocation{LaunchStatus: status("1", nil)}, false},
		{"launches are healthy", restarted, api.Allocation{LaunchStatus: status("1", nil)}, api.Allocation{LaunchStatus: status("1", &yes)}, true},
		{"the next launches are healthy, too", restarted, api.Allocation{LaunchStatus: status("1", &yes)}, api.Allocation{LaunchStatus: status("2", &yes)}, true},
		{"launches are healthy no more", restarted, api.Allocation{LaunchStatus: status("1", &yes)}, api.Allocation{LaunchStatus: status("1", &no)}, true},
		{"launches are healthy still", restarted, api.Allocation{LaunchStatus: status("1", &yes)}, api.Allocation{LaunchStatus: status("1", &yes)}, false},
		{"an allocation without launches", nil, api.Allocation{}, api.Allocation{TaskStates: task(running, ""), LaunchStatus: status("1", &yes)}, false},
		{"an allocation that is to stop", restarted, api.Allocation{}, api.Allocation{TaskStates: task(running, "r"), DesiredStatus: api.AllocDesiredStop}, false},
	} {
		for _, a := range []*api.Allocation{&c.was, &c.is} {
			if a.DesiredStatus == "" {
				a.DesiredStatus = api.AllocDesiredRun
			}
			a.ClientStatus, a.Job, a.Group = api.AllocClientRunning, job, "main"
			if c.launches != nil {
				a.Launches = &api.Launches{ID: "1", Tasks: c.launches}
			}
		}
		trigger, needed := NeedsEvaluation(&c.was, &c.is)
		if needed != c.want || needed && trigger != api.TriggerPlanOperation {
			t.Errorf("%s: needs an evaluation: %t (%s), want %t", c.name, needed, trigger, c.want)
		}
	}
}
