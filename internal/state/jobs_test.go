// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package state

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/reeve-run/reeve/api"
)

func versions(s *tester) (numbers []uint64) {
	for _, j := range s.Snapshot().JobVersions(api.DefaultNamespace, "web") {
		numbers = append(numbers, j.Version)
	}
	return numbers
}

func withPriority(priority int) *api.Job {
	j := testJob("web")
	j.Priority = priority
	return j
}

func TestRegisteringTheSameMakesNoVersion(t *testing.T) {
	s := newTester(t)
	s.do(&RegisterJob{Job: testJob("web")})
	s.do(&RegisterJob{Job: testJob("web")})
	j := s.job("web")
	if j.Version != 0 || j.CreateIndex != 1 || j.JobModifyIndex != 2 || len(versions(s)) != 1 {
		t.Errorf("version %d, created at %d, changed at %d, versions %v", j.Version, j.CreateIndex, j.JobModifyIndex, versions(s))
	}
}

func TestSixVersionsAndTheTaggedOnesAreKept(t *testing.T) {
	s := newTester(t)
	for i := range 10 {
		s.do(&RegisterJob{Job: withPriority(i + 1), Submission: &api.JobSubmission{Source: fmt.Sprint("version ", i), Format: "hcl2"}})
		if i == 1 { // version 1 gets a tag
			j := *s.job("web")
			j.VersionTag = &api.JobVersionTag{Name: "golden"}
			s.work.job("default", "web").versions[0].job = &j
		}
	}
	if diff := cmp.Diff([]uint64{9, 8, 7, 6, 5, 4, 1}, versions(s)); diff != "" {
		t.Error(diff)
	}
	if got := s.Snapshot().JobVersion("default", "web", 7); got == nil || got.Priority != 8 {
		t.Errorf("version 7 is %+v", got)
	}
	if got := s.Snapshot().Submission("default", "web", 5); got == nil || got.Source != "version 5" {
		t.Errorf("submission of version 5 is %+v", got)
	}
	if s.Snapshot().JobVersion("default", "web", 3) != nil {
		t.Error("version 3 is kept")
	}
}

func TestAllocationsOfADroppedVersionKeepItsJob(t *testing.T) {
	s := newTester(t)
	s.do(&RegisterJob{Job: withPriority(1)})
	s.place(s.allocation("a", ""))
	for i := range 8 {
		s.do(&RegisterJob{Job: withPriority(i + 2)})
	}
	if s.Snapshot().JobVersion("default", "web", 0) != nil {
		t.Fatal("version 0 is still kept")
	}
	// Its instance is recovered to the version that it had.
	old := s.Snapshot().Allocation("a")
	again := s.allocation("b", "")
	again.Job, again.PreviousAllocation = old.Job, "a"
	s.place(again)
	if b := s.Snapshot().Allocation("b"); b.Job != old.Job {
		t.Error("allocations of one version do not share their job")
	}
	if a := s.Snapshot().Allocation("a"); a.NextAllocation != "b" {
		t.Errorf("the replaced allocation's next one is %q, want b", a.NextAllocation)
	}
}

func TestCheckAndSet(t *testing.T) {
	s := newTester(t)
	s.refuse(api.CodeConflict, "does not exist", &RegisterJob{Job: testJob("web"), EnforceIndex: ptr(uint64(5))})
	s.do(&RegisterJob{Job: testJob("web"), EnforceIndex: ptr(uint64(0))})
	index := s.job("web").JobModifyIndex
	s.refuse(api.CodeConflict, "exists already", &RegisterJob{Job: withPriority(2), EnforceIndex: ptr(uint64(0))})
	s.refuse(api.CodeConflict, "changed meanwhile", &RegisterJob{Job: withPriority(2), EnforceIndex: ptr(index + 1)})
	s.do(&RegisterJob{Job: withPriority(2), EnforceIndex: ptr(index)})
	s.refuse(api.CodeConflict, "changed meanwhile", &ScaleJob{Namespace: "default", ID: "web", Group: "web", Count: ptr(int64(1)), EnforceIndex: ptr(index)})
}

func TestRefusedJobCommandsChangeNothing(t *testing.T) {
	s := newTester(t)
	s.do(&RegisterJob{Job: testJob("web")})
	s.refuse(api.CodeInvalid, "ID", &RegisterJob{})
	s.refuse(api.CodeNotFound, `"api"`, &DeregisterJob{Namespace: "default", ID: "api"})
	s.refuse(api.CodeNotFound, `"other"`, &ScaleJob{Namespace: "default", ID: "web", Group: "other", Count: ptr(int64(1))})
	s.refuse(api.CodeInvalid, "-1", &ScaleJob{Namespace: "default", ID: "web", Group: "web", Count: ptr(int64(-1))})
	s.refuse(api.CodeNotFound, "version 9", &SetJobStability{Namespace: "default", ID: "web", Version: 9})
	gone := testJob("gone")
	s.refuse(api.CodeConflict, "no longer stored", &CommitPlacement{&Placement{Job: gone, Place: []*api.Allocation{{ID: "a", Job: gone, JobID: "gone", Namespace: "default"}}}})
	s.refuse(api.CodeNotFound, `"a"`, &SetTransition{AllocationIDs: []string{"a"}})
	s.refuse(api.CodeNotFound, `"d"`, &UpdateDeployment{ID: "d"})
	s.refuse(api.CodeNotFound, `"n"`, &UpdateNodeStatus{NodeID: "n", Status: api.NodeStatusDown})
	s.refuse(api.CodeNotFound, `"n"`, &DeleteNode{IDs: []string{"n"}})
	s.refuse(api.CodeInvalid, "sometimes", &SetNodeEligibility{NodeID: "n", Eligibility: "sometimes"})
}

func TestStatusFollowsEvaluationsAndAllocations(t *testing.T) {
	s := newTester(t)
	s.do(&RegisterJob{Job: testJob("web"), Evaluation: s.evaluation("e1", api.EvalStatusPending)})
	s.status(api.JobStatusPending)
	s.place(s.allocation("a", ""))
	s.status(api.JobStatusRunning)
	s.do(&PutEvaluations{[]*api.Evaluation{s.evaluation("e1", api.EvalStatusComplete)}})
	s.status(api.JobStatusRunning)
	s.report("a", api.AllocClientFailed)
	s.status(api.JobStatusDead)
	s.do(&PutEvaluations{[]*api.Evaluation{s.evaluation("e2", api.EvalStatusBlocked)}})
	s.status(api.JobStatusPending)
	s.do(&PutEvaluations{[]*api.Evaluation{s.evaluation("e2", api.EvalStatusCanceled)}})
	s.status(api.JobStatusDead)
	s.do(&DeregisterJob{Namespace: "default", ID: "web", Evaluation: s.evaluation("e3", api.EvalStatusPending)})
	s.status(api.JobStatusPending)
	if j := s.job("web"); !j.Stop || j.Version != 1 {
		t.Errorf("stopped job: Stop %v, version %d", j.Stop, j.Version)
	}
	s.do(&PutEvaluations{[]*api.Evaluation{s.evaluation("e3", api.EvalStatusComplete)}})
	s.status(api.JobStatusDead)
}

func TestSummaryCountsByGroupAndStatus(t *testing.T) {
	s := newTester(t)
	s.do(&RegisterJob{Job: testJob("web")})
	for i := range 6 {
		s.place(s.allocation(fmt.Sprint("a", i), ""))
	}
	for i, status := range []string{api.AllocClientRunning, api.AllocClientComplete, api.AllocClientFailed, api.AllocClientLost, api.AllocClientUnknown} {
		s.report(fmt.Sprint("a", i), status)
	}
	e := s.evaluation("e", api.EvalStatusComplete)
	e.QueuedAllocations = map[string]int{"web": 3}
	s.do(&PutEvaluations{[]*api.Evaluation{e}})
	want := api.GroupSummary{Queued: 3, Starting: 1, Running: 1, Complete: 1, Failed: 1, Lost: 1, Unknown: 1}
	summary := s.Snapshot().JobSummary("default", "web")
	if diff := cmp.Diff(want, summary.Summary["web"]); diff != "" {
		t.Error(diff)
	}
	if summary.ModifyIndex != s.Index() {
		t.Errorf("the summary changed at %d, want %d", summary.ModifyIndex, s.Index())
	}
	s.do(&Collect{Allocations: []string{"a0", "a1", "a2"}})
	if got := s.Snapshot().JobSummary("default", "web").Summary["web"]; got.Running != 1 || got.Complete != 0 || got.Failed != 0 {
		t.Errorf("after collecting a0, a1, a2: %+v; a0 runs and must stay, the others have ended", got)
	}
}

func TestChildrenAreCounted(t *testing.T) {
	s := newTester(t)
	parent := testJob("nightly")
	parent.Periodic = &api.Periodic{Spec: "@daily"}
	s.do(&RegisterJob{Job: parent})
	for i := range 3 {
		child := testJob(fmt.Sprint("nightly/periodic-", i))
		child.ParentID = "nightly"
		s.do(&RegisterJob{Job: child})
	}
	s.do(&DeregisterJob{Namespace: "default", ID: "nightly/periodic-0"})
	s.do(&DeregisterJob{Namespace: "default", ID: "nightly/periodic-1", Purge: true})
	want := &api.JobChildrenSummary{Pending: 1, Dead: 1}
	if diff := cmp.Diff(want, s.Snapshot().JobSummary("default", "nightly").Children); diff != "" {
		t.Error(diff)
	}
	if got := s.job("nightly").Status; got != api.JobStatusRunning {
		t.Errorf("the periodic job is %s, want running", got)
	}
}

func TestScaling(t *testing.T) {
	s := newTester(t)
	s.do(&RegisterJob{Job: testJob("web"), Submission: &api.JobSubmission{Source: "job {}"}})
	s.do(&ScaleJob{Namespace: "default", ID: "web", Group: "web", Count: ptr(int64(7)), Event: &api.ScalingEvent{Message: "more", Time: 5}, Evaluation: s.evaluation("e", api.EvalStatusPending)})
	if got := s.job("web"); got.Group("web").Size() != 7 || got.Version != 1 {
		t.Errorf("count %d, version %d; want 7 and 1", got.Group("web").Size(), got.Version)
	}
	if old := s.Snapshot().JobVersion("default", "web", 0); old.Group("web").Size() != 100 {
		t.Error("scaling changed the older version")
	}
	for range 30 {
		s.do(&ScaleJob{Namespace: "default", ID: "web", Group: "web", Event: &api.ScalingEvent{Message: "looked", Error: true}})
	}
	events := s.Snapshot().ScalingEvents("default", "web")["web"]
	if len(events) != scalingEventsKept || events[0].Message != "looked" || events[0].PreviousCount != 7 || events[0].Count != nil {
		t.Errorf("%d events, the newest %+v", len(events), events[0])
	}
}

func TestPurgedJobLeavesNothingBehind(t *testing.T) {
	s := newTester(t)
	s.do(&RegisterJob{Job: testJob("web"), Evaluation: s.evaluation("e", api.EvalStatusComplete)})
	s.place(s.allocation("a", ""))
	s.do(&DeregisterJob{Namespace: "default", ID: "web", Purge: true})
	if j := s.job("web"); j == nil || !j.Stop || !j.Purge || j.StatusDescription != uninstalling {
		t.Fatalf("the purged job is %+v; want it stopped, until nothing of it runs", j)
	}
	s.do(&CommitPlacement{&Placement{Stop: []Stop{{ID: "a", Description: "purged"}}, Time: 5}})
	s.do(&UpdateAllocations{Allocations: []*api.Allocation{{ID: "a", ClientStatus: api.AllocClientComplete}}})
	s.do(&CommitPlacement{&Placement{Job: s.job("web"), Deregister: true, Time: 6}})
	if s.Snapshot().Job("default", "web") != nil || len(versions(s)) != 0 {
		t.Error("the purged job is still there")
	}
	if got := len(slices.Collect(s.Snapshot().AllocationsByJob("default", "web"))); got != 1 {
		t.Errorf("%d allocations of the purged job; want 1: it is collected later", got)
	}
	s.do(&Collect{Allocations: []string{"a"}, Evaluations: []string{"e"}})
	for name, n := range map[string]int{"jobs": s.work.jobs.ids.len(), "evaluations": s.work.evaluations.ids.len(), "nodes": s.work.nodes.ids.len(), "allocations": s.work.allocations.ids.len()} {
		if n != 0 {
			t.Errorf("%d rows of %s are left", n, name)
		}
	}
}

func TestPurgeOfWhatDoesNotRunIsImmediate(t *testing.T) {
	s := newTester(t)
	s.do(&RegisterJob{Job: testJob("web")})
	s.place(s.allocation("a", ""))
	s.do(&UpdateAllocations{Allocations: []*api.Allocation{{ID: "a", ClientStatus: api.AllocClientComplete}}})
	s.do(&DeregisterJob{Namespace: "default", ID: "web", Purge: true})
	if s.Snapshot().Job("default", "web") != nil {
		t.Error("the purged job is still there")
	}
}

func TestRegisteringAgainEndsAPurge(t *testing.T) {
	s := newTester(t)
	s.do(&RegisterJob{Job: testJob("web")})
	s.place(s.allocation("a", ""))
	s.do(&DeregisterJob{Namespace: "default", ID: "web"})
	s.do(&DeregisterJob{Namespace: "default", ID: "web", Purge: true})
	going := s.job("web")
	if !going.Purge || going.Version != 1 {
		t.Errorf("the stopped job is %+v after its purge; want it marked, in the same version", going)
	}
	s.do(&RegisterJob{Job: testJob("web")})
	if j := s.job("web"); j.Stop || j.Purge || j.StatusDescription != "" || j.CreateIndex != going.CreateIndex {
		t.Errorf("registered again it is %+v; want it as if it had not been purged", j)
	}
	s.do(&CommitPlacement{&Placement{Job: going, Deregister: true, Time: 6}})
	if s.job("web") == nil {
		t.Error("it was forgotten although it had been registered again")
	}
}

func TestRoutesAreSharedWithinOneNamespaceOnly(t *testing.T) {
	s := newTester(t)
	sharing := func(namespace, id string) *api.Job {
		j := testJob(id)
		j.Namespace = namespace
		j.Groups[0].Routes = []*api.Route{{Protocol: api.RouteHTTP, Host: "web.test", Path: "/", Shared: true}}
		return j
	}
	s.do(&RegisterJob{Job: sharing("default", "blue")})
	s.do(&RegisterJob{Job: sharing("default", "green")})
	err := s.Snapshot().CheckRoutes(sharing("other", "green"))
	if e, ok := errors.AsType[*api.Error](err); !ok || len(e.Detail) != 1 || !strings.Contains(e.Detail[0], "it is shared within one namespace only") {
		t.Errorf("a job of another namespace: %v", err)
	}
}
