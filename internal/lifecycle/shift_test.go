// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package lifecycle_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/lifecycle"
)

var routable = lifecycle.Observation{ToRoutable: true}

// newShift returns a shift from inventory 1.0.0 to 1.1.0 at its beginning.
func newShift(t testing.TB, spec *api.ShiftSpec) *api.Shift {
	f := newFleet(t)
	return lifecycle.NewShift("id", f.stack("inventory 1.0.0"), f.stack("inventory 1.1.0"), spec, "", start)
}

// advance advances a shift in steps of 5 s for a time. The observation may depend on the time.
func advance(s *api.Shift, from time.Time, d time.Duration, o func(time.Time) lifecycle.Observation) (*api.Shift, time.Time) {
	now := from
	for now.Before(from.Add(d)) {
		now = now.Add(5 * time.Second)
		s, _ = lifecycle.Advance(s, o(now), now)
	}
	return s, now
}

func always(time.Time) lifecycle.Observation { return routable }

// checked observes an outcome of the check "errors" every 30 s.
func checked(outcome lifecycle.Outcome, text string) func(time.Time) lifecycle.Observation {
	return func(now time.Time) lifecycle.Observation {
		o := routable
		if now.Sub(start)%(30*time.Second) == 0 {
			o.Checks = map[string]lifecycle.CheckResult{"errors": {Outcome: outcome, Text: text}}
		}
		return o
	}
}

var errorCheck = []*api.ShiftCheck{{Name: "errors", Metric: api.MetricErrors, Max: "1%"}}

func TestALinearShiftIsHalfWayAtHalfTime(t *testing.T) {
	s, now := advance(newShift(t, nil), start, 10*time.Minute, always)
	if s.Share < 0.49 || s.Share > 0.51 {
		t.Errorf("share %v at half time, want 0.5 within one step", s.Share)
	}
	s, _ = advance(s, now, 10*time.Minute, always)
	if s.Status != api.ShiftComplete || s.Share != 1 {
		t.Errorf("%s with share %v at the end, want complete with 1", s.Status, s.Share)
	}
}

func TestAnAtomicShiftSwitchesAtItsEnd(t *testing.T) {
	s, now := advance(newShift(t, &api.ShiftSpec{Policy: api.ShiftAtomic, Over: time.Minute}), start, 55*time.Second, always)
	if s.Share != 0 {
		t.Errorf("share %v before the end, want 0", s.Share)
	}
	if s, _ = advance(s, now, 5*time.Second, always); s.Share != 1 || s.Status != api.ShiftComplete {
		t.Errorf("%s with share %v at the end, want complete with 1", s.Status, s.Share)
	}
}

func TestStepsWaitForTimeAndForAnOperator(t *testing.T) {
	s := newShift(t, &api.ShiftSpec{Policy: api.ShiftSteps, Steps: []string{"5%", "1m", "25%", "wait", "50%", "1m"}})
	s, now := advance(s, start, 55*time.Second, always)
	if s.Share != 0.05 {
		t.Errorf("share %v in the first pause, want 0.05", s.Share)
	}
	s, now = advance(s, now, time.Hour, always)
	if s.Share != 0.25 || s.Status != api.ShiftWaiting || !strings.Contains(s.Reason, "reeve stack shift inventory resume") {
		t.Errorf("%s (%s) with share %v, want waiting with 0.25 and the command", s.Status, s.Reason, s.Share)
	}
	s, err := lifecycle.Resume(s, now)
	if err != nil {
		t.Fatal(err)
	}
	if s, now = advance(s, now, 30*time.Second, always); s.Share != 0.5 {
		t.Errorf("share %v after the operator continued, want 0.5", s.Share)
	}
	if s, _ = advance(s, now, time.Minute, always); s.Status != api.ShiftComplete {
		t.Errorf("%s after the last pause, want complete", s.Status)
	}
}

func TestAFailingCheckReversesAShift(t *testing.T) {
	s, now := advance(newShift(t, &api.ShiftSpec{Checks: errorCheck}), start, 5*time.Minute, checked(lifecycle.Passed, ""))
	s, now = advance(s, now, time.Minute, checked(lifecycle.Failed, "5xx 3.1 % against 0.2 %"))
	if s.Status != api.ShiftReversing || !strings.Contains(s.Reason, "5xx 3.1 % against 0.2 %") {
		t.Fatalf("%s (%s), want reversing with the figures", s.Status, s.Reason)
	}
	s, _ = advance(s, now, 3*time.Minute, always)
	if s.Status != api.ShiftReversed || s.Share != 0 {
		t.Errorf("%s with share %v, want reversed with 0 within half of the time", s.Status, s.Share)
	}
}

func TestASecondCrashReversesAShift(t *testing.T) {
	s, now := advance(newShift(t, nil), start, 2*time.Minute, always)
	crash := routable
	crash.ToCrashed = true
	s, _ = lifecycle.Advance(s, crash, now.Add(5*time.Second))
	if s.Status != api.ShiftRunning || !s.CheckedAt.Equal(now.Add(5*time.Second)) {
		t.Fatalf("%s, checked at %s: want that one crash counts once and does not reverse", s.Status, s.CheckedAt)
	}
	s, _ = lifecycle.Advance(s, crash, now.Add(10*time.Second))
	if s.Status != api.ShiftReversing || !strings.Contains(s.Reason, s.To+" crashed") {
		t.Errorf("%s (%s), want reversing because of the crash", s.Status, s.Reason)
	}
}

// TestAResumedShiftGoesOnForAnInterval has checks that are inconclusive in each step.
func TestAResumedShiftGoesOnForAnInterval(t *testing.T) {
	unclear := func(time.Time) lifecycle.Observation {
		o := routable
		o.Checks = map[string]lifecycle.CheckResult{"errors": {Text: "too few requests"}}
		return o
	}
	s, now := advance(newShift(t, &api.ShiftSpec{Checks: errorCheck, Over: time.Minute}), start, 5*time.Second, always)
	s, now = advance(s, now, time.Minute, unclear)
	at := s.Share
	for range 2 {
		if s.Status != api.ShiftWaiting || s.Share != at {
			t.Fatalf("%s (%s) with share %v, want that it waits at %v", s.Status, s.Reason, s.Share, at)
		}
		var err error
		if s, err = lifecycle.Resume(s, now); err != nil {
			t.Fatal(err)
		}
		at += 0.08
		if s, now = advance(s, now, time.Minute, unclear); s.Share < at || s.Share > at+0.01 {
			t.Errorf("share %v a minute after the operator resumed, want about %v", s.Share, at)
		}
		at = s.Share
	}
}

func TestAReversalIgnoresChecks(t *testing.T) {
	s, now := advance(newShift(t, &api.ShiftSpec{Checks: errorCheck}), start, 5*time.Minute, always)
	s, err := lifecycle.Reverse(s, "by ann", false, now)
	if err != nil {
		t.Fatal(err)
	}
	o := checked(lifecycle.Failed, "bad")(start)
	if next, wake := lifecycle.Advance(s, o, now.Add(time.Second)); next != s || !wake.Equal(now.Add(5*time.Second)) {
		t.Errorf("the reversal changes one second later, and then at %s: want that it advances in steps of 5 s", wake)
	}
}

func TestInconclusiveChecksHoldAShiftAndThenWait(t *testing.T) {
	s, now := advance(newShift(t, &api.ShiftSpec{Checks: errorCheck}), start, time.Minute, always)
	at := s.Share
	s, now = advance(s, now, 4*time.Minute, checked(lifecycle.Inconclusive, ""))
	if s.Status != api.ShiftRunning || s.Share > at+0.03 {
		t.Errorf("%s with share %v, want running with about %v", s.Status, s.Share, at)
	}
	at = s.Share
	s, now = advance(s, now, 2*time.Minute, checked(lifecycle.Inconclusive, ""))
	if s.Status != api.ShiftWaiting || s.Share != at {
		t.Fatalf("%s with share %v, want waiting with %v", s.Status, s.Share, at)
	}
	s, err := lifecycle.Resume(s, now)
	if err != nil {
		t.Fatal(err)
	}
	if s, _ = advance(s, now, time.Minute, always); s.Share <= at {
		t.Errorf("share %v after the operator resumed, want more than %v", s.Share, at)
	}
}

func TestAShiftStandsStillWithoutALeader(t *testing.T) {
	s, now := advance(newShift(t, nil), start, 444*time.Second, always)
	at := s.Share
	now = now.Add(2 * time.Hour)
	s, _ = lifecycle.Advance(s, routable, now)
	if s.Share != at {
		t.Errorf("share %v after two hours without a leader, want %v", s.Share, at)
	}
	if s, _ = advance(s, now, 20*time.Minute-444*time.Second, always); s.Status != api.ShiftComplete {
		t.Errorf("%s with share %v, want complete after the rest of its time", s.Status, s.Share)
	}
}

func TestAShiftHoldsWhileItsStackHasNoInstances(t *testing.T) {
	s, now := advance(newShift(t, nil), start, 5*time.Minute, always)
	at := s.Share
	s, now = advance(s, now, 5*time.Minute, func(time.Time) lifecycle.Observation { return lifecycle.Observation{} })
	if s.Share != at || !s.Held {
		t.Errorf("share %v, held %v, want %v and held", s.Share, s.Held, at)
	}
	if !strings.Contains(s.Reason, s.From+" answers for it") {
		t.Errorf("reason %q, want that %s answers", s.Reason, s.From)
	}
	s, _ = advance(s, now, 10*time.Second, always)
	if s.Held || s.Reason != "" || s.Share > at+0.011 {
		t.Errorf("held %v (%s) with share %v after the instances returned, want that the time without them does not count", s.Held, s.Reason, s.Share)
	}
}

func TestReversalsThatAreRefusedSayWhy(t *testing.T) {
	s, now := advance(newShift(t, nil), start, 5*time.Minute, always)
	reversing, err := lifecycle.Reverse(s, "by ann", false, now)
	if err != nil {
		t.Fatal(err)
	}
	done, err := lifecycle.Finish(s, "ann", now)
	if err != nil {
		t.Fatal(err)
	}
	seen := make(map[string]bool)
	for name, err := range map[string]error{
		"twice":         second(lifecycle.Reverse(reversing, "by ann", false, now)),
		"after the end": second(lifecycle.Reverse(done, "by ann", false, now)),
		"of from":       second(lifecycle.ReverseFor(s, s.From, "by ann", false, now)),
	} {
		if api.CodeOf(err) != api.CodeConflict || seen[err.Error()] {
			t.Errorf("%s: %v, want a conflict with its own sentence", name, err)
		}
		seen[err.Error()] = true
	}
}

func second(_ *api.Shift, err error) error { return err }

// TestAnyShift drives shifts with random verbs, outcomes and gaps.
func TestAnyShift(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		policies := []string{api.ShiftLinear, api.ShiftAtomic, api.ShiftSteps}
		spec := &api.ShiftSpec{
			Policy: rapid.SampledFrom(policies).Draw(t, "policy"), Over: time.Duration(rapid.IntRange(1, 1000).Draw(t, "over")) * time.Second,
			Steps: []string{fmt.Sprintf("%d%%", rapid.IntRange(0, 100).Draw(t, "step")), "1m"}, Checks: errorCheck,
			AfterFailure: rapid.SampledFrom([]string{"", api.AfterFailureHold}).Draw(t, "after failure"),
		}
		f := fleet{now: start}
		f.in.Stacks = []*api.Stack{{Name: "a"}, {Name: "b"}}
		s := lifecycle.NewShift("id", f.in.Stacks[0], f.in.Stacks[1], spec, "", start)
		now := start
		for range rapid.IntRange(0, 60).Draw(t, "steps") {
			before := *s
			now = now.Add(time.Duration(rapid.IntRange(0, 60).Draw(t, "seconds")) * time.Second)
			var next *api.Shift
			var err error
			switch verb := rapid.SampledFrom([]string{"", "", "", "", "", "pause", "resume", "set"}).Draw(t, "verb"); verb {
			case "pause":
				next, err = lifecycle.Pause(s, "by ann", now)
			case "resume":
				next, err = lifecycle.Resume(s, now)
			case "set":
				next, err = lifecycle.SetShare(s, rapid.Float64Range(0, 1).Draw(t, "share"), "ann", now)
			default:
				o := lifecycle.Observation{ToRoutable: rapid.Bool().Draw(t, "routable")}
				if rapid.Bool().Draw(t, "checked") {
					o.Checks = map[string]lifecycle.CheckResult{"errors": {Outcome: lifecycle.Outcome(rapid.IntRange(0, 2).Draw(t, "outcome"))}}
				}
				next, _ = lifecycle.Advance(s, o, now)
				if next.Status != api.ShiftReversing && next.Status != api.ShiftReversed && next.Share < before.Share {
					t.Fatalf("the share fell from %v to %v without a reversal", before.Share, next.Share)
				}
			}
			if err == nil {
				s = next
			}
			if s.Share < 0 || s.Share > 1 {
				t.Fatalf("share %v is outside of 0 to 1", s.Share)
			}
		}
		if !s.IsActive() {
			return
		}
		if s.Status != api.ShiftReversing {
			var err error
			before, atOnce := s, rapid.Bool().Draw(t, "at once")
			if s, err = lifecycle.Reverse(s, "by ann", atOnce, now); err != nil {
				t.Fatal(err)
			}
			if !atOnce && before.Elapsed > time.Second && s.Share != before.Share {
				t.Fatalf("the reversal began with share %v, want %v", s.Share, before.Share)
			}
		}
		o := lifecycle.Observation{ToRoutable: rapid.Bool().Draw(t, "to routable")}
		for last := s.Share; s.IsActive() && now.Before(start.Add(3*time.Hour)); last = s.Share {
			now = now.Add(5 * time.Second)
			least := last
			if s.ReverseOver > 0 {
				least = max(last-s.ReverseFrom*float64(now.Sub(s.AdvancedAt))/float64(s.ReverseOver)-0.0002, 0)
			}
			if s, _ = lifecycle.Advance(s, o, now); s.Share > last || s.Share < least {
				t.Fatalf("the share went from %v to %v with one advance of a reversal, want at least %v", last, s.Share, least)
			}
		}
		if s.Status != api.ShiftReversed || s.Share != 0 {
			t.Fatalf("%s with share %v, want that a reversal ends with all traffic on the older stack", s.Status, s.Share)
		}
	})
}

func TestMetricsAreCompared(t *testing.T) {
	for _, c := range []struct {
		name     string
		check    api.ShiftCheck
		from, to lifecycle.Sample
		want     lifecycle.Outcome
	}{
		{"too few requests", api.ShiftCheck{Metric: api.MetricErrors, Max: "1%"}, lifecycle.Sample{Requests: 900}, lifecycle.Sample{Requests: 30, Errors: 30}, lifecycle.Inconclusive},
		{"errors below the limit", api.ShiftCheck{Metric: api.MetricErrors, Max: "1%"}, lifecycle.Sample{Requests: 900}, lifecycle.Sample{Requests: 200, Errors: 2}, lifecycle.Passed},
		{"errors above the limit", api.ShiftCheck{Metric: api.MetricErrors, Max: "1%"}, lifecycle.Sample{Requests: 900}, lifecycle.Sample{Requests: 200, Errors: 3}, lifecycle.Failed},
		{"errors as in the old stack", api.ShiftCheck{Metric: api.MetricErrors, Than: "from+0.5%"}, lifecycle.Sample{Requests: 200, Errors: 20}, lifecycle.Sample{Requests: 200, Errors: 21}, lifecycle.Passed},
		{"more errors than the old stack", api.ShiftCheck{Metric: api.MetricErrors, Than: "from+0.5%"}, lifecycle.Sample{Requests: 200, Errors: 20}, lifecycle.Sample{Requests: 200, Errors: 22}, lifecycle.Failed},
		{"slower than the old stack", api.ShiftCheck{Metric: api.MetricP99, Than: "from*1.5"}, lifecycle.Sample{Requests: 200, P99: 0.1}, lifecycle.Sample{Requests: 200, P99: 0.16}, lifecycle.Failed},
		{"as fast as the old stack", api.ShiftCheck{Metric: api.MetricP99, Than: "from*1.5", Max: "200ms"}, lifecycle.Sample{Requests: 200, P99: 0.1}, lifecycle.Sample{Requests: 200, P99: 0.149}, lifecycle.Passed},
		{"an old stack without requests", api.ShiftCheck{Metric: api.MetricP99, Than: "from*1.5"}, lifecycle.Sample{}, lifecycle.Sample{Requests: 200, P99: 0.1}, lifecycle.Inconclusive},
	} {
		if got := lifecycle.EvaluateMetric(&c.check, c.from, c.to, 100); got.Outcome != c.want {
			t.Errorf("%s: outcome %v (%s), want %v", c.name, got.Outcome, got.Text, c.want)
		}
	}
}

func TestBoundsThatAreInvalidAreRefused(t *testing.T) {
	for _, text := range []string{"", "from*", "from*0.5", "from*NaN", "from*1e9", "from+", "from+1", "from+-1%", "from+NaN%", "from+101%", "to*2", "from-1%", "from**2"} {
		if b, err := api.ParseShiftBound(text, api.MetricErrors); err == nil {
			t.Errorf("bound %q was accepted as %+v", text, b)
		}
	}
	for _, text := range []string{"", "1", "-1%", "NaN%", "101%", "1s"} {
		if v, err := api.ParseShiftLevel(text, api.MetricErrors); err == nil {
			t.Errorf("level %q was accepted as %v", text, v)
		}
	}
}
