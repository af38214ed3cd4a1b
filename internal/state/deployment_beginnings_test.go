// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package state

import (
	"bytes"
	"fmt"
	"reflect"
	"testing"
	"time"
	"unsafe"

	"github.com/reeve-run/reeve/api"
)

// waiting stores a job that waits for room, as a placement leaves it: an evaluation that ended, a
// blocked one and a deployment without allocations.
func waiting(s *tester, n int, total int) (deployment *api.Deployment, ended, blocked *api.Evaluation) {
	name := fmt.Sprintf("web-%d", n)
	id := func(kind int) string { return fmt.Sprintf("%08d-0000-4000-8000-%012d", kind, n) }
	evaluation := &api.Evaluation{ID: id(1), Namespace: "default", JobID: name, Type: "service", Status: api.EvalStatusPending}
	s.do(&RegisterJob{Job: testJob(name), Evaluation: evaluation})
	done := evaluation.Copy()
	done.Status, done.BlockedEval, done.DeploymentID = api.EvalStatusComplete, id(2), id(3)
	done.ID = string([]byte(done.ID))
	d := &api.Deployment{
		ID: id(3), Namespace: "default", JobID: name, Status: api.DeploymentRunning,
		Groups: map[string]*api.DeploymentState{"web": {DesiredTotal: total, ProgressDeadline: time.Minute}},
	}
	s.do(&CommitPlacement{&Placement{
		Job: s.Snapshot().Job("default", name), Deployment: d, Time: 10,
		Evaluations: []*api.Evaluation{done, {ID: id(2), Namespace: "default", JobID: string([]byte(name)), Type: "service", Status: api.EvalStatusBlocked, PreviousEval: id(1)}},
	}})
	snap := s.Snapshot()
	return snap.Deployment(id(3)), snap.Evaluation(id(1)), snap.Evaluation(id(2))
}

func sameMap(a, b *api.Deployment) bool {
	return reflect.ValueOf(a.Groups).Pointer() == reflect.ValueOf(b.Groups).Pointer()
}

func sameText(a, b string) bool { return a == b && unsafe.StringData(a) == unsafe.StringData(b) }

// TestWaitingJobsShareWhatIsEqual guards the memory of jobs that wait for room.
func TestWaitingJobsShareWhatIsEqual(t *testing.T) {
	s := newTester(t)
	a, ended, blocked := waiting(s, 1, 2)
	b, _, _ := waiting(s, 2, 2)
	other, _, _ := waiting(s, 3, 4)
	if !sameMap(a, b) {
		t.Error("equal groups of two deployments are two maps")
	}
	if sameMap(a, other) || other.Groups["web"].DesiredTotal != 4 || a.Groups["web"].DesiredTotal != 2 {
		t.Errorf("different groups are one map: %+v and %+v", a.Groups["web"], other.Groups["web"])
	}
	if !sameText(ended.BlockedEval, blocked.ID) || !sameText(blocked.PreviousEval, ended.ID) || !sameText(ended.DeploymentID, a.ID) {
		t.Errorf("an id of related evaluations is stored twice: %+v and %+v", ended, blocked)
	}
	if !sameText(ended.JobID, blocked.JobID) {
		t.Error("the id of the job is stored for each evaluation")
	}
	var file bytes.Buffer
	if _, err := s.Snapshot().WriteTo(&file); err != nil {
		t.Fatal(err)
	}
	restored, err := Restore(&file)
	if err != nil {
		t.Fatal(err)
	}
	if snap := restored.Snapshot(); !sameMap(snap.Deployment(a.ID), snap.Deployment(b.ID)) || sameMap(snap.Deployment(a.ID), snap.Deployment(other.ID)) {
		t.Error("a restart separates equal groups, or joins different ones")
	}
}

// TestSharedGroupsAreNotModified lets one of two deployments with shared groups progress.
func TestSharedGroupsAreNotModified(t *testing.T) {
	s := newTester(t)
	a, _, _ := waiting(s, 1, 1)
	b, _, _ := waiting(s, 2, 1)
	progress := a.Copy()
	progress.Groups["web"].RequireProgressBy = time.Unix(5, 0).UTC()
	s.do(&CommitPlacement{&Placement{Job: s.Snapshot().Job("default", "web-1"), Deployment: progress, Time: 11}})
	s.do(&UpdateDeployment{ID: a.ID, Status: api.DeploymentFailed})
	snap := s.Snapshot()
	if got := snap.Deployment(a.ID); got.Status != api.DeploymentFailed || sameMap(got, b) {
		t.Errorf("the deployment that progressed: %+v", got)
	}
	if got := snap.Deployment(b.ID).Groups["web"]; !reflect.DeepEqual(got, &api.DeploymentState{DesiredTotal: 1, ProgressDeadline: time.Minute}) {
		t.Errorf("the other deployment changed: %+v", got)
	}
}

// TestManyBeginningsAreForgotten bounds what is kept: the names of groups are the users'.
func TestManyBeginningsAreForgotten(t *testing.T) {
	var b beginnings
	for n := range 10 * maxBeginnings {
		b.share(map[string]*api.DeploymentState{fmt.Sprint(n): {}})
		if len(b.known) > maxBeginnings {
			t.Fatalf("%d beginnings are kept, want at most %d", len(b.known), maxBeginnings)
		}
	}
	started := map[string]*api.DeploymentState{"web": {PlacedAllocs: 1}}
	b.share(started)
	if again := b.share(map[string]*api.DeploymentState{"web": {PlacedAllocs: 1}}); reflect.ValueOf(again).Pointer() == reflect.ValueOf(started).Pointer() {
		t.Error("the groups of a deployment that placed something are shared")
	}
}
