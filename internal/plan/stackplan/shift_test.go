// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package stackplan_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/plan/stackplan"
)

// describe writes a plan in lines: its status, and each step that is neither pending nor complete.
func describe(p *api.Plan) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %d/%d", p.Status, p.Completed, p.Total)
	for _, ph := range p.Phases {
		fmt.Fprintf(&b, "\n%s %s", ph.Name, ph.Status)
		for _, st := range ph.Steps {
			if st.Status != api.PlanComplete && (st.Status != api.PlanPending || !strings.HasPrefix(st.Message, "comes after")) {
				fmt.Fprintf(&b, "\n  %s %s: %s", st.Name, st.Status, st.Message)
			}
		}
	}
	return b.String()
}

func TestAShiftIsAPlan(t *testing.T) {
	half := 0.5
	reason := func(text string) func(*api.Shift) { return func(s *api.Shift) { s.Reason = text } }
	share := func(share float64) func(*api.Shift) { return func(s *api.Shift) { s.Share = share } }
	steps := func(s *api.Shift) {
		s.Spec = api.ShiftSpec{Policy: api.ShiftSteps}
		s.Steps = []api.ShiftStep{{Share: &half}, {Pause: 5 * time.Minute}, {Wait: true}}
		s.Share, s.Step, s.StepFor, s.Elapsed = 0.5, 1, time.Minute, 2*time.Minute
	}
	for name, c := range map[string]struct {
		status  string
		changes []func(*api.Shift)
		want    string
	}{
		"running":          {api.ShiftRunning, nil, "IN_PROGRESS 2/10\ntraffic IN_PROGRESS\n  30% STARTED: 25 % of the traffic; 30 % at 12:00:30"},
		"at its beginning": {api.ShiftRunning, []func(*api.Shift){share(0), func(s *api.Shift) { s.Elapsed = 0 }}, "IN_PROGRESS 0/10\ntraffic IN_PROGRESS\n  10% STARTED: 0 % of the traffic; 10 % at 12:01:00"},
		"just before its end": {api.ShiftRunning, []func(*api.Shift){share(0.9999), func(s *api.Shift) { s.Elapsed = 10*time.Minute - time.Second }},
			"IN_PROGRESS 9/10\ntraffic IN_PROGRESS\n  100% STARTED: 99.99 % of the traffic; 100 % at 12:00:01"},
		"held": {api.ShiftRunning, []func(*api.Shift){func(s *api.Shift) { s.Held, s.Inconclusive = true, 3 }},
			"IN_PROGRESS 2/10\ntraffic IN_PROGRESS\n  30% STARTED: 25 % of the traffic; the share stands still: no instance of " + newer + " takes requests"},
		"inconclusive": {api.ShiftRunning, []func(*api.Shift){func(s *api.Shift) { s.Inconclusive = 3 }},
			"IN_PROGRESS 2/10\ntraffic IN_PROGRESS\n  30% STARTED: 25 % of the traffic; the share stands still: the checks were inconclusive for 3 of 10 intervals"},
		"resumed although inconclusive": {api.ShiftRunning, []func(*api.Shift){func(s *api.Shift) { s.Inconclusive = -1 }},
			"IN_PROGRESS 2/10\ntraffic IN_PROGRESS\n  30% STARTED: 25 % of the traffic; 30 % at 12:00:30"},
		"failures": {api.ShiftRunning, []func(*api.Shift){func(s *api.Shift) { s.Failures, s.Spec.Failures = map[string]int{"slow": 1, "errors": 2}, 3 }},
			"IN_PROGRESS 2/10\ntraffic IN_PROGRESS\n  30% STARTED: 25 % of the traffic; 30 % at 12:00:30; check errors has failed 2 of 3 times; check slow has failed 1 of 3 times"},
		"paused":   {api.ShiftPaused, []func(*api.Shift){reason("paused by ann")}, "WAITING 2/10\ntraffic WAITING\n  30% WAITING: paused by ann"},
		"complete": {api.ShiftComplete, []func(*api.Shift){share(1)}, "COMPLETE 10/10\ntraffic COMPLETE"},
		"reversing": {api.ShiftReversing, []func(*api.Shift){reason("5xx"), share(0.1), func(s *api.Shift) {
			s.ReverseFrom, s.ReverseOver, s.Elapsed = 0.25, time.Minute, 20*time.Second
		}}, "IN_PROGRESS 2/11\ntraffic PENDING\n  30% PENDING: not reached: 5xx\nreverse STARTED\n  0% STARTED: 10 % of the traffic; 0 % at 12:00:40"},
		"reversed": {api.ShiftReversed, []func(*api.Shift){reason("reversed: 5xx"), share(0), func(s *api.Shift) { s.ReverseFrom = 0.25 }},
			"ERROR 3/11\ntraffic ERROR\n  30% ERROR: reversed: 5xx; all traffic is on " + older + "\nreverse COMPLETE"},
		"superseded": {api.ShiftSuperseded, []func(*api.Shift){reason("superseded by ann"), share(0)},
			"ERROR 1/11\ntraffic ERROR\n  10% ERROR: superseded by ann; all traffic is on " + older + "\nreverse COMPLETE"},
		"atomic": {api.ShiftRunning, []func(*api.Shift){share(0), func(s *api.Shift) { s.Spec.Policy = api.ShiftAtomic }},
			"IN_PROGRESS 0/1\ntraffic IN_PROGRESS\n  100% STARTED: 0 % of the traffic; continues at 12:07:30"},
		"a pause":          {api.ShiftRunning, []func(*api.Shift){steps}, "IN_PROGRESS 1/4\ntraffic IN_PROGRESS\n  5m at 50% STARTED: 50 % of the traffic; continues at 12:04:00"},
		"a share of steps": {api.ShiftRunning, []func(*api.Shift){steps, func(s *api.Shift) { s.Step = 3 }}, "IN_PROGRESS 3/4\ntraffic IN_PROGRESS\n  100% STARTED: 50 % of the traffic"},
		"a wait": {api.ShiftWaiting, []func(*api.Shift){steps, reason("waits"), func(s *api.Shift) { s.Step, s.StepFor = 3, s.Elapsed }},
			"WAITING 2/4\ntraffic WAITING\n  wait at 50% WAITING: waits"},
	} {
		p := life(api.StackReady, shifting(c.status, c.changes...)).Plans(nil)[0]
		if diff := cmp.Diff(c.want, describe(p)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
		if p.Run != "sh" || p.JobVersion != 3 || p.Interrupted != (c.status == api.ShiftPaused) {
			t.Errorf("%s: run %q of version %d, interrupted: %v", name, p.Run, p.JobVersion, p.Interrupted)
		}
	}
}

func TestOnlyDecisionsAboutThisShiftAreShown(t *testing.T) {
	l := life(api.StackReady, shifting(api.ShiftRunning))
	force := func(plan, run, phase, step string) *api.Decision {
		return &api.Decision{ID: run + phase + step, Verb: api.VerbForceComplete, Plan: plan, Run: run, Phase: phase, Step: step}
	}
	l.Decisions = []*api.Decision{
		force(api.PlanShift, "an older shift", "traffic", "20%"), force(api.PlanDeploy, "sh", "traffic", "20%"), force(api.PlanShift, "sh", "traffic", "10%"),
		force(api.PlanShift, "sh", "reverse", ""),
	}
	p := l.Plans(nil)[0]
	if len(p.Decisions) != 2 {
		t.Errorf("%d decisions, want the two about this shift", len(p.Decisions))
	}
	for i, st := range p.Phases[0].Steps {
		if forced := st.Forced != nil; forced != (i == 0) {
			t.Errorf("step %s is forced: %v", st.Name, forced)
		}
	}
	// The whole plan was completed: its last step shows by whom.
	l = life(api.StackReady, shifting(api.ShiftComplete, func(s *api.Shift) { s.Share = 1 }))
	l.Decisions = []*api.Decision{force(api.PlanShift, "sh", "", "")}
	steps := l.Plans(nil)[0].Phases[0].Steps
	if steps[8].Forced != nil || steps[9].Forced == nil {
		t.Errorf("90%% is forced: %v; 100%%: %v, want the last step alone", steps[8].Forced, steps[9].Forced)
	}
}

func TestWarmingNamesWhatItWaitsFor(t *testing.T) {
	alloc := func(routable bool) *api.Allocation {
		return &api.Allocation{DesiredStatus: api.AllocDesiredRun, ClientStatus: api.AllocClientRunning, Serving: &api.Serving{Routable: routable}}
	}
	stopped := alloc(false)
	stopped.DesiredStatus = api.AllocDesiredStop
	for name, c := range map[string]struct {
		allocs []*api.Allocation
		reason api.Reason
		text   string
		want   string
	}{
		"no instance":     {nil, api.ReasonStackWaitsHealth, "", "STARTED 0/2\nwarming STARTED\n  healthy STARTED: 0 of 0 instances take requests; the stack fails at 13:00:00 unless most of them do"},
		"half":            {[]*api.Allocation{alloc(true), alloc(false)}, api.ReasonStackWaitsHealth, "", "STARTED 0/2\nwarming STARTED\n  healthy STARTED: 1 of 2 instances take requests; the stack fails at 13:00:00 unless most of them do"},
		"most":            {[]*api.Allocation{alloc(true), alloc(true), alloc(false)}, api.ReasonStackDeployed, "", "IN_PROGRESS 1/2\nwarming IN_PROGRESS\n  turn STARTED: "},
		"stopped is none": {[]*api.Allocation{alloc(true), stopped}, api.ReasonStackWaitsShift, "waits for the end of shift sh1", "IN_PROGRESS 1/2\nwarming IN_PROGRESS\n  turn STARTED: waits for the end of shift sh1"},
	} {
		l := life(api.StackWarming, func(l *stackplan.Life) {
			l.Allocations, l.Stack.StatusReason, l.Stack.StatusDescription = c.allocs, c.reason, c.text
		})
		if diff := cmp.Diff(c.want, describe(l.Plans(nil)[0])); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
	failed := life(api.StackFailed).Plans(nil)[0]
	if failed.Status != api.PlanError || len(failed.Errors) != 1 || failed.Errors[0] != "healthy: as told" {
		t.Errorf("a stack that failed while it warmed: %s %v", failed.Status, failed.Errors)
	}
}
