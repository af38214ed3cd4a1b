// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package state

import (
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/reeve-run/reeve/api"
)

func startingJob(id string) *api.Job {
	j := testJob(id)
	j.Type, j.SubmitTime = api.JobTypeBatch, 100
	return j
}

func periodicJob(id, spec string) *api.Job {
	j := startingJob(id)
	j.Periodic = &api.Periodic{Specs: []string{spec}}
	return j
}

func parameterizedJob(id string) *api.Job {
	j := startingJob(id)
	j.Parameterized = &api.Parameterized{Payload: api.PayloadOptional}
	j.Meta = map[string]string{"owner": "ops", "size": "small"}
	return j
}

// launched is a store, and what to begin its test with.
type launched struct {
	*testing.T
	*Store
}

func newLaunched(t *testing.T, jobs ...*api.Job) launched {
	l := launched{t, New()}
	for _, j := range jobs {
		l.do(&RegisterJob{Job: j})
	}
	return l
}

func (l launched) do(c Command) error { return l.Apply(l.Index()+1, []Command{c})[0] }

// launch applies the command with the parent's index as it is.
func (l launched) launch(c LaunchJob) error {
	c.Namespace = "default"
	if c.ParentIndex == 0 {
		c.ParentIndex = l.Snapshot().Job("default", c.ParentID).JobModifyIndex
	}
	if !c.Skip {
		c.Evaluation = &api.Evaluation{ID: api.NewID(), Namespace: "default", JobID: c.ID, Status: api.EvalStatusPending}
	}
	return l.do(&c)
}

func (l launched) wantRefused(c LaunchJob, words string) {
	l.Helper()
	before := dumpOf(l.Snapshot())
	err := l.launch(c)
	if err == nil || !strings.Contains(err.Error(), words) {
		l.Errorf("launch %s: error %v, want one with %q", c.ID, err, words)
	}
	after := dumpOf(l.Snapshot())
	before.Index = after.Index
	if diff := cmp.Diff(before.text(l), after.text(l)); diff != "" {
		l.Errorf("a refused launch changed something:\n%s", diff)
	}
}

func TestLaunchMakesAChildAndItsEvaluation(t *testing.T) {
	l := newLaunched(t, parameterizedJob("import"))
	err := l.launch(LaunchJob{
		ParentID: "import", ID: "import/dispatch-1-a", Time: 200, Priority: 80,
		Meta: map[string]string{"size": "big", "day": "monday"}, Payload: []byte("input"), IdempotencyToken: "once",
	})
	if err != nil {
		t.Fatal(err)
	}
	v := l.Snapshot()
	parent, child := v.Job("default", "import"), v.Job("default", "import/dispatch-1-a")
	want := *parent
	want.ID, want.Name, want.ParentID, want.Dispatched = "import/dispatch-1-a", "import/dispatch-1-a", "import", true
	want.Payload, want.DispatchIdempotencyToken, want.Priority = []byte("input"), "once", 80
	want.Meta = map[string]string{"owner": "ops", "size": "big", "day": "monday"}
	want.Status, want.SubmitTime = api.JobStatusPending, 200
	want.CreateIndex, want.ModifyIndex, want.JobModifyIndex = v.Index(), v.Index(), v.Index()
	if diff := cmp.Diff(&want, child); diff != "" {
		t.Errorf("the child (-want +got):\n%s", diff)
	}
	if &child.Groups[0] != &parent.Groups[0] {
		t.Error("the child has groups of its own")
	}
	evals := slices.Collect(v.EvaluationsByJob("default", child.ID))
	if len(evals) != 1 || evals[0].CreateIndex != child.CreateIndex {
		t.Errorf("evaluations of the child: %v, want one of the same entry", evals)
	}
	if got := v.JobSummary("default", "import").Children; *got != (api.JobChildrenSummary{Pending: 1}) {
		t.Errorf("the parent counts %+v", got)
	}
}

func TestLaunchIsRefused(t *testing.T) {
	stopped := periodicJob("stopped", "@daily")
	l := newLaunched(t, startingJob("plain"), periodicJob("nightly", "@daily"), parameterizedJob("import"), stopped)
	must(t, l.Apply(l.Index()+1, []Command{&DeregisterJob{Namespace: "default", ID: "stopped"}}))
	if err := l.launch(LaunchJob{ParentID: "nightly", ID: "nightly/periodic-10", Due: 10}); err != nil {
		t.Fatal(err)
	}
	if err := l.launch(LaunchJob{ParentID: "import", ID: "import/dispatch-1", IdempotencyToken: "once"}); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		c    LaunchJob
		want string
	}{
		{LaunchJob{ParentID: "plain", ID: "x"}, "neither periodic nor parameterized"},
		{LaunchJob{ParentID: "stopped", ID: "x"}, "is stopped"},
		{LaunchJob{ParentID: "nightly", ID: "x", ParentIndex: 99}, "changed meanwhile"},
		{LaunchJob{ParentID: "nightly", ID: "x", Due: 10}, "started for that time already"},
		{LaunchJob{ParentID: "nightly", ID: "x", Due: 5}, "started for that time already"},
		{LaunchJob{ParentID: "nightly", ID: "x", Due: 20, Exclusive: true}, "has not ended"},
		{LaunchJob{ParentID: "nightly", ID: "nightly/periodic-10"}, "exists already"},
		{LaunchJob{ParentID: "import", ID: "x", IdempotencyToken: "once"}, "idempotency token"},
	} {
		l.wantRefused(tt.c, tt.want)
	}
}

func TestADueTimeIsDealtWithOnce(t *testing.T) {
	l := newLaunched(t, periodicJob("nightly", "@daily"))
	due := func(n int64, skip bool) error {
		return l.launch(LaunchJob{ParentID: "nightly", ID: fmt.Sprintf("nightly/periodic-%d", n), Due: n, Time: n, Skip: skip})
	}
	want := func(since, last, skipped int64, children int) {
		t.Helper()
		got := l.Snapshot().Launches("default", "nightly")
		if diff := cmp.Diff(Launches{unixNano(since), unixNano(last), unixNano(skipped)}, got); diff != "" {
			t.Errorf("launches (-want +got):\n%s", diff)
		}
		n := 0
		for range l.Snapshot().JobsPrefix("default", "nightly/") {
			n++
		}
		if n != children {
			t.Errorf("%d children, want %d", n, children)
		}
	}
	want(100, 0, 0, 0)
	for i, skip := range []bool{false, true, false} {
		if err := due(int64(i+1), skip); err != nil {
			t.Fatal(err)
		}
	}
	want(100, 3, 2, 2)
	// Asked for in the very second that is due next: it counts for both.
	if err := l.launch(LaunchJob{ParentID: "nightly", ID: "nightly/periodic-4", Time: 4}); err != nil {
		t.Fatal(err)
	}
	if err := due(4, false); err != nil {
		t.Fatal(err)
	}
	want(100, 4, 2, 3)

	same := periodicJob("nightly", "@daily")
	same.SubmitTime = 500
	must(t, l.Apply(l.Index()+1, []Command{&RegisterJob{Job: same}}))
	want(100, 4, 2, 3)
	other := periodicJob("nightly", "@hourly")
	other.SubmitTime = 600
	must(t, l.Apply(l.Index()+1, []Command{&RegisterJob{Job: other}}))
	want(600, 4, 2, 3)
	must(t, l.Apply(l.Index()+1, []Command{&DeregisterJob{Namespace: "default", ID: "nightly", Time: 700}}))
	want(0, 0, 0, 3)
}

func TestLaunchesSurviveASnapshot(t *testing.T) {
	import_ := parameterizedJob("import")
	import_.Groups[0].Scaling = &api.Scaling{Max: ptr(int64(100))}
	l := newLaunched(t, import_, periodicJob("nightly", "@daily"))
	for i := range 3 {
		for _, c := range []LaunchJob{
			{ParentID: "nightly", ID: fmt.Sprintf("nightly/periodic-%d", i+1), Due: int64(i + 1)},
			{ParentID: "import", ID: fmt.Sprintf("import/dispatch-%d", i), Meta: map[string]string{"n": fmt.Sprint(i)}, IdempotencyToken: fmt.Sprint("t", i)},
		} {
			if err := l.launch(c); err != nil {
				t.Fatal(err)
			}
		}
		if i == 1 { // a version that only its children are made from
			next := parameterizedJob("import")
			next.Groups[0].Count = ptr(7)
			must(t, l.Apply(l.Index()+1, []Command{&RegisterJob{Job: next}}))
		}
	}
	restored, err := Restore(newPipe(l.Snapshot()))
	if err != nil {
		t.Fatal(err)
	}
	sameState(t, "a restored state with children", l.Snapshot(), restored.Snapshot())
	v := restored.Snapshot()
	versions := v.JobVersions("default", "import")
	for i, parent := range []*api.Job{versions[1], versions[1], versions[0]} {
		child := v.Job("default", fmt.Sprintf("import/dispatch-%d", i))
		if &child.Groups[0] != &parent.Groups[0] {
			t.Errorf("child %d has groups of its own after a restore", i)
		}
	}
	if got := v.Dispatched("default", "import", "t1"); got == nil || got.ID != "import/dispatch-1" {
		t.Errorf("token t1 finds %v", got)
	}
	must(t, restored.Apply(restored.Index()+1, []Command{&DeregisterJob{Namespace: "default", ID: "import/dispatch-1", Purge: true}}))
	if got := restored.Snapshot().Dispatched("default", "import", "t1"); got != nil {
		t.Errorf("token t1 finds %s, which was purged", got.ID)
	}
}

// TestChildrenAreSmall bounds what a dispatched job of a large parent costs:
// memory with its evaluation, and bytes of log and snapshot.
func TestChildrenAreSmall(t *testing.T) {
	parent := parameterizedJob("import")
	parent.Groups[0].Tasks[0].Env = map[string]string{"PADDING": strings.Repeat("x", 50_000)}
	l := newLaunched(t, parent)
	const n = 5000
	var logged int
	before := heap()
	for i := range n {
		id := fmt.Sprintf("import/dispatch-1800000000-%08x", i)
		c := &LaunchJob{
			Namespace: "default", ParentID: "import", ParentIndex: 1, ID: id, Time: time.Now().UnixNano(),
			Evaluation: &api.Evaluation{ID: api.NewID(), Namespace: "default", JobID: id, Status: api.EvalStatusPending, Priority: 50},
		}
		logged += len(EncodeCommands([]Command{c}))
		must(t, l.Apply(l.Index()+1, []Command{c}))
	}
	used := int(heap() - before)
	snapshot := newPipe(l.Snapshot()).Len()
	t.Logf("a child: %d B in memory, %d B of log, %d B of snapshot", used/n, logged/n, snapshot/n)
	if used/n > 8<<10 || logged/n > 300 || snapshot/n > 2500 {
		t.Errorf("a child takes %d B of memory, %d B of log, %d B of snapshot", used/n, logged/n, snapshot/n)
	}
	runtime.KeepAlive(l)
}
