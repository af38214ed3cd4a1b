// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package state

import (
	"bytes"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/reeve-run/reeve/api"
)

// preempted is what is stored of a preempted allocation.
type preempted struct{ Desired, Words, Client, By string }

func (s *tester) preempted(id string) preempted {
	a := s.Snapshot().Allocation(id)
	return preempted{a.DesiredStatus, a.DesiredDescription, a.ClientStatus, a.PreemptedByAllocation}
}

// urgent registers a job of high priority and returns an allocation of it.
func (s *tester) urgent(id string, victims ...string) *api.Allocation {
	job := testJob("urgent")
	job.Priority = 90
	s.do(&RegisterJob{Job: job})
	a := s.allocation(id, "")
	a.Job, a.JobID, a.Name = s.job("urgent"), "urgent", api.AllocName("urgent", "web", 0)
	a.PreemptedAllocations = victims
	return a
}

func TestAPlacementPreempts(t *testing.T) {
	s := newTester(t)
	s.do(&RegisterJob{Job: testJob("web")})
	s.place(s.allocation("old", ""), s.allocation("ended", ""), s.allocation("stopped", ""))
	s.do(
		&UpdateAllocations{Allocations: []*api.Allocation{{ID: "ended", ClientStatus: api.AllocClientComplete}}},
		&CommitPlacement{&Placement{Job: s.job("web"), Stop: []Stop{{ID: "stopped", Description: "scaled down"}}}},
	)
	a, b := s.urgent("new", "old", "ended", "stopped"), s.urgent("too", "old")
	b.Name = api.AllocName("urgent", "web", 1)
	s.do(&CommitPlacement{&Placement{
		Job: s.job("urgent"), Place: []*api.Allocation{a, b}, Time: 7,
		Preempt: []Preemption{{"old", "new"}, {"old", "too"}, {"ended", "new"}, {"stopped", "new"}, {"unknown", "new"}},
	}})
	want := map[string]preempted{
		"old":     {"evict", `preempted by allocation new of job "urgent", which has priority 90`, "pending", "new"},
		"ended":   {"run", "", "complete", ""},
		"stopped": {"stop", "scaled down", "pending", ""},
	}
	for id, w := range want {
		if diff := cmp.Diff(w, s.preempted(id)); diff != "" {
			t.Errorf("allocation %s (-want +got):\n%s", id, diff)
		}
	}
	if !s.Snapshot().Allocation("old").HoldsResources() {
		t.Error("what was preempted and runs holds its room until its node says that it has ended")
	}
	if diff := cmp.Diff([]string{"old", "ended", "stopped"}, s.Snapshot().Allocation("new").PreemptedAllocations); diff != "" {
		t.Errorf("what the new one waits for (-want +got):\n%s", diff)
	}
	var file bytes.Buffer
	if _, err := s.Snapshot().WriteTo(&file); err != nil {
		t.Fatal(err)
	}
	restored, err := Restore(&file)
	if err != nil {
		t.Fatal(err)
	}
	sameState(t, "restored", s.Snapshot(), restored.Snapshot())
}

// TestAPreemptionIsNotUndone updates an allocation in place by a placement that
// was worked out before it was preempted.
func TestAPreemptionIsNotUndone(t *testing.T) {
	s := newTester(t)
	s.do(&RegisterJob{Job: testJob("web")})
	s.place(s.allocation("old", ""))
	update := s.Snapshot().Allocation("old").Copy()
	s.do(&CommitPlacement{&Placement{Job: s.job("web"), Place: []*api.Allocation{s.urgent("new", "old")}, Preempt: []Preemption{{"old", "new"}}}})
	before := s.preempted("old")
	s.do(&CommitPlacement{&Placement{Job: s.job("web"), Place: []*api.Allocation{update}}})
	if diff := cmp.Diff(before, s.preempted("old")); diff != "" || before.Desired != api.AllocDesiredEvict {
		t.Errorf("after the update (-before +after):\n%s", diff)
	}
}
