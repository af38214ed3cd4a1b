// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package stackplan_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/plan/stackplan"
)

var now = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

const (
	older = "web--1-0-0--aaaaaaaa"
	newer = "web--1-1-0--bbbbbbbb"
)

// life returns a service in a status, with its job, since a minute.
func life(status string, changes ...func(*stackplan.Life)) *stackplan.Life {
	l := &stackplan.Life{
		Stack: &api.Stack{
			ID: "s", Name: newer, Namespace: "default", Unit: "web", Version: api.StackVersion{Major: 1, Minor: 1}, Spec: &api.StackSpec{Version: "1.1.0"},
			Shape: api.ShapeService, Status: status, StatusDescription: "as told", StatusSince: now.Add(-time.Minute), RunningAt: now.Add(-time.Hour), Expires: now.Add(time.Hour),
		},
		Job: &api.Job{ID: newer, Namespace: "default", Version: 3}, IsSilent: func(string) bool { return false }, Now: now,
	}
	for _, change := range changes {
		change(l)
	}
	return l
}

func withoutJob(l *stackplan.Life) { l.Job = nil }
func worker(l *stackplan.Life)     { l.Stack.Shape = api.ShapeWorker }
func neverRan(l *stackplan.Life)   { l.Stack.RunningAt = time.Time{} }
func removing(l *stackplan.Life)   { l.Stack.Removing = true }
func expired(l *stackplan.Life)    { l.Stack.Expires = now }

// shifting gives the stack a linear shift of ten minutes that is at 25 %.
func shifting(status string, changes ...func(*api.Shift)) func(*stackplan.Life) {
	return func(l *stackplan.Life) {
		l.Shift = &api.Shift{
			ID: "sh", Namespace: "default", Unit: "web", Major: 1, From: older, To: newer, Spec: api.ShiftSpec{Policy: api.ShiftLinear, Over: 10 * time.Minute},
			Status: status, Share: 0.25, Elapsed: 150 * time.Second, StartedAt: now.Add(-3 * time.Minute), AdvancedAt: now,
		}
		for _, change := range changes {
			change(l.Shift)
		}
	}
}

func plan(name string) *api.Plan { return &api.Plan{Name: name, Namespace: "default", JobID: newer} }

func TestPlansFollowTheStatusOfTheStack(t *testing.T) {
	deploy, restart, uninstall := plan(api.PlanDeploy), plan("restart"), plan(api.PlanUninstall)
	for name, c := range map[string]struct {
		life  *stackplan.Life
		ofJob []*api.Plan
		want  string
	}{
		"pending":                      {life(api.StackPending, withoutJob), []*api.Plan{deploy}, "deploy warming"},
		"pending without plans":        {life(api.StackPending, withoutJob), nil, "warming"},
		"deploying, with a restart":    {life(api.StackDeploying), []*api.Plan{restart, deploy}, "restart deploy warming"},
		"a worker does not warm":       {life(api.StackDeploying, worker), []*api.Plan{deploy}, "deploy"},
		"warming":                      {life(api.StackWarming), []*api.Plan{deploy}, "deploy warming"},
		"ready without a shift":        {life(api.StackReady), []*api.Plan{deploy}, "deploy"},
		"ready with a shift":           {life(api.StackReady, shifting(api.ShiftRunning)), []*api.Plan{deploy}, "deploy shift"},
		"warming with an older shift":  {life(api.StackWarming, shifting(api.ShiftReversed)), []*api.Plan{deploy}, "deploy warming"},
		"garbage with an older shift":  {life(api.StackGarbage, shifting(api.ShiftComplete)), []*api.Plan{deploy}, "deploy uninstall"},
		"garbage":                      {life(api.StackGarbage), []*api.Plan{deploy}, "deploy uninstall"},
		"garbage, the job is purged":   {life(api.StackGarbage), []*api.Plan{uninstall}, "uninstall"},
		"garbage whose job is removed": {life(api.StackGarbage, withoutJob), nil, ""},
		"failed while it warmed":       {life(api.StackFailed), []*api.Plan{deploy}, "deploy warming uninstall"},
		"failed before it warmed":      {life(api.StackFailed, neverRan), []*api.Plan{deploy}, "deploy uninstall"},
		"terminated":                   {life(api.StackTerminated, withoutJob), nil, ""},
		"ready, the job is purged":     {life(api.StackReady), []*api.Plan{uninstall}, "uninstall"},
	} {
		var got []string
		for _, p := range c.life.Plans(c.ofJob) {
			got = append(got, p.Name)
		}
		if text := strings.Join(got, " "); text != c.want {
			t.Errorf("%s: plans %q, want %q", name, text, c.want)
		}
	}
}

func TestTheGraceIsAPhaseOfTheJobsUninstall(t *testing.T) {
	for name, c := range map[string]struct {
		status string
		plan   api.Plan
		want   api.Plan
	}{
		"garbage": {
			api.StackGarbage, api.Plan{Status: api.PlanPending, Total: 3, Phases: []*api.Phase{{Name: "kill"}}},
			api.Plan{Status: api.PlanInProgress, Completed: 1, Total: 4, Phases: []*api.Phase{{Name: "grace"}, {Name: "kill"}}},
		},
		"failed": {
			api.StackFailed, api.Plan{Status: api.PlanWaiting, Completed: 1, Total: 3, Phases: []*api.Phase{{Name: "kill"}}},
			api.Plan{Status: api.PlanWaiting, Completed: 2, Total: 4, Phases: []*api.Phase{{Name: "grace"}, {Name: "kill"}}},
		},
		"terminated": {
			api.StackTerminated, api.Plan{Status: api.PlanComplete, Completed: 3, Total: 3, Phases: []*api.Phase{{Name: "kill"}}},
			api.Plan{Status: api.PlanComplete, Completed: 4, Total: 4, Phases: []*api.Phase{{Name: "grace"}, {Name: "kill"}}},
		},
		"in a list": {api.StackGarbage, api.Plan{Status: api.PlanStarted, Total: 3}, api.Plan{Status: api.PlanInProgress, Completed: 1, Total: 4}},
		"an operator purged the job": {
			api.StackReady, api.Plan{Status: api.PlanPending, Total: 3, Phases: []*api.Phase{{Name: "kill"}}},
			api.Plan{Status: api.PlanPending, Total: 3, Phases: []*api.Phase{{Name: "kill"}}},
		},
	} {
		p := c.plan
		p.Name = api.PlanUninstall
		all := life(c.status).Plans([]*api.Plan{&p})
		got := all[len(all)-1]
		short := api.Plan{Status: got.Status, Completed: got.Completed, Total: got.Total}
		for _, ph := range got.Phases {
			short.Phases = append(short.Phases, &api.Phase{Name: ph.Name})
		}
		if diff := cmp.Diff(c.want, short); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

func TestAListShowsTheFirstMessageOfAStepThatIsNotComplete(t *testing.T) {
	full := life(api.StackReady, shifting(api.ShiftPaused, func(s *api.Shift) { s.Reason = "paused by ann: lunch" })).Plans(nil)[0]
	full.Message = ""
	short := stackplan.WithoutPhases(full)
	if short.Message != "paused by ann: lunch" || short.Phases != nil || len(full.Phases) != 1 || short.Total != full.Total {
		t.Errorf("message %q, %d phases, %d steps; the plan has %d phases", short.Message, len(short.Phases), short.Total, len(full.Phases))
	}
}

func TestAPendingStackHasStartedNoStep(t *testing.T) {
	for _, status := range []string{api.StackPending, api.StackFailed} {
		l := life(status, withoutJob)
		p := &api.Plan{
			Name: api.PlanDeploy, Status: api.PlanInProgress, Completed: 1,
			Phases: []*api.Phase{{Name: "api", Status: api.PlanStarted, Message: "x", Completed: 1, Steps: []*api.Step{{Name: "api-0", Status: api.PlanComplete, Message: "y"}}}},
		}
		l.Pending(p)
		want, errs := api.PlanPending, []string(nil)
		if status == api.StackFailed {
			want, errs = api.PlanError, []string{"as told"}
		}
		step := p.Phases[0].Steps[0]
		if p.Status != want || !slices.Equal(p.Errors, errs) || p.Completed != 0 || p.Message != "as told" || p.Phases[0].Status != api.PlanPending ||
			p.Phases[0].Completed != 0 || step.Status != api.PlanPending || step.Message != "" {
			t.Errorf("%s: plan %+v, phase %+v, step %+v", status, p, p.Phases[0], step)
		}
	}
}

func TestIdsOfPlansAreThoseOfTheirNames(t *testing.T) {
	ids := make(map[string]string)
	note := func(id, what string) {
		if other, seen := ids[id]; seen || id == "" {
			t.Errorf("%s and %s have the id %q", other, what, id)
		}
		ids[id] = what
	}
	for _, l := range []*stackplan.Life{life(api.StackWarming), life(api.StackReady, shifting(api.ShiftReversing)), life(api.StackGarbage)} {
		for i, p := range l.Plans(nil) {
			if again := l.Plans(nil)[i]; again.ID != p.ID {
				t.Errorf("plan %s has the id %s, and then %s", p.Name, p.ID, again.ID)
			}
			note(p.ID, p.Name)
			for _, ph := range p.Phases {
				note(ph.ID, p.Name+" "+ph.Name)
				for _, st := range ph.Steps {
					note(st.ID, p.Name+" "+ph.Name+" "+st.Name)
				}
			}
		}
	}
}
