// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package reschedule

import (
	"strings"
	"testing"
	"time"

	"github.com/reeve-run/reeve/api"
)

func TestARejectionIsNoAttempt(t *testing.T) {
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	refused := func(before int) *api.Allocation {
		a := &api.Allocation{ID: "a", NodeID: "n", ClientStatus: api.AllocClientFailed, TaskStates: map[string]*api.TaskState{"t": {
			State: api.TaskStateDead, Failed: true, FinishedAt: now, Events: []*api.TaskEvent{{Type: api.EventSetupFailure, FailsTask: true, SetupError: "no driver"}},
		}}}
		for range before {
			a.RescheduleTracker = Track(nil, a, 0, now, now)
		}
		return a
	}
	batch := &api.Job{Type: api.JobTypeBatch}
	for before, delay := range []time.Duration{0, time.Second, 2 * time.Second} {
		if got, rejected := AfterRejection(batch, refused(before)); !rejected || got.Never || got.Delay != delay || !got.Due.Equal(now.Add(delay)) {
			t.Errorf("after %d rejections before: %+v, want another attempt in %s", before, got, delay)
		}
	}
	last := refused(3)
	if got, _ := AfterRejection(batch, last); !got.Never || !strings.Contains(got.Why, "nodes refused 4 times to run it, and max_rejections is 3; the last one: task t: no driver") {
		t.Errorf("the fourth one: %+v", got)
	}
	if n := len(tried(last)); n != 0 || attemptsWithin(last, time.Hour, now) != 0 || last.RescheduleTracker.Rejections != 3 || len(Penalised(last.RescheduleTracker)) != 3 {
		t.Errorf("%d of three rejections count as attempts: %+v", n, last.RescheduleTracker)
	}
	ran := refused(0)
	ran.TaskStates["t"].StartedAt = now
	for name, s := range map[string]struct {
		job   *api.Job
		alloc *api.Allocation
	}{
		"of a service": {&api.Job{Type: api.JobTypeService}, refused(0)},
		"of what ran":  {batch, ran},
	} {
		if _, rejected := AfterRejection(s.job, s.alloc); rejected {
			t.Errorf("a failure %s is counted as a rejection", name)
		}
	}
}
