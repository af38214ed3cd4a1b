// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package api_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/reeve-run/reeve/api"
)

// planned is a job of two groups with the plans.
func planned(plans ...*api.PlanSpec) *api.Job {
	task := func(name, goal string) *api.Task { return &api.Task{Name: name, Driver: "raw_exec", Goal: goal} }
	return &api.Job{ID: "shop", Type: api.JobTypeService, Plans: plans, Groups: []*api.Group{
		{Name: "web", Count: new(3), Tasks: []*api.Task{task("init", api.GoalOnce), task("server", ""), task("backup", api.GoalFinish)}},
		{Name: "db", Tasks: []*api.Task{task("server", "")}},
	}}
}

func TestPlanProblems(t *testing.T) {
	steps := func(lists ...[]string) (all []*api.StepSpec) {
		for _, tasks := range lists {
			all = append(all, &api.StepSpec{Tasks: tasks})
		}
		return all
	}
	db := &api.PhaseSpec{Name: "db"}
	for name, c := range map[string]struct {
		plans []*api.PlanSpec
		want  []string
	}{
		"nothing declared":  {},
		"a phase per group": {plans: []*api.PlanSpec{{Name: "deploy", Phases: []*api.PhaseSpec{{Name: "web"}, db}}}},
		"no phases":         {plans: []*api.PlanSpec{{Name: "deploy"}, {Name: "update", Strategy: api.StrategyParallel}}},
		"no phases, of a custom plan": {
			plans: []*api.PlanSpec{{Name: "backup"}},
			want:  []string{`plan "backup" has no phase: it needs at least one`},
		},
		"no phases that depend on others": {
			plans: []*api.PlanSpec{{Name: "deploy", Strategy: api.StrategyDependency}},
			want:  []string{`plan "deploy" has no phase that says what it comes after: declare its phases, or use strategy "serial"`},
		},
		"tasks in steps, one only in a custom plan": {plans: []*api.PlanSpec{
			{Name: "deploy", Phases: []*api.PhaseSpec{{Name: "web", Steps: steps([]string{"init"}, []string{"server"})}, db}},
			{Name: "backup", Phases: []*api.PhaseSpec{{Name: "web", Steps: steps([]string{"backup"})}}},
		}},
		"no steps for one instance": {plans: []*api.PlanSpec{{Name: "backup", Phases: []*api.PhaseSpec{{Name: "web", Steps: []*api.StepSpec{
			{Index: new(0), Tasks: []string{"backup"}}, {},
		}}}}}},
		"a task that nothing starts": {
			plans: []*api.PlanSpec{{Name: "deploy", Phases: []*api.PhaseSpec{{Name: "web", Steps: steps([]string{"server"})}, db}}},
			want:  []string{`plan "deploy": task "init" of group "web" is in no step of any plan, and would never be started`, `plan "deploy": task "backup" of group "web" is in no step of any plan, and would never be started`},
		},
		"a group that nothing starts": {
			plans: []*api.PlanSpec{{Name: "deploy", Phases: []*api.PhaseSpec{{Name: "web"}}}},
			want:  []string{`plan "deploy": group "db" is in no phase of it, and would never be started`},
		},
		"a task started twice": {
			plans: []*api.PlanSpec{{Name: "deploy", Phases: []*api.PhaseSpec{{Name: "web"}, db, {Name: "again", Group: "db"}}}},
			want:  []string{`plan "deploy", phase "again": task "server" of group "db" is launched a second time for the same instance: a deploy plan launches each once`},
		},
		"a canary of zero": {
			plans: []*api.PlanSpec{{Name: "sweep", Phases: []*api.PhaseSpec{{Name: "web", Strategy: api.StrategyParallelCanary, Steps: []*api.StepSpec{{}}}}}},
			want:  []string{`plan "sweep", phase "web": strategy parallel-canary: a canary phase needs at least one step, and group "web" has no instance for one`},
		},
		"unknown names": {
			plans: []*api.PlanSpec{{Name: "sweep", Strategy: "random", Phases: []*api.PhaseSpec{{Name: "cache", Strategy: "fast"}, {Name: "web", Steps: steps([]string{"clean"})}}}},
			want: []string{
				`plan "sweep": strategy "random": must be one of serial, parallel, dependency`,
				`plan "sweep", phase "cache": strategy "fast": must be one of serial, parallel, dependency, serial-canary, parallel-canary`,
				`plan "sweep", phase "cache": there is no group "cache"; there are "web", "db"`,
				`plan "sweep", phase "web": there is no task "clean" in group "web"; there are "init", "server", "backup"`,
			},
		},
		"phases that wait for each other": {
			plans: []*api.PlanSpec{{Name: "sweep", Strategy: api.StrategyDependency, Phases: []*api.PhaseSpec{
				{Name: "a", Group: "web", After: []string{"c"}}, {Name: "b", Group: "web", After: []string{"a"}}, {Name: "c", Group: "web", After: []string{"b"}},
			}}},
			want: []string{`plan "sweep": its phases wait for each other: a after c after b after a`},
		},
		"a step after one that is not there": {
			plans: []*api.PlanSpec{{Name: "sweep", Phases: []*api.PhaseSpec{{Name: "db", Strategy: api.StrategyDependency, Steps: []*api.StepSpec{{Tasks: []string{"server"}, After: []string{"init"}}}}}}},
			want:  []string{`plan "sweep", phase "db": step db-0:[server]: after: there is no step "init": name one of the same instance by its name, or any as in "db-0:[server]"`},
		},
	} {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, p := range planned(c.plans...).PlanProblems() {
				got = append(got, p.Text)
				if p.At == nil {
					t.Errorf("%q is nowhere", p.Text)
				}
			}
			if diff := cmp.Diff(strings.Join(c.want, "\n"), strings.Join(got, "\n")); diff != "" {
				t.Errorf("problems (-want +got):\n%s", diff)
			}
		})
	}
}

func TestShares(t *testing.T) {
	for text, want := range map[string]struct{ number, percent, of10 int }{
		"": {0, 0, 1}, "3": {3, 0, 3}, "25%": {0, 25, 3}, "1%": {0, 1, 1}, "100%": {0, 100, 10},
	} {
		number, percent, err := api.ParseShare(text)
		if err != nil || number != want.number || percent != want.percent || api.ShareOf(number, percent, 10) != want.of10 {
			t.Errorf("%q is %d, %d%%, %v, of ten %d; want %+v", text, number, percent, err, api.ShareOf(number, percent, 10), want)
		}
	}
	for _, text := range []string{"0", "-1", "0%", "101%", "many", "2.5"} {
		if _, _, err := api.ParseShare(text); err == nil {
			t.Errorf("%q is taken as a share", text)
		}
	}
}
