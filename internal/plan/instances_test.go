// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package plan

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
	for _, c := range []struct {
		name  string
		in    instance
		state string
		want  time.Time
	}{
		{"running, a backup has ended since", instance{alloc: a}, api.InstanceRunning, at(3)},
		{"placed", instance{alloc: a}, api.InstanceClaimed, at(1)},
		{"crashed", instance{alloc: a}, api.InstanceCrashed, at(8)},
		{"stopped, and not placed again", instance{last: a}, api.InstanceUnclaimed, at(9)},
		{"running, tasks not known", instance{alloc: &api.Allocation{ModifyTime: at(9).UnixNano()}}, api.InstanceRunning, at(9)},
		{"never placed", instance{}, api.InstanceUnclaimed, time.Time{}},
	} {
		if got := c.in.since(c.state); !got.Equal(c.want) {
			t.Errorf("%s: since %s, want %s", c.name, got, c.want)
		}
	}
}

func TestStepsOfParallelPhasesComeAfterTheirInstancesOnly(t *testing.T) {
	g := &group{name: "db"}
	one, two := &instance{group: g}, &instance{group: g, index: 1}
	steps := func() []step {
		return []step{
			{on: one, tasks: []string{"dump"}, status: Pending}, {on: one, tasks: []string{"send"}, status: Pending},
			{on: two, tasks: []string{"dump"}, status: Pending}, {on: two, tasks: []string{"send"}, status: Pending},
		}
	}
	for _, c := range []struct {
		strategy string
		want     []string
	}{
		{api.StrategySerial, []string{"", "comes after db-0:[dump]", "comes after db-0:[dump]", "comes after db-0:[dump]"}},
		{api.StrategyParallel, []string{"", "comes after db-0:[dump]", "", "comes after db-1:[dump]"}},
	} {
		p := &phase{strategy: c.strategy, open: true, steps: steps()}
		for i, want := range c.want {
			if got := p.queue(&tree{}, &p.steps[i], p.ahead(i, &p.steps[0])); got != want {
				t.Errorf("%s, step %d: %q, want %q", c.strategy, i, got, want)
			}
		}
	}
}

func TestStepsTellSinceWhenTheirAllocationIsToldToStop(t *testing.T) {
	placed, told := time.Unix(1, 0), time.Unix(9, 0)
	a := &api.Allocation{CreateTime: placed.UnixNano(), ModifyTime: told.UnixNano()}
	st := step{on: &instance{alloc: a}, status: Starting}
	if got := st.since(); !got.Equal(placed) {
		t.Errorf("being placed since %s, want %s", got, placed)
	}
	a.DesiredStatus = api.AllocDesiredStop
	if got := st.since(); !got.Equal(told) {
		t.Errorf("being stopped since %s, want %s", got, told)
	}
}
