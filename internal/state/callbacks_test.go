// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package state

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/reeve-run/reeve/api"
)

// calling is a batch job of two instances, with somebody to be told.
func calling(id string) *api.Job {
	j := testJob(id)
	j.Type, j.SubmitTime = api.JobTypeBatch, time.Unix(100, 0).UnixNano()
	j.Groups[0].Count = ptr(2)
	j.Callback = &api.JobCallback{URL: "http://receiver", Secret: "s", GiveUpAfter: ptr(time.Hour)}
	return j
}

func placedOf(id string, index int) *api.Allocation {
	return &api.Allocation{
		ID: id, Namespace: "default", JobID: "web", Group: "web", Name: api.AllocName("web", "web", index), NodeID: "n", NodeName: "node-1",
		DesiredStatus: api.AllocDesiredRun, ClientStatus: api.AllocClientPending,
	}
}

func ended(id, status string, state api.TaskState) *api.Allocation {
	state.State, state.Failed = api.TaskStateDead, status == api.AllocClientFailed
	return &api.Allocation{ID: id, ClientStatus: status, ClientDescription: "words", TaskStates: map[string]*api.TaskState{"server": &state}}
}

func exited(code int) []*api.TaskEvent {
	return []*api.TaskEvent{{Type: api.EventTerminated, ExitCode: code}}
}

// runningStore is a store in which both instances of a job run.
func runningStore(t *testing.T, change func(*api.Job)) *Store {
	s, j := New(), calling("web")
	change(j)
	must(t, s.Apply(1, []Command{
		&BeginCluster{ID: "c"}, &RegisterNode{Node: &api.Node{ID: "n", Name: "node-1"}}, &RegisterJob{Job: j},
	}))
	stored := s.Snapshot().Job("default", "web")
	must(t, s.Apply(2, []Command{&CommitPlacement{&Placement{
		Job: stored, Place: []*api.Allocation{placedOf("a", 0), placedOf("b", 1)}, Time: time.Unix(110, 0).UnixNano(),
	}}}))
	return s
}

func TestWhatBecameOfAJob(t *testing.T) {
	began, done := time.Unix(111, 0).UTC(), time.Unix(120, 0).UTC()
	well := func(id string) *api.Allocation {
		return ended(id, api.AllocClientComplete, api.TaskState{StartedAt: began, FinishedAt: done, Result: "r", Events: exited(0)})
	}
	refusal := ended("a", api.AllocClientFailed, api.TaskState{Events: []*api.TaskEvent{{Type: api.EventSetupFailure, FailsTask: true, SetupError: "no driver"}}})
	for name, tt := range map[string]struct {
		change  func(*api.Job)
		before  []Command
		a, b    *api.Allocation
		state   string
		why     string
		results string
	}{
		"well":     {a: well("a"), b: well("b"), state: api.CompletionComplete, results: "rr"},
		"a crash":  {a: ended("a", api.AllocClientFailed, api.TaskState{StartedAt: began, FinishedAt: done, Events: exited(3)}), b: well("b"), state: api.CompletionFailed, why: "web-0: words", results: "r"},
		"refused":  {a: refusal, b: well("b"), state: api.CompletionFailed, why: "web-0: its node refused to run it: task server: no driver", results: "r"},
		"stopped":  {before: []Command{&DeregisterJob{Namespace: "default", ID: "web", Time: 1}, &CommitPlacement{&Placement{Stop: []Stop{{ID: "a", Reason: api.ReasonJobStopped, Description: "the job was stopped"}, {ID: "b"}}, Time: 2}}}, a: ended("a", api.AllocClientComplete, api.TaskState{StartedAt: began, FinishedAt: done, Events: exited(130)}), b: well("b"), state: api.CompletionCancelled, why: "the job was stopped", results: "r"},
		"doomed":   {change: func(j *api.Job) { j.Groups[0].Count = ptr(3) }, before: []Command{&FailJob{Namespace: "default", ID: "web", JobModifyIndex: 1, Reason: "no room", Time: 3}}, a: well("a"), b: well("b"), state: api.CompletionFailed, why: "no room", results: "rr"},
		"too much": {a: well("a"), b: ended("b", api.AllocClientComplete, api.TaskState{StartedAt: began, FinishedAt: done, Result: strings.Repeat("x", api.MaxCallbackResults), Events: exited(0)}), state: api.CompletionComplete, results: "r"},
	} {
		change := tt.change
		if change == nil {
			change = func(*api.Job) {}
		}
		s := runningStore(t, change)
		if tt.before != nil {
			must(t, s.Apply(3, tt.before))
		}
		must(t, s.Apply(4, []Command{&UpdateAllocations{NodeID: "n", Allocations: []*api.Allocation{tt.a}, Time: time.Unix(130, 0).UnixNano()}}))
		if n := len(slices.Collect(s.Snapshot().CallbacksPrefix(""))); n != 0 {
			t.Errorf("%s: %d callbacks while an instance runs", name, n)
		}
		must(t, s.Apply(5, []Command{&UpdateAllocations{NodeID: "n", Allocations: []*api.Allocation{tt.b}, Time: time.Unix(131, 0).UnixNano()}}))
		all := slices.Collect(s.Snapshot().CallbacksByJob("default", "web"))
		if len(all) != 1 {
			t.Errorf("%s: %d callbacks", name, len(all))
			continue
		}
		k, c := all[0], all[0].Completion
		if c.State != tt.state || c.FailureReason != tt.why || c.Failed != (tt.state == api.CompletionFailed) {
			t.Errorf("%s: %s, failed %t: %q; want %s: %q", name, c.State, c.Failed, c.FailureReason, tt.state, tt.why)
		}
		results := ""
		for _, task := range c.Tasks {
			results += task.Result
		}
		if results != tt.results || len(c.Tasks) < 2 || name == "too much" && c.ResultsLeftOut != 1 {
			t.Errorf("%s: results %q of %d tasks, %d left out", name, results, len(c.Tasks), c.ResultsLeftOut)
		}
		if !k.IsPending() || k.CreateIndex != 5 || !k.CreatedAt.Equal(time.Unix(131, 0)) || k.GiveUpAt.Sub(k.CreatedAt) != time.Hour || c.ID != k.ID || s.Snapshot().Callback(k.ID) != k {
			t.Errorf("%s: it is %+v", name, k)
		}
		sameAfterRestore(t, s)
	}
}

func TestACallbacksLife(t *testing.T) {
	s := runningStore(t, func(*api.Job) {})
	ok := ended("a", api.AllocClientComplete, api.TaskState{Events: exited(0)})
	other := ended("b", api.AllocClientComplete, api.TaskState{Events: exited(0)})
	must(t, s.Apply(3, []Command{&UpdateAllocations{NodeID: "n", Allocations: []*api.Allocation{ok, other}, Time: 5}}))
	k := slices.Collect(s.Snapshot().CallbacksPrefix(""))[0]
	must(t, s.Apply(4, []Command{&UpdateCallback{ID: k.ID, Attempt: 1, Status: api.CallbackPending, Answer: "503", Time: 6, Next: 7}}))
	for name, c := range map[string]struct {
		cmd  *UpdateCallback
		code api.ErrorCode
	}{
		"twice":   {&UpdateCallback{ID: k.ID, Attempt: 1, Status: api.CallbackDelivered}, api.CodeConflict},
		"unknown": {&UpdateCallback{ID: "x", Attempt: 1}, api.CodeNotFound},
	} {
		if errs := s.Apply(s.Index()+1, []Command{c.cmd}); api.CodeOf(errs[0]) != c.code {
			t.Errorf("%s: %v", name, errs[0])
		}
	}
	// The job goes; what is pending stays, and goes with its end.
	must(t, s.Apply(10, []Command{&DeregisterJob{Namespace: "default", ID: "web", Purge: true, Time: 7}}))
	if is := s.Snapshot().Callback(k.ID); is == nil || is.Attempts != 1 || s.Snapshot().Job("default", "web") != nil {
		t.Fatalf("without its job the callback is %+v", is)
	}
	sameAfterRestore(t, s)
	must(t, s.Apply(11, []Command{&UpdateCallback{ID: k.ID, Attempt: 2, Status: api.CallbackDelivered, Answer: "200 OK", Time: 8}}))
	if is := s.Snapshot().Callback(k.ID); is != nil {
		t.Errorf("after its end it is %+v", is)
	}
	sameAfterRestore(t, s)
}
