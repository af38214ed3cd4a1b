// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package nodeproto

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/reeve-run/reeve/api"
)

func sampleAllocation(id string, states map[string]*api.TaskState) *api.Allocation {
	healthy := true
	return &api.Allocation{
		ID: id, Namespace: "default", JobID: "web", Group: "main", Name: "web.main[3]", NodeID: "n1", EvalID: "e1",
		Job:           &api.Job{Namespace: "default", ID: "web", Version: 7, CreateIndex: 3, JobModifyIndex: 5},
		DesiredStatus: api.AllocDesiredRun, ClientStatus: api.AllocClientRunning, TaskStates: states,
		DeploymentStatus: &api.AllocDeploymentStatus{Healthy: &healthy, Timestamp: time.Unix(5, 0).UTC()},
		Launches: &api.Launches{ID: "l1", Tasks: map[string]*api.Launch{
			"init": {Token: "t0", Done: true},
			"main": {Token: "t1", Alone: true, Env: map[string]string{"A": "1", "B": "2"}, Why: "restarted by somebody", Index: 8},
			"next": {Await: true}, "side": {Token: "t2", Hold: true},
		}},
		LaunchStatus: &api.LaunchStatus{ID: "l1", Healthy: &healthy, Timestamp: time.Unix(6, 0).UTC()},
		Metrics:      &api.PlacementMetrics{NodesEvaluated: 3},
		CreateIndex:  9, ModifyIndex: 10,
	}
}

func runningSince(second int64) map[string]*api.TaskState {
	return map[string]*api.TaskState{"main": {
		State: api.TaskStateRunning, StartedAt: time.Unix(second, 0).UTC(), Launch: "t1",
		Events: []*api.TaskEvent{{Type: api.EventStarted, Time: second, DisplayMessage: "Runs"}},
	}}
}

func TestStreamsAreReadAsTheyWereWritten(t *testing.T) {
	const a, b, gone = "6a1f0d0e-1111-4222-8333-444455556666", "6a1f0d0e-1111-4222-8333-444455557777", "not-a-uuid"
	frame, err := AppendFrame(nil, &Message{
		Complete: true, Index: 12, ClusterID: "c", Jobs: [][]byte{[]byte(`{"ID":"web","Version":7}`)},
		HasPrefetches: true, Prefetches: [][]byte{[]byte(`{"JobID":"web","JobVersion":7,"Pins":[{"Task":"t"}]}`)},
		Removed: []string{gone}, Allocations: []*api.Allocation{sampleAllocation(a, runningSince(1)), sampleAllocation(b, nil)},
	})
	if err != nil {
		t.Fatal(err)
	}
	frame = append(append(SignOfLife[:1:1], frame...), SignOfLife...)
	r := bufio.NewReader(bytes.NewReader(frame))

	if m, err := ReadFrame(r); m != nil || err != nil {
		t.Errorf("a sign of life was read as %+v, %v", m, err)
	}
	got, err := ReadFrame(r)
	if err != nil {
		t.Fatal(err)
	}
	want := &api.NodeAllocations{Complete: true, Index: 12, ClusterID: "c", Removed: []string{gone}, Jobs: []*api.Job{{ID: "web", Version: 7}},
		HasPrefetches: true, Prefetches: []*api.Prefetch{{JobID: "web", JobVersion: 7, Pins: []*api.PrefetchPin{{Task: "t"}}}}}
	for id, states := range map[string]map[string]*api.TaskState{a: runningSince(1), b: nil} {
		alloc := sampleAllocation(id, states)
		alloc.Job, alloc.Metrics = nil, nil
		want.Allocations = append(want.Allocations, &api.NodeAllocation{Allocation: alloc, JobVersion: 7, JobCreateIndex: sampleAllocation(a, nil).Job.CreateIndex})
	}
	if want.Allocations[0].ID != a {
		want.Allocations[0], want.Allocations[1] = want.Allocations[1], want.Allocations[0]
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the message changed on its way (-want +got):\n%s", diff)
	}
	if m, err := ReadFrame(r); m != nil || err != nil {
		t.Errorf("a sign of life was read as %+v, %v", m, err)
	}
	if _, err := ReadFrame(r); !errors.Is(err, io.EOF) {
		t.Errorf("at the end: %v, want EOF", err)
	}
	for cut := 2; cut < len(frame)-1; cut++ {
		r := bufio.NewReader(bytes.NewReader(frame[1:cut]))
		if m, err := ReadFrame(r); err == nil {
			t.Fatalf("a stream that was cut at %d gave %+v", cut, m)
		}
	}
}

// TestFramesOfVersion1 guards the bytes on the wire: agents and servers of different
// versions exchange them. Add a file for a new version, and never change one.
func TestFramesOfVersion1(t *testing.T) {
	const a, b, c, gone = "6a1f0d0e-1111-4222-8333-444455556666", "6a1f0d0e-1111-4222-8333-444455557777", "6a1f0d0e-1111-4222-8333-444455558888", "not-a-uuid"
	read := func(name string) []byte {
		data, err := os.ReadFile(filepath.Join("testdata", name))
		if err != nil {
			t.Fatal(err)
		}
		return data
	}
	frame, err := AppendFrame(nil, &Message{
		Complete: true, Index: 12, ClusterID: "c", Timeline: "t", Rewound: true, Jobs: [][]byte{[]byte(`{"ID":"web","Version":7}`)},
		Removed: []string{gone, a}, Allocations: []*api.Allocation{sampleAllocation(a, runningSince(1)), sampleAllocation(b, nil)},
	})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(read("frame-v1.bin"), frame); diff != "" {
		t.Errorf("the bytes of a frame (-want +got):\n%s", diff)
	}
	shared := runningSince(2)
	report, err := EncodeReport([]*api.Allocation{sampleAllocation(a, shared), sampleAllocation(b, shared), sampleAllocation(c, runningSince(3))})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(read("report-v1.bin"), report); diff != "" {
		t.Errorf("the bytes of a report (-want +got):\n%s", diff)
	}
}

func TestReportsHoldWhatNodesMaySay(t *testing.T) {
	const a, b, c = "6a1f0d0e-1111-4222-8333-444455556666", "6a1f0d0e-1111-4222-8333-444455557777", "6a1f0d0e-1111-4222-8333-444455558888"
	shared := runningSince(2)
	body, err := EncodeReport([]*api.Allocation{sampleAllocation(a, shared), sampleAllocation(b, shared), sampleAllocation(c, runningSince(3))})
	if err != nil {
		t.Fatal(err)
	}
	got, err := DecodeReport(body)
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []struct {
		id     string
		states map[string]*api.TaskState
	}{{a, shared}, {b, shared}, {c, runningSince(3)}} {
		full := sampleAllocation(want.id, nil)
		only := &api.Allocation{ID: want.id, ClientStatus: full.ClientStatus, DeploymentStatus: full.DeploymentStatus, LaunchStatus: full.LaunchStatus, TaskStates: want.states}
		if diff := cmp.Diff(only, got[i]); diff != "" {
			t.Errorf("allocation %d (-want +got):\n%s", i, diff)
		}
	}
	if got[0].TaskStates["main"] != got[1].TaskStates["main"] || got[1].TaskStates["main"] == got[2].TaskStates["main"] {
		t.Error("tasks' states are shared otherwise than they were written")
	}
}

// FuzzReadFrame reads bytes that no server wrote.
func FuzzReadFrame(f *testing.F) {
	frame, err := AppendFrame(nil, &Message{Index: 1, Allocations: []*api.Allocation{sampleAllocation("6a1f0d0e-1111-4222-8333-444455556666", runningSince(1))}})
	if err != nil {
		f.Fatal(err)
	}
	f.Add(frame)
	f.Add(SignOfLife)
	f.Fuzz(func(t *testing.T, data []byte) {
		if m, err := ReadFrame(bufio.NewReader(bytes.NewReader(data))); m != nil && err != nil {
			t.Error("a message and an error")
		}
		if allocations, err := DecodeReport(data); allocations != nil && err != nil {
			t.Error("a report and an error")
		}
	})
}
