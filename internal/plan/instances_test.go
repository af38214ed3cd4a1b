// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"errors"
	"slices"
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
			if got := p.queueReason(&tree{}, &p.steps[i], p.ahead(i, &p.steps[0])); got != want {
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

func TestInstancesOnNodesOfOneShortNameAreToldApart(t *testing.T) {
	g := &group{name: "log", instances: []instance{{node: "0a1b2c3d-one"}, {node: "0a1b2c3d-two"}, {node: "9f9f9f9f-three"}}}
	s := &facts{groups: []*group{g}}
	for name, want := range map[string]*instance{
		"log@0a1b2c3d-two": &g.instances[1], "log@9f9f9f9f": &g.instances[2], "log@9f9f9f9f-three": &g.instances[2],
	} {
		if got, err := findInstance(s, name); got != want || err != nil {
			t.Errorf("%s: %v, %v; want that on %s", name, got, err, want.node)
		}
	}
	_, err := findInstance(s, "log@0a1b2c3d")
	var e *api.Error
	if want := []string{"log@0a1b2c3d-one", "log@0a1b2c3d-two"}; !errors.As(err, &e) || e.Code != api.CodeInvalid || !slices.Equal(e.Detail, want) {
		t.Errorf("a short name that fits two nodes: %v, want an error that lists %q", err, want)
	}
}

func TestPhasesOfNodesOfOneNameAreToldApart(t *testing.T) {
	one, two := &api.Node{ID: "one", Name: "n"}, &api.Node{ID: "two", Name: "n"}
	tr := &tree{name: api.PlanDrain, phases: []*phase{{name: "n@one", node: one}, {name: "n@two", node: two}}}
	c := &decisionTarget{view: &View{plans: &plans{facts: &facts{}}}, tree: tr, req: &api.PlanRequest{Phase: "n@two"}}
	if err := c.findPhase(); err != nil || c.phase != tr.phases[1] {
		t.Errorf("the full name: %v, %v", c.phase, err)
	}
	c.req.Phase = "n"
	var e *api.Error
	if err := c.findPhase(); !errors.As(err, &e) || len(e.Detail) != 2 {
		t.Errorf("a name that two nodes have: %v, want an error that lists both", err)
	}
}
