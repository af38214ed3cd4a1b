// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package reschedule

import (
	"testing"
	"time"

	"github.com/reeve-run/reeve/api"
)

func TestNextAttempt(t *testing.T) {
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	failed := func(ran time.Duration, delays ...time.Duration) *api.Allocation {
		a := &api.Allocation{
			ID: "a", CreateTime: now.Add(-ran).UnixNano(),
			TaskStates: map[string]*api.TaskState{"t": {State: api.TaskStateDead, Failed: true, FinishedAt: now}},
		}
		if len(delays) > 0 {
			a.RescheduleTracker = &api.RescheduleTracker{}
		}
		for i, d := range delays {
			a.RescheduleTracker.Events = append(a.RescheduleTracker.Events, &api.RescheduleEvent{
				RescheduleTime: now.Add(-time.Duration(len(delays)-i) * time.Minute).UnixNano(), Delay: d,
			})
		}
		return a
	}
	policy := func(function string, attempts int, interval, delay, limit time.Duration) *api.Reschedule {
		return &api.Reschedule{
			DelayFunction: &function, Attempts: &attempts, Interval: &interval, Delay: &delay, MaxDelay: &limit,
			Unlimited: new(attempts == 0),
		}
	}
	const s = time.Second
	for _, test := range []struct {
		name   string
		policy *api.Reschedule
		alloc  *api.Allocation
		never  bool
		delay  time.Duration
	}{
		{"no policy", nil, failed(s), true, 0},
		{"no attempts", &api.Reschedule{Attempts: new(0), Unlimited: new(false)}, failed(s), true, 0},
		{"first, constant", policy("constant", 0, 0, 5*s, 0), failed(s), false, 5 * s},
		{"later, constant", policy("constant", 0, 0, 5*s, 0), failed(s, 5*s, 5*s), false, 5 * s},
		{"first, exponential", policy("exponential", 0, 0, 5*s, time.Minute), failed(s), false, 5 * s},
		{"third, exponential", policy("exponential", 0, 0, 5*s, time.Minute), failed(s, 5*s, 10*s), false, 20 * s},
		{"longest, exponential", policy("exponential", 0, 0, 5*s, time.Minute), failed(s, 40*s), false, time.Minute},
		{"ran well in between", policy("exponential", 0, 0, 5*s, time.Minute), failed(2*time.Minute, 40*s), false, 5 * s},
		{"second, fibonacci", policy("fibonacci", 0, 0, 5*s, time.Hour), failed(s, 5*s), false, 5 * s},
		{"third, fibonacci", policy("fibonacci", 0, 0, 5*s, time.Hour), failed(s, 5*s, 5*s), false, 10 * s},
		{"fourth, fibonacci", policy("fibonacci", 0, 0, 5*s, time.Hour), failed(s, 5*s, 5*s, 10*s), false, 15 * s},
		{"one left", policy("constant", 3, time.Hour, 5*s, 0), failed(s, 5*s, 5*s), false, 5 * s},
		{"used up", policy("constant", 2, time.Hour, 5*s, 0), failed(s, 5*s, 5*s), true, 0},
		{"used up long ago", policy("constant", 2, 30*s, 5*s, 0), failed(s, 5*s, 5*s), false, 5 * s},
	} {
		t.Run(test.name, func(t *testing.T) {
			got := Next(test.policy, test.alloc, now)
			if got.Never != test.never || got.Delay != test.delay {
				t.Errorf("never %t, delay %s; want %t, %s", got.Never, got.Delay, test.never, test.delay)
			}
			if !got.Never && !got.Due.Equal(now.Add(test.delay)) {
				t.Errorf("due %s after the failure, want %s", got.Due.Sub(now), test.delay)
			}
		})
	}
	forced := failed(s)
	forced.DesiredTransition.ForceReschedule = new(true)
	if got := Next(nil, forced, now); got.Never || got.Due.After(now) {
		t.Errorf("a forced attempt is refused: %+v", got)
	}
}

func TestTrackKeepsWhatThePolicyCounts(t *testing.T) {
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	a := &api.Allocation{ID: "a", NodeID: "n"}
	for range 20 {
		a.RescheduleTracker = Track(&api.Reschedule{Unlimited: new(true)}, a, time.Second, now, now)
	}
	if n := len(a.RescheduleTracker.Events); n != eventsKept {
		t.Errorf("%d events are kept without a limit of attempts, want %d", n, eventsKept)
	}
	for range 20 {
		a.RescheduleTracker = Track(&api.Reschedule{Attempts: new(8)}, a, time.Second, now, now)
	}
	if n := len(a.RescheduleTracker.Events); n != 8 {
		t.Errorf("%d events are kept for 8 attempts", n)
	}
}
