// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package state

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/reeve-run/reeve/api"
)

func deployed(t *testing.T) *tester {
	s := newTester(t)
	s.do(&RegisterJob{Job: testJob("web")})
	job := s.job("web")
	s.do(&CommitPlacement{&Placement{Time: 1000, Deployment: &api.Deployment{
		ID: "d", Namespace: "default", JobID: "web", JobVersion: job.Version, JobCreateIndex: job.CreateIndex, Status: api.DeploymentRunning,
		Groups: map[string]*api.DeploymentState{"web": {DesiredTotal: 3, DesiredCanaries: 1, ProgressDeadline: time.Minute}},
	}}})
	return s
}

func (s *tester) health(id string, healthy bool, at int64) {
	s.t.Helper()
	s.do(&UpdateAllocations{Time: at, Allocations: []*api.Allocation{{
		ID: id, ClientStatus: api.AllocClientRunning, DeploymentStatus: &api.AllocDeploymentStatus{Healthy: &healthy, Timestamp: time.Unix(0, at).UTC()},
	}}})
}

func TestDeploymentCountsItsAllocations(t *testing.T) {
	s := deployed(t)
	canary := s.allocation("canary", "d")
	canary.DeploymentStatus = &api.AllocDeploymentStatus{Canary: true}
	s.place(canary, s.allocation("a", "d"), s.allocation("b", "d"))
	s.health("canary", true, int64(10*time.Second))
	s.health("canary", true, int64(11*time.Second)) // said twice, counted once
	s.health("a", true, int64(5*time.Second))       // an older report does not shorten the deadline
	s.health("b", false, int64(12*time.Second))
	want := &api.DeploymentState{
		DesiredTotal: 3, DesiredCanaries: 1, PlacedCanaries: []string{"canary"}, PlacedAllocs: 3, HealthyAllocs: 2, UnhealthyAllocs: 1,
		ProgressDeadline: time.Minute, RequireProgressBy: time.Unix(70, 0).UTC(),
	}
	if diff := cmp.Diff(want, s.Snapshot().Deployment("d").Groups["web"]); diff != "" {
		t.Error(diff)
	}
	if !s.Snapshot().Allocation("canary").IsCanary() {
		t.Error("a health report took the canary's mark away")
	}
	s.health("b", true, int64(13*time.Second))
	if g := s.Snapshot().Deployment("d").Groups["web"]; g.HealthyAllocs != 3 || g.UnhealthyAllocs != 0 {
		t.Errorf("b recovered: %d healthy, %d unhealthy; want 3 and 0", g.HealthyAllocs, g.UnhealthyAllocs)
	}
}

func TestInPlaceUpdateJoinsTheDeployment(t *testing.T) {
	s := deployed(t)
	s.place(s.allocation("a", ""))
	s.report("a", api.AllocClientRunning)
	s.place(s.allocation("a", "d"))
	a := s.Snapshot().Allocation("a")
	if a.ClientStatus != api.AllocClientRunning || a.CreateIndex == a.ModifyIndex {
		t.Errorf("the update lost what its node said: %s, created at %d, changed at %d", a.ClientStatus, a.CreateIndex, a.ModifyIndex)
	}
	if g := s.Snapshot().Deployment("d").Groups["web"]; g.PlacedAllocs != 1 {
		t.Errorf("%d placed, want 1", g.PlacedAllocs)
	}
}

func TestWorkersKeepNoCounts(t *testing.T) {
	s := deployed(t)
	stale := s.Snapshot().Deployment("d").Copy()
	s.place(s.allocation("a", "d"))
	s.health("a", true, 5)
	stale.Groups["web"].DesiredTotal = 5
	stale.StatusDescription = "goes on"
	s.do(&CommitPlacement{&Placement{Deployment: stale, Time: 9}})
	d := s.Snapshot().Deployment("d")
	if g := d.Groups["web"]; g.DesiredTotal != 5 || g.PlacedAllocs != 1 || g.HealthyAllocs != 1 || d.StatusDescription != "goes on" {
		t.Errorf("%+v of %+v: want the worker's total and the store's counts", g, d)
	}
}

func TestSuccessMakesTheVersionStable(t *testing.T) {
	s := deployed(t)
	s.do(&RegisterJob{Job: withPriority(9)}) // meanwhile there is a newer version
	s.do(&UpdateDeployment{ID: "d", Status: api.DeploymentSuccessful, Time: 5})
	if !s.Snapshot().JobVersion("default", "web", 0).Stable || s.job("web").Stable {
		t.Error("want version 0 stable, and version 1 not")
	}
	s.refuse(api.CodeConflict, "successful", &UpdateDeployment{ID: "d", Status: api.DeploymentFailed})
	s.do(&CommitPlacement{&Placement{DeploymentUpdates: []DeploymentUpdate{{ID: "d", Status: api.DeploymentCancelled}}}})
	if got := s.Snapshot().Deployment("d").Status; got != api.DeploymentSuccessful {
		t.Errorf("an ended deployment became %s", got)
	}
}

func TestFailureCanGoBackToAnOlderJob(t *testing.T) {
	s := newTester(t)
	s.do(&RegisterJob{Job: withPriority(1)})
	s.do(&RegisterJob{Job: withPriority(2)})
	s.do(&CommitPlacement{&Placement{Deployment: &api.Deployment{ID: "d", Namespace: "default", JobID: "web", JobVersion: 1, Status: api.DeploymentRunning}}})
	s.do(&UpdateDeployment{ID: "d", Status: api.DeploymentFailed, Job: s.Snapshot().JobVersion("default", "web", 0), Evaluation: s.evaluation("e", api.EvalStatusPending), Time: 5})
	if j := s.job("web"); j.Version != 2 || j.Priority != 1 {
		t.Errorf("version %d with priority %d; want version 2 that is like version 0", j.Version, j.Priority)
	}
	if e := s.Snapshot().Evaluation("e"); e == nil || e.JobModifyIndex != s.Index() {
		t.Errorf("evaluation %+v; want one for the job as of index %d", e, s.Index())
	}
}

func TestNodesKeepWhatOperatorsDecided(t *testing.T) {
	s := newTester(t)
	s.do(&RegisterNode{Node: &api.Node{ID: "n", Name: "one", Status: api.NodeStatusReady}})
	s.do(&SetNodeEligibility{NodeID: "n", Eligibility: api.NodeIneligible, Time: 1e9})
	s.do(&UpdateNodeStatus{NodeID: "n", Status: api.NodeStatusDown, Description: "missed its heartbeat", Time: 2e9})
	s.do(&RegisterNode{Node: &api.Node{ID: "n", Name: "two", Status: api.NodeStatusReady, StatusUpdatedAt: 3}})
	n := s.Snapshot().Node("n")
	if n.Name != "two" || n.SchedulingEligibility != api.NodeIneligible || n.CreateIndex != 1 || n.Status != api.NodeStatusReady {
		t.Errorf("%+v", n)
	}
	var told []string
	for _, e := range n.Events {
		told = append(told, e.Message)
	}
	want := []string{"Node registered", "Node marked ineligible for scheduling", "Node is down: missed its heartbeat", "Node registered again"}
	if diff := cmp.Diff(want, told); diff != "" {
		t.Error(diff)
	}
}

func TestUpdatesFromAnotherNodeArePassedOver(t *testing.T) {
	s := newTester(t)
	s.do(&RegisterJob{Job: testJob("web")})
	s.place(s.allocation("a", ""))
	s.do(&UpdateAllocations{NodeID: "other", Allocations: []*api.Allocation{{ID: "a", ClientStatus: api.AllocClientFailed}}})
	if got := s.Snapshot().Allocation("a").ClientStatus; got != api.AllocClientPending {
		t.Errorf("another node made the allocation %s", got)
	}
	s.do(&SetTransition{AllocationIDs: []string{"a"}, Transition: api.DesiredTransition{Migrate: ptr(true)}})
	s.do(&SetTransition{AllocationIDs: []string{"a"}, Transition: api.DesiredTransition{NoShutdownDelay: ptr(true)}})
	if d := s.Snapshot().Allocation("a").DesiredTransition; !d.ShouldMigrate() || d.NoShutdownDelay == nil {
		t.Errorf("transitions were not merged: %+v", d)
	}
}

func TestRevertDoesNotGoBackOverALaterRegistration(t *testing.T) {
	s := deployed(t)
	before := s.job("web")
	newer := testJob("web")
	newer.Meta = map[string]string{"is": "newer"}
	s.do(&RegisterJob{Job: newer})
	s.place(s.allocation("a", "d"))
	s.refuse(api.CodeConflict, "changed meanwhile", &UpdateDeployment{ID: "d", Status: api.DeploymentFailed, Job: before, JobIndex: before.JobModifyIndex})
	s.refuse(api.CodeConflict, "changed meanwhile", &SetAllocHealth{
		DeploymentID: "d", Unhealthy: []string{"a"}, Status: api.DeploymentFailed, Job: before, JobIndex: before.JobModifyIndex,
	})
	if is := s.job("web"); is.Meta["is"] != "newer" || s.Snapshot().Deployment("d").Status != api.DeploymentRunning {
		t.Errorf("the job is %v, its deployment %s", is.Meta, s.Snapshot().Deployment("d").Status)
	}
}
