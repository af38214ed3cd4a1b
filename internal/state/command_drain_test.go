// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package state

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/reeve-run/reeve/api"
)

// drained is a store with a node, and on it an allocation of each type named.
func drained(t *testing.T, types ...string) *Store {
	t.Helper()
	s := New()
	must(t, s.Apply(1, []Command{&RegisterNode{Node: &api.Node{ID: "n", Name: "n", Status: api.NodeStatusReady}}}))
	for i, kind := range types {
		job := testJob(kind)
		job.Type = kind
		must(t, s.Apply(s.Index()+1, []Command{&RegisterJob{Job: job}}))
		stored := s.Snapshot().Job(job.Namespace, job.ID)
		must(t, s.Apply(s.Index()+1, []Command{&CommitPlacement{&Placement{Job: stored, Time: int64(i + 1), Place: []*api.Allocation{{
			ID: kind, Namespace: job.Namespace, JobID: job.ID, Job: stored, Group: job.Groups[0].Name, NodeID: "n", Name: api.AllocName(job.ID, job.Groups[0].Name, 0),
		}}}}}))
	}
	return s
}

func TestDrainIsCompleteOnlyWhenTasksHaveStopped(t *testing.T) {
	s := drained(t, api.JobTypeService, api.JobTypeSystem)
	begin := time.Unix(100, 0).UTC()
	strategy := &api.DrainStrategy{DrainSpec: api.DrainSpec{Deadline: time.Hour, IgnoreSystemJobs: true}, StartedAt: begin}
	must(t, s.Apply(s.Index()+1, []Command{&SetNodeDrain{NodeID: "n", Strategy: strategy, Meta: map[string]string{"why": "kernel"}, Time: begin.UnixNano()}}))
	n := s.Snapshot().Node("n")
	if n.SchedulingEligibility != api.NodeIneligible || !n.Drain || n.IsReady() || n.LastDrain.Status != api.DrainStatusDraining {
		t.Fatalf("a draining node is %+v, last drain %+v", n, n.LastDrain)
	}
	end := &SetNodeDrain{NodeID: "n", Status: api.DrainStatusComplete, Time: begin.Add(time.Minute).UnixNano()}
	if errs := s.Apply(s.Index()+1, []Command{end}); errs[0] == nil {
		t.Fatal("the drain was complete while an allocation ran")
	}
	must(t, s.Apply(s.Index()+1, []Command{&UpdateAllocations{Allocations: []*api.Allocation{{ID: api.JobTypeService, ClientStatus: api.AllocClientComplete}}, Time: 1}}))
	must(t, s.Apply(s.Index()+1, []Command{end}))
	n = s.Snapshot().Node("n")
	want := &api.DrainRecord{StartedAt: begin, UpdatedAt: begin.Add(time.Minute), Status: api.DrainStatusComplete, Meta: map[string]string{"why": "kernel"}}
	if diff := cmp.Diff(want, n.LastDrain); diff != "" || n.DrainStrategy != nil || n.SchedulingEligibility != api.NodeIneligible {
		t.Errorf("after the drain the node is %s, strategy %v, last drain (-want +got):\n%s", n.SchedulingEligibility, n.DrainStrategy, diff)
	}
	if e := n.Events[len(n.Events)-1]; e.Message != "Node drain complete" {
		t.Errorf("the last event says %q", e.Message)
	}
}

func TestCancelledDrainLetsWhatWaitsStay(t *testing.T) {
	s := drained(t, api.JobTypeService)
	yes := true
	must(t, s.Apply(s.Index()+1, []Command{&SetNodeDrain{NodeID: "n", Strategy: &api.DrainStrategy{}, Time: 1}}))
	must(t, s.Apply(s.Index()+1, []Command{&SetTransition{AllocationIDs: []string{api.JobTypeService}, Transition: api.DesiredTransition{Migrate: &yes}}}))
	must(t, s.Apply(s.Index()+1, []Command{&SetNodeDrain{NodeID: "n", Status: api.DrainStatusCanceled, MarkEligible: true, Time: 2}}))
	if a := s.Snapshot().Allocation(api.JobTypeService); a.DesiredTransition.ShouldMigrate() {
		t.Error("what had not begun to move still has to")
	}
	if n := s.Snapshot().Node("n"); !n.IsReady() || n.LastDrain.Status != api.DrainStatusCanceled {
		t.Errorf("the node is %+v, last drain %+v; want it ready and the drain canceled", n, n.LastDrain)
	}
	errs := s.Apply(s.Index()+1, []Command{&SetNodeDrain{NodeID: "n", Status: api.DrainStatusCanceled, Time: 3}})
	if errs[0] == nil || !strings.Contains(errs[0].Error(), "not being drained") {
		t.Errorf("cancelling twice: %v", errs[0])
	}
}

func TestNewerFieldsOfNodeCommandsSurviveTheLog(t *testing.T) {
	evaluations := []*api.Evaluation{fullEvaluation()}
	for _, c := range []Command{
		&UpdateNodeStatus{NodeID: "n", Status: api.NodeStatusReady, SilentSince: 17},
		&SetNodeEligibility{NodeID: "n", Eligibility: api.NodeIneligible, Message: "refused 100 placements"},
		&DeleteNode{IDs: []string{"n"}, Evaluations: evaluations},
	} {
		decoded, err := DecodeCommands(EncodeCommands([]Command{c}))
		if err != nil {
			t.Errorf("%s: %v", c.Name(), err)
		} else if diff := cmp.Diff([]Command{c}, decoded); diff != "" {
			t.Errorf("%s (-encoded +decoded):\n%s", c.Name(), diff)
		}
	}
}
