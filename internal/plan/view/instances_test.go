// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package view

import (
	"testing"
	"time"

	"github.com/reeve-run/reeve/api"
)

func TestInstancesTellSinceWhenTheyAreAsTheyAre(t *testing.T) {
	at := func(minute int) time.Time { return time.Date(2026, 1, 2, 3, minute, 0, 0, time.UTC) }
	a := &api.Allocation{CreateTime: at(1).UnixNano(), ModifyTime: at(9).UnixNano(), TaskStates: map[string]*api.TaskState{
		"server": {State: api.TaskStateRunning, StartedAt: at(2)},
		"agent":  {State: api.TaskStateRunning, StartedAt: at(3)},
		"backup": {State: api.TaskStateDead, StartedAt: at(7), FinishedAt: at(8)},
	}}
	as := func(status string) *api.Allocation {
		c := a.Copy()
		c.ClientStatus = status
		return c
	}
	for _, c := range []struct {
		name  string
		alloc *api.Allocation
		state string
		want  time.Time
	}{
		{"running, a backup has ended since", as(api.AllocClientRunning), api.InstanceRunning, at(3)},
		{"placed", as(api.AllocClientPending), api.InstanceClaimed, at(1)},
		{"crashed", as(api.AllocClientFailed), api.InstanceCrashed, at(8)},
		{"running, tasks not known", &api.Allocation{ClientStatus: api.AllocClientRunning, CreateTime: at(1).UnixNano()}, api.InstanceRunning, at(1)},
	} {
		if state, since := stateOf(c.alloc, &api.Instance{}, at(10)); state != c.state || !since.Equal(c.want) {
			t.Errorf("%s: %s since %s, want %s since %s", c.name, state, since, c.state, c.want)
		}
	}
}
