// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package runner

import (
	"slices"
	"testing"
	"time"

	"github.com/reeve-run/reeve/api"
)

func sorted(s []string) []string {
	slices.Sort(s)
	return s
}

func TestRestartPolicyModeDelayWaitsForTheInterval(t *testing.T) {
	p := &api.Restart{Attempts: ptr(1), Interval: ptr(10 * time.Minute), Delay: ptr(time.Minute), Mode: ptr("delay")}
	var w restarts
	now := time.Unix(1000, 0)
	steps := []struct {
		after time.Duration
		delay time.Duration
		words string
	}{
		{0, time.Minute, "Exit Code: 1, restarting in 1m (attempt 1 of 1 in 10m)"},
		{2 * time.Minute, 9 * time.Minute, "Exit Code: 1, restarting in 9m, when the policy's interval of 10m is over (1 attempt used up)"},
		{30 * time.Minute, time.Minute, "Exit Code: 1, restarting in 1m (attempt 1 of 1 in 10m)"},
	}
	for i, s := range steps {
		v := w.next(p, "Exit Code: 1", now.Add(s.after), 0, 0)
		if !v.restart || v.delay != s.delay || v.message != s.words {
			t.Errorf("step %d: %+v; want %s, %q", i, v, s.delay, s.words)
		}
	}
}

func TestJitterIsAtMostAQuarterAndRepeatable(t *testing.T) {
	seen := map[float64]bool{}
	for run := range 100 {
		j := jitterOf("a", "t", run)
		if j < 0 || j > 1 || j != jitterOf("a", "t", run) {
			t.Fatalf("jitter of run %d is %v", run, j)
		}
		seen[j] = true
	}
	if len(seen) < 90 {
		t.Errorf("%d different jitters in 100 runs", len(seen))
	}
}

func TestStatusIsFailedOnlyWhenNothingRuns(t *testing.T) {
	dead := taskView{stage: stageDead, failed: true, ran: true}
	runs := taskView{stage: stageActive, running: true, ran: true}
	ends := taskView{stage: stageActive, ran: true, killed: true}
	for _, c := range []struct {
		m    []taskView
		want string
	}{
		{[]taskView{dead, runs}, api.AllocClientRunning},
		{[]taskView{dead, ends}, api.AllocClientRunning},
		{[]taskView{dead, dead}, api.AllocClientFailed},
		{[]taskView{{stage: stageDead}}, api.AllocClientComplete},
		{[]taskView{{stage: stageWaiting}}, api.AllocClientPending},
	} {
		if got := clientStatus(c.m); got != c.want {
			t.Errorf("status of %+v is %s; want %s", c.m, got, c.want)
		}
	}
}

func TestPoststopTaskWaitsWhileItIsHeld(t *testing.T) {
	main := taskView{name: "main", stage: stageDead, ran: true}
	for name, c := range map[string]struct {
		last taskView
		end  *end
		want []verb
	}{
		"its turn":        {last: taskView{}, want: []verb{verbStart}},
		"held":            {last: taskView{held: true}},
		"awaited":         {last: taskView{awaited: true}},
		"for an operator": {last: taskView{idle: true}, want: []verb{verbSkip}},
		"held to the end": {last: taskView{held: true}, end: &end{}, want: []verb{verbSkip}},
		"begun anew":      {last: taskView{}, end: &end{restart: true}, want: []verb{verbSkip}},
	} {
		c.last.hook = hookPoststop
		steps, _ := decide([]taskView{main, c.last}, c.end)
		var got []verb
		for _, s := range steps {
			got = append(got, s.verb)
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %v; want %v", name, got, c.want)
		}
	}
}
