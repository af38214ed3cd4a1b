// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package state

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/reeve-run/reeve/api"
)

// storedStacks returns a store with stacks of the unit shop that have the status, one per version from 1.0.0 on.
func storedStacks(t *testing.T, status string, count int) (*Store, []string) {
	t.Helper()
	s, c := New(), &DeployStacks{}
	var names []string
	for i := range count {
		stack := fullStack("shop", "1."+string(rune('0'+i))+".0", "aaaaaaa"+string(rune('a'+i)), status)
		stack.Hold, stack.Verdict = nil, nil
		c.Stacks, c.Jobs = append(c.Stacks, stack), append(c.Jobs, testJob(stack.Name))
		names = append(names, stack.Name)
	}
	must(t, s.Apply(5, []Command{throughLog(t, c)}))
	return s, names
}

func actions(v *Snapshot, kind, object string) string {
	var list []string
	for r := range v.Audit("default", kind, object) {
		list = append(list, r.Action)
	}
	return strings.Join(list, " ")
}

func apply(s *Store, c ...Command) error {
	for _, err := range s.Apply(s.Index()+1, c) {
		if err != nil {
			return err
		}
	}
	return nil
}

func TestDeployedStacksAreStoredAllOrNone(t *testing.T) {
	s, names := storedStacks(t, api.StackPending, 2)
	snap := s.Snapshot()
	for _, name := range names {
		if snap.Stack("default", name) == nil || snap.StackJob("default", name) == nil || actions(snap, api.AuditStack, name) != "pending" {
			t.Errorf("%s is stored without its job or its audit record", name)
		}
	}
	fresh := fullStack("shop", "2.0.0", "cccccccc", api.StackPending)
	existing := fullStack("shop", "1.0.0", "aaaaaaaa", api.StackPending)
	for what, c := range map[string]*DeployStacks{
		"stacks changed since":    {Index: 4, Stacks: []*api.Stack{fresh}, Jobs: []*api.Job{testJob("a")}},
		"a stack exists":          {Index: 5, Stacks: []*api.Stack{fresh, existing}, Jobs: []*api.Job{testJob("a"), testJob("b")}},
		"a stack occurs twice":    {Index: 5, Stacks: []*api.Stack{fresh, fresh}, Jobs: []*api.Job{testJob("a"), testJob("b")}},
		"a stack is missing":      {Index: 5, Stacks: []*api.Stack{fresh, nil}, Jobs: []*api.Job{testJob("a"), testJob("b")}},
		"a job is missing":        {Index: 5, Stacks: []*api.Stack{fresh, existing}, Jobs: []*api.Job{testJob("a")}},
		"neither stacks nor jobs": {Index: 5},
	} {
		if err := apply(s, throughLog(t, c)); err == nil {
			t.Errorf("%s: no error", what)
		}
	}
	if got := s.Snapshot(); got.Stack("default", fresh.Name) != nil || got.LifecycleIndex() != 5 {
		t.Errorf("rejected deployments changed stacks at index %d", got.LifecycleIndex())
	}
}

func TestAStackOutsideOfReeveIsStoredWithoutAJob(t *testing.T) {
	s, names := storedStacks(t, api.StackReady, 1)
	external := fullStack("db", "2.0.0", "dddddddd", api.StackWarming)
	external.Shape, external.Address = api.ShapeExternal, "10.0.0.7:5432"
	if err := apply(s, throughLog(t, &DeployStacks{Index: 5, Stacks: []*api.Stack{external}, Jobs: []*api.Job{nil}})); err != nil {
		t.Fatal(err)
	}
	if snap := s.Snapshot(); snap.Stack("default", external.Name) == nil || snap.StackJob("default", external.Name) != nil {
		t.Error("the stack is not stored, or it has a job")
	}
	job := testJob("web")
	job.Groups[0].Routes = []*api.Route{{Protocol: api.RouteHTTP, Host: "db.example.org", Path: "/", Port: "http"}}
	if err := apply(s, &RegisterJob{Job: job}); api.CodeOf(err) != api.CodeConflict || !strings.Contains(err.Error(), external.Name) {
		t.Errorf("a job takes the stack's host: %v", err)
	}
	taken := fullStack("web", "1.0.0", "eeeeeeee", api.StackWarming)
	taken.Shape = api.ShapeExternal
	index := s.Snapshot().LifecycleIndex()
	taken.Namespace = "nowhere"
	if err := apply(s, &DeployStacks{Index: index, Stacks: []*api.Stack{taken}, Jobs: []*api.Job{nil}}); api.CodeOf(err) != api.CodeInvalid {
		t.Errorf("a stack in an unknown namespace: %v", err)
	}
	taken.Namespace = "default"
	if err := apply(s, &RegisterJob{Job: testJob(taken.Name)}); err != nil {
		t.Fatal(err)
	}
	if err := apply(s, &DeployStacks{Index: index, Stacks: []*api.Stack{taken}, Jobs: []*api.Job{nil}}); api.CodeOf(err) != api.CodeConflict {
		t.Errorf("a stack with the name of a job: %v", err)
	}
	stored := s.Snapshot().Stack("default", external.Name)
	if err := apply(s, ForgetStack(stored)); err != nil || s.Snapshot().Stack("default", names[0]) == nil {
		t.Errorf("forget: %v", err)
	}
}

func TestFirstReadyStackOfAMajorVersionIsItsTarget(t *testing.T) {
	s, names := storedStacks(t, api.StackPending, 2)
	ready := func(name, status string) {
		t.Helper()
		stack := s.Snapshot().Stack("default", name).Copy()
		stack.Status = status
		if err := apply(s, throughLog(t, PutStack(stack))); err != nil {
			t.Fatal(err)
		}
	}
	target := func() string { return s.Snapshot().Unit("default", "shop").Targets[1] }
	ready(names[1], api.StackReady)
	ready(names[0], api.StackReady)
	if target() != names[1] {
		t.Errorf("the target is %s, want %s, which was ready first", target(), names[1])
	}
	ready(names[1], api.StackTerminated)
	ready(names[0], api.StackGarbage)
	ready(names[0], api.StackReady)
	if target() != names[0] {
		t.Errorf("the target is %s, want %s: the one before is terminated", target(), names[0])
	}
}

func TestMajorVersionHasOneRunningShift(t *testing.T) {
	s, names := storedStacks(t, api.StackReady, 3)
	put := func(id, to, status string, major uint32) error {
		shift := fullShift(id, names[0], to)
		shift.Status, shift.Major = status, major
		if old := s.Snapshot().Shift(id); old != nil {
			shift.ModifyIndex = old.ModifyIndex
		}
		return apply(s, throughLog(t, PutShift(shift)))
	}
	target := func() string { return s.Snapshot().Unit("default", "shop").Targets[1] }
	steps := []struct {
		id, to, status, target string
		major                  uint32
		code                   api.ErrorCode
	}{
		{"s1", names[1], api.ShiftRunning, names[0], 1, ""},
		{"s2", names[2], api.ShiftRunning, names[0], 1, api.CodeConflict},
		{"s3", names[2], api.ShiftRunning, names[0], 2, ""},
		{"s1", names[1], api.ShiftReversed, names[0], 1, ""},
		{"s2", names[2], api.ShiftWaiting, names[0], 1, ""},
		{"s1", names[1], api.ShiftRunning, names[0], 1, api.CodeConflict},
		{"s2", names[2], api.ShiftComplete, names[2], 1, ""},
		{"s4", names[1], api.ShiftRunning, names[2], 1, ""},
		{"s4", names[1], api.ShiftSuperseded, names[0], 1, ""},
	}
	for i, step := range steps {
		if err := put(step.id, step.to, step.status, step.major); api.CodeOf(err) != step.code {
			t.Errorf("step %d: shift %s is %s: %v, want code %q", i+1, step.id, step.status, err, step.code)
		}
		if target() != step.target {
			t.Errorf("step %d: shift %s is %s: the target is %s, want %s", i+1, step.id, step.status, target(), step.target)
		}
	}
	if got, want := actions(s.Snapshot(), api.AuditShift, "s1"), "running reversed"; got != want {
		t.Errorf("audit records of s1: %s, want %s", got, want)
	}
	if err := apply(s, throughLog(t, ForgetShift(s.Snapshot().Shift("s1")))); err != nil {
		t.Fatal(err)
	}
	if got := actions(s.Snapshot(), api.AuditShift, "s1"); got != "" {
		t.Errorf("audit records of a deleted shift: %s", got)
	}
}

func TestAnObjectKeepsItsNewestAuditRecords(t *testing.T) {
	s, names := storedStacks(t, api.StackPending, 2)
	for i := range 3 * api.AuditPerObject {
		stack := s.Snapshot().Stack("default", names[0]).Copy()
		stack.Status = []string{api.StackDeploying, api.StackWarming}[i%2]
		stack.StatusDescription, stack.StatusSince = stack.Status, at(i)
		if err := apply(s, PutStack(stack)); err != nil {
			t.Fatal(err)
		}
	}
	records := slices.Collect(s.Snapshot().Audit("default", api.AuditStack, names[0]))
	if len(records) != api.AuditPerObject || !records[len(records)-1].Time.Equal(at(3*api.AuditPerObject-1)) || !records[0].Time.Equal(at(2*api.AuditPerObject)) {
		t.Errorf("%d records from %s to %s, want the newest %d", len(records), records[0].Time, records[len(records)-1].Time, api.AuditPerObject)
	}
	if err := apply(s, ForgetStack(s.Snapshot().Stack("default", names[0]))); err != nil {
		t.Fatal(err)
	}
	snap := s.Snapshot()
	if actions(snap, api.AuditStack, names[0]) != "" || snap.StackJob("default", names[0]) != nil {
		t.Error("a forgotten stack keeps audit records or its job")
	}
	if actions(snap, api.AuditStack, names[1]) != "pending" {
		t.Error("the audit records of another stack are deleted too")
	}
}

func TestSweepNeverShortensTheTimeOfAStack(t *testing.T) {
	s, names := storedStacks(t, api.StackReady, 2)
	sweep := &SweepStacks{
		Index: 5, Sweep: api.LifecycleSweep{Time: at(10)},
		Extended: []StackExtension{{Expires: at(20), Called: true, Stacks: []string{jobName("default", names[0]), jobName("default", "gone")}}},
		Decided:  []StackDecision{{Namespace: "default", Name: names[1], ModifyIndex: 5, Expires: at(20), Verdict: api.Verdict{Kept: true}}},
	}
	if err := apply(s, throughLog(t, sweep)); err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		if got := s.Snapshot().Stack("default", name); !got.Expires.Equal(at(30)) {
			t.Errorf("%s expires at %s, want %s as before", name, got.Expires, at(30))
		}
	}
	if got := s.Snapshot().Stack("default", names[0]).CalledAt; !got.Equal(at(10)) {
		t.Errorf("called at %s, want the time of the sweep", got)
	}
}

func TestSweepMarksOnlyUnchangedStacks(t *testing.T) {
	mark := func(name string, index, modified uint64) *SweepStacks {
		return &SweepStacks{Index: index, Sweep: api.LifecycleSweep{Time: at(40)}, Decided: []StackDecision{{
			Namespace: "default", Name: name, ModifyIndex: modified, Expires: at(100), Status: api.StackGarbage, Text: "nothing uses it",
		}}}
	}
	for _, test := range []struct {
		what            string
		index, modified uint64
		want            string
	}{
		{"nothing changed", 5, 5, api.StackGarbage},
		{"another stack changed", 4, 5, api.StackReady},
		{"the stack changed", 5, 4, api.StackReady},
	} {
		s, names := storedStacks(t, api.StackReady, 2)
		must(t, s.Apply(8, []Command{throughLog(t, mark(names[0], test.index, test.modified))}))
		got := s.Snapshot().Stack("default", names[0])
		if got.Status != test.want {
			t.Errorf("%s: the stack is %s, want %s", test.what, got.Status, test.want)
		}
		if marked := test.want == api.StackGarbage; marked && (got.StatusBefore != api.StackReady || !got.Expires.Equal(at(100))) {
			t.Errorf("%s: was %q and expires at %s, want ready and the end of its grace", test.what, got.StatusBefore, got.Expires)
		}
		// The entry is applied again after a crash: the stack has changed since, so its status stays.
		before := s.Snapshot().Stack("default", names[0])
		must(t, s.Apply(9, []Command{throughLog(t, mark(names[0], test.index, test.modified))}))
		after := s.Snapshot().Stack("default", names[0])
		if after.Status != before.Status || after.StatusBefore != before.StatusBefore || after.Expires.Before(before.Expires) {
			t.Errorf("%s: the second application changed %s to %s", test.what, before.Status, after.Status)
		}
	}
}

func TestSweepIsReplayedTheSame(t *testing.T) {
	s := stackStore(t)
	var file bytes.Buffer
	if _, err := s.Snapshot().WriteTo(&file); err != nil {
		t.Fatal(err)
	}
	restored, err := Restore(&file)
	if err != nil {
		t.Fatal(err)
	}
	for _, store := range []*Store{s, restored} {
		for _, name := range []string{"SweepStacks", "DeployStacks-reason"} {
			_ = apply(store, throughLog(t, stackCommands()[name])) // a deployment of an existing stack is rejected by both
		}
	}
	sameState(t, "a restored store applies a sweep differently", s.Snapshot(), restored.Snapshot())
}

func TestLargeSweepIsCompressedInTheLog(t *testing.T) {
	sweep := &SweepStacks{Since: 5, Sweep: api.LifecycleSweep{Time: at(40)}}
	for i := range 10_000 {
		sweep.Decided = append(sweep.Decided, StackDecision{
			Namespace: "default", Name: fmt.Sprintf("unit-%d--1-0-0--%08x", i, i*2654435761), ModifyIndex: uint64(i), Expires: at(100), Text: "is stale, so callers may be unknown",
			Verdict: api.Verdict{Kept: true, Policy: api.RetainActive, Reason: api.KeptStale, Before: at(i), After: at(100), At: at(40)},
		})
	}
	entry := EncodeCommands([]Command{sweep})
	if len(entry) > 1<<20 {
		t.Errorf("the sweep takes %d bytes, want at most 1 MB", len(entry))
	}
	read, err := DecodeCommands(entry)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]Command{sweep}, read); diff != "" {
		t.Errorf("the sweep changed on its way through the log:\n%s", diff)
	}
	for _, damage := range []func([]byte) []byte{
		func(b []byte) []byte { return b[:len(b)/2] },
		func(b []byte) []byte { b[len(b)/2] ^= 0xff; return b },
	} {
		d := documentCommand(sweep).GetDocument()
		d.JsonDeflated = damage(d.JsonDeflated)
		if _, err := decodeDocument(d); err == nil {
			t.Error("a damaged sweep was read without an error")
		}
	}
}

func TestTerminatedStackIsNotSwept(t *testing.T) {
	s, names := storedStacks(t, api.StackTerminated, 1)
	sweep := &SweepStacks{
		Index: 5, Sweep: api.LifecycleSweep{Time: at(40)}, Extended: []StackExtension{{Expires: at(99), Stacks: []string{jobName("default", names[0])}}},
		Decided: []StackDecision{{Namespace: "default", Name: names[0], ModifyIndex: 5, Expires: at(100), Status: api.StackGarbage, Remove: true}},
	}
	if err := apply(s, throughLog(t, sweep)); err != nil {
		t.Fatal(err)
	}
	if got := s.Snapshot().Stack("default", names[0]); got.ModifyIndex != 5 {
		t.Errorf("a sweep changed a terminated stack: %s, expires at %s", got.Status, got.Expires)
	}
}
