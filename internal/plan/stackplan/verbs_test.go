// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package stackplan_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/plan/stackplan"
)

// decide returns the outcome of a verb on a plan of a stack in words: the state of the shift or stack
// after it, or the error.
func decide(t *testing.T, l *stackplan.Life, name string, verb api.Verb, req *api.PlanRequest) string {
	t.Helper()
	all := l.Plans(nil)
	i := slices.IndexFunc(all, func(p *api.Plan) bool { return p.Name == name })
	if i < 0 {
		t.Fatalf("the stack has no plan %q", name)
	}
	c, err := l.Decide(all[i], verb, req)
	switch {
	case err != nil:
		return string(api.CodeOf(err)) + ": " + err.Error()
	case c.Decision == nil || c.Decision.Verb != verb || c.Decision.Plan != name:
		t.Errorf("decision %+v", c.Decision)
	case c.Shift != nil:
		return fmt.Sprintf("%s at %v, %s", c.Shift.Status, c.Shift.Share, c.Shift.Reason)
	case c.Stack != nil:
		return fmt.Sprintf("%s, held %v, removing %v", c.Stack.Status, c.Stack.Hold != nil, c.Stack.Removing)
	}
	return "nothing"
}

func TestVerbsOfAShift(t *testing.T) {
	half := 0.5
	steps := func(s *api.Shift) {
		s.Spec = api.ShiftSpec{Policy: api.ShiftSteps}
		s.Steps = []api.ShiftStep{{Share: &half}, {Pause: 5 * time.Minute}, {Wait: true}}
		s.Share, s.Step = 0.5, 1
	}
	ann := func(phase, step string) *api.PlanRequest {
		return &api.PlanRequest{By: "ann", Reason: "lunch", Phase: phase, Step: step}
	}
	for name, c := range map[string]struct {
		status string
		change func(*api.Shift)
		verb   api.Verb
		req    *api.PlanRequest
		want   string
	}{
		"nobody is named":              {api.ShiftRunning, nil, api.VerbInterrupt, nil, "paused at 0.25, paused by unknown"},
		"interrupt":                    {api.ShiftRunning, nil, api.VerbInterrupt, ann("", ""), "paused at 0.25, paused by ann: lunch"},
		"interrupt the phase":          {api.ShiftRunning, nil, api.VerbInterrupt, ann("traffic", ""), "paused at 0.25, paused by ann: lunch"},
		"interrupt the current step":   {api.ShiftRunning, nil, api.VerbInterrupt, ann("", "30%"), "paused at 0.25, paused by ann: lunch"},
		"interrupt a later step":       {api.ShiftRunning, nil, api.VerbInterrupt, ann("", "40%"), "has not started: only force-complete"},
		"interrupt a complete step":    {api.ShiftRunning, nil, api.VerbInterrupt, ann("", "20%"), "it is complete; only stop"},
		"force a complete step":        {api.ShiftRunning, nil, api.VerbForceComplete, ann("", "20%"), "it is complete; only stop"},
		"interrupt twice":              {api.ShiftPaused, nil, api.VerbInterrupt, ann("", ""), `cannot interrupt plan "shift", which is WAITING: possible: continue, force-complete, stop`},
		"continue what runs":           {api.ShiftRunning, nil, api.VerbContinue, ann("", ""), "possible: interrupt, force-complete, stop"},
		"continue":                     {api.ShiftWaiting, nil, api.VerbContinue, ann("", ""), "running at 0.25, "},
		"restart a share":              {api.ShiftRunning, nil, api.VerbRestart, ann("", "30%"), "only the pause in progress can start again"},
		"restart a pause":              {api.ShiftRunning, steps, api.VerbRestart, ann("", "5m at 50%"), "running at 0.5, "},
		"restart the plan":             {api.ShiftRunning, steps, api.VerbRestart, ann("", ""), "possible: interrupt, force-complete, stop"},
		"force a later step":           {api.ShiftRunning, nil, api.VerbForceComplete, ann("traffic", "60%"), "running at 0.6, "},
		"force the last step":          {api.ShiftRunning, nil, api.VerbForceComplete, ann("", "100%"), "complete at 1, finished by ann: lunch"},
		"force a pause while paused":   {api.ShiftPaused, steps, api.VerbForceComplete, ann("", "5m at 50%"), "paused at 0.5, "},
		"force the plan":               {api.ShiftPaused, nil, api.VerbForceComplete, ann("", ""), "complete at 1, finished by ann: lunch"},
		"stop":                         {api.ShiftRunning, nil, api.VerbStop, ann("", ""), "reversing at 0.25, reversed by ann: lunch"},
		"stop a phase":                 {api.ShiftRunning, nil, api.VerbStop, ann("traffic", ""), "stop reverses the whole shift: name no phase or step"},
		"stop the current step":        {api.ShiftRunning, nil, api.VerbStop, ann("", "30%"), "stop reverses the whole shift: name no phase or step"},
		"stop a reversal":              {api.ShiftReversing, nil, api.VerbStop, ann("", ""), "possible: force-complete of phase reverse"},
		"force a reversal":             {api.ShiftReversing, nil, api.VerbForceComplete, ann("reverse", ""), "reversed at 0, "},
		"force the step of a reversal": {api.ShiftReversing, nil, api.VerbForceComplete, ann("", "0%"), "reversed at 0, "},
		"interrupt a reversal":         {api.ShiftReversing, nil, api.VerbInterrupt, ann("reverse", ""), "possible: force-complete of phase reverse"},
		"force an old reversal":        {api.ShiftReversed, nil, api.VerbForceComplete, ann("reverse", ""), "reeve stack shift -to " + newer + " web, which begins another shift"},
		"stop what is complete":        {api.ShiftComplete, func(s *api.Shift) { s.Share = 1 }, api.VerbStop, ann("", ""), "reeve stack shift -to STACK web, which begins another shift"},
		"a phase that is not there":    {api.ShiftRunning, nil, api.VerbInterrupt, ann("reverse", ""), `not_found: plan "shift" has no phase "reverse"; there are`},
		"a step that is not there":     {api.ShiftRunning, nil, api.VerbInterrupt, ann("", "35%"), `not_found: plan "shift" has no step "35%"; there are`},
		"a step of another phase":      {api.ShiftReversing, nil, api.VerbForceComplete, ann("traffic", "0%"), `has no step "0%"`},
		"parameters":                   {api.ShiftRunning, nil, api.VerbStop, &api.PlanRequest{Parameters: map[string]string{"a": "b"}}, `plan "shift" of a stack takes no parameters`},
		"an unknown verb":              {api.ShiftRunning, nil, "explode", ann("", ""), "cannot explode plan"},
	} {
		l := life(api.StackReady, shifting(c.status))
		if c.change != nil {
			c.change(l.Shift)
		}
		before := *l.Shift
		if got := decide(t, l, api.PlanShift, c.verb, c.req); !strings.Contains(got, c.want) {
			t.Errorf("%s: %q, want %q in it", name, got, c.want)
		}
		if l.Shift.Status != before.Status || l.Shift.Share != before.Share || l.Shift.Step != before.Step {
			t.Errorf("%s: the stored shift is changed", name)
		}
	}
}

func TestPhasesAndStepsAreFoundByTheirIDs(t *testing.T) {
	l := life(api.StackReady, shifting(api.ShiftRunning))
	ph := l.Plans(nil)[0].Phases[0]
	if got := decide(t, l, api.PlanShift, api.VerbForceComplete, &api.PlanRequest{Phase: ph.ID, Step: ph.Steps[4].ID}); !strings.HasPrefix(got, "running at 0.5") {
		t.Errorf("by the ids of step 50%%: %s", got)
	}
}

func TestAnErrorListsABoundedNumberOfNames(t *testing.T) {
	l := life(api.StackReady, shifting(api.ShiftRunning, func(s *api.Shift) {
		s.Spec = api.ShiftSpec{Policy: api.ShiftSteps}
		for range 200 {
			s.Steps = append(s.Steps, api.ShiftStep{Pause: time.Minute})
		}
	}))
	_, err := l.Decide(l.Plans(nil)[0], api.VerbInterrupt, &api.PlanRequest{Step: "none"})
	e, ok := err.(*api.Error)
	if !ok || len(e.Detail) != 21 || e.Detail[0] != "traffic: 1m at 0%" || e.Detail[1] != "traffic: 1m at 0% #2" || e.Detail[20] != "and more" {
		t.Errorf("%v", err)
	}
}

func TestPlansThatOnlyFollowTheStackRefuseVerbs(t *testing.T) {
	for _, verb := range []api.Verb{api.VerbInterrupt, api.VerbContinue, api.VerbForceComplete, api.VerbStop, api.VerbRestart} {
		got := decide(t, life(api.StackWarming), api.PlanWarming, verb, nil)
		if want := "cannot " + string(verb) + ` plan "warming", which is STARTED: it follows the health`; !strings.Contains(got, want) {
			t.Errorf("%s on warming: %q, want %q in it", verb, got, want)
		}
		l := life(api.StackPending, withoutJob)
		if _, err := l.Decide(plan(api.PlanDeploy), verb, nil); err == nil || !strings.Contains(err.Error(), "the stack's job is not registered yet") {
			t.Errorf("%s on the deployment of a pending stack: %v", verb, err)
		}
	}
}

func TestDecisionsAtOneTimeHaveTheirOwnIDs(t *testing.T) {
	l := life(api.StackReady, shifting(api.ShiftRunning))
	ids := make(map[string]bool)
	for range 3 {
		c, err := l.Decide(l.Plans(nil)[0], api.VerbInterrupt, nil)
		if err != nil || ids[c.Decision.ID] {
			t.Fatalf("decision %+v, %v", c, err)
		}
		ids[c.Decision.ID] = true
		l.Decisions = append(l.Decisions, c.Decision)
	}
}
