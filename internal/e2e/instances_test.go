// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package e2e_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/client"
	"github.com/reeve-run/reeve/internal/testbed"
)

// instances lists a job's instances once a condition holds for them.
func (m *machine) instances(job, what string, ok func([]*api.Instance) bool) []*api.Instance {
	m.t.Helper()
	var found []*api.Instance
	m.eventually(job+": "+what, func(ctx context.Context) error {
		list, _, err := m.Client.Instances().List(ctx, job, nil)
		if err != nil {
			return err
		}
		if !ok(list) {
			var b strings.Builder
			for _, in := range list {
				fmt.Fprintf(&b, "\n  %s %s routable %t: %s%s", in.Name, in.State, in.Routable, in.Message, in.PlacementError)
			}
			return fmt.Errorf("instances:%s", &b)
		}
		found = list
		return nil
	})
	return found
}

// allUp is n instances, all of them RUNNING and routable.
func allUp(n int) func([]*api.Instance) bool {
	return func(list []*api.Instance) bool {
		return len(list) == n && !slices.ContainsFunc(list, func(in *api.Instance) bool { return !serves(in) })
	}
}

// TestInstancesAreToldInOrder has a job that finds no room, then gets it, crashes
// and comes back: what is listed and what the stream says are the same story.
func TestInstancesAreToldInOrder(t *testing.T) {
	m := newMachine(t)
	nodes, _, err := m.Client.Nodes().List(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := m.Client.Nodes().SetEligibility(t.Context(), nodes[0].ID, api.NodeIneligible); err != nil {
		t.Fatal(err)
	}
	job := routedJob(m.Reeve, "1")
	job.Groups[0].Count = ptr(1)
	job.Groups[0].MetricTags = map[string]*api.MetricTag{
		"app": {Static: "shop"}, "index": {Dynamic: api.MetricTagIndex}, "instance": {Dynamic: api.MetricTagInstanceID},
	}
	job.Groups[0].Restart = &api.Restart{Attempts: ptr(10), Interval: ptr(time.Hour), Delay: ptr(2 * time.Second), Mode: ptr("delay")}
	m.register(job)
	waiting := m.instances("web", "is UNCLAIMED", func(list []*api.Instance) bool {
		return len(list) == 1 && list[0].State == api.InstanceUnclaimed && list[0].PlacementError != ""
	})[0]
	if waiting.Allocation != "" || waiting.Address != "" || waiting.Ports != nil || waiting.Routable {
		t.Errorf("UNCLAIMED: %+v", waiting)
	}

	stream := m.Client.Events().Stream(t.Context(), client.EventOptions{Index: 1, Topics: map[string][]string{api.TopicInstance: {"web"}, api.TopicJob: {"web"}, api.TopicEvaluation: {"web"}}})
	type state struct{ kind, state, routable, address string }
	var got []state
	var first *api.Instance
	steps := []func(){
		func() { // it waits
			if _, err := m.Client.Nodes().SetEligibility(t.Context(), nodes[0].ID, api.NodeEligible); err != nil {
				t.Fatal(err)
			}
		},
		func() { // it is up
			first = m.instances("web", "is up", allUp(1))[0]
			if first.Address == "" || len(first.Ports) != 1 || first.Ports[0].HostPort == 0 || first.Since.IsZero() {
				t.Errorf("RUNNING: %+v", first)
			}
			if diff := cmp.Diff(map[string]string{"app": "shop", "index": "0", "instance": first.Allocation}, first.MetricTags); diff != "" {
				t.Errorf("metric tags (-want +got):\n%s", diff)
			}
			if err := syscall.Kill(m.servers()[0], syscall.SIGKILL); err != nil {
				t.Fatal(err)
			}
		},
	}
	next := func() {
		if len(steps) > 0 {
			steps[0]()
			steps = steps[1:]
		}
	}
	begun, crashed := false, false
	var seen []string
	for b, err := range stream {
		if err != nil {
			t.Fatalf("%v after %v", err, seen)
		}
		for _, e := range b.Events {
			seen = append(seen, e.Type)
			if e.Topic == api.TopicEvaluation && !begun { // it says why there is no room
				begun = true
				next()
			}
			if e.Topic != api.TopicInstance {
				continue
			}
			in := e.Payload[api.TopicInstance].(map[string]any)
			address, _ := in["Address"].(string)
			got = append(got, state{e.Type, fmt.Sprint(in["State"]), fmt.Sprint(in["Routable"]), fmt.Sprint(address != "")})
			crashed = crashed || e.Type == api.EventTypeInstanceCrashed
			if last := got[len(got)-1]; last.routable == "true" && !crashed {
				next()
			}
		}
		if last := len(got) - 1; crashed && got[last].routable == "true" {
			break
		}
	}
	got = slices.Compact(got) // it may be told anew that it is being created, or is RUNNING and not ready
	want := []state{
		{api.EventTypeInstanceCreated, api.InstanceClaimed, "false", "false"},
		{api.EventTypeInstanceChanged, api.InstanceRunning, "false", "true"},
		{api.EventTypeInstanceChanged, api.InstanceRunning, "true", "true"},
		{api.EventTypeInstanceCrashed, api.InstanceCrashed, "false", "false"},
		{api.EventTypeInstanceChanged, api.InstanceCrashed, "false", "false"},
		{api.EventTypeInstanceChanged, api.InstanceRunning, "false", "true"},
		{api.EventTypeInstanceChanged, api.InstanceRunning, "true", "true"},
	}
	// It may be seen being created, in place, between states.
	got = slices.DeleteFunc(got, func(s state) bool { return s.kind == api.EventTypeInstanceChanged && s.state == api.InstanceClaimed })
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(state{})); diff != "" {
		t.Errorf("instance events (-want +got):\n%s\nall: %v", diff, seen)
	}
	if seen[0] != api.EventTypeJobRegistered {
		t.Errorf("the stream begins with %v", seen[:min(3, len(seen))])
	}
	again := m.instances("web", "is up again", allUp(1))[0]
	if again.Allocation != first.Allocation || again.ModificationTag.Epoch != first.ModificationTag.Epoch || again.ModificationTag.Index <= first.ModificationTag.Index ||
		again.CrashCount != 1 || again.CrashReason == "" || !again.Since.After(first.Since) {
		t.Errorf("after the crash: %+v\nbefore: %+v", again, first)
	}
}

// TestKilledInstanceIsBackAtOnce kills one instance of three by its index: another
// one takes its place by event, the others go on.
func TestKilledInstanceIsBackAtOnce(t *testing.T) {
	m := newMachine(t)
	job := testbed.ShellJob("web", 3, "exec sleep 100000")
	m.register(job)
	before := m.instances("web", "all run", allUp(3))
	pids := m.pidsOf("sleep", "100000")
	var took []time.Duration
	for range 5 {
		old, _, err := m.Client.Instances().Get(t.Context(), "web", "main-1", nil)
		if err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		killed, err := m.Client.Instances().Kill(t.Context(), "web", "main-1")
		if err != nil {
			t.Fatal(err)
		}
		if killed.Killed.Allocation != old.Allocation {
			t.Errorf("killed %s, which was %s", killed.Killed.Allocation, old.Allocation)
		}
		m.instances("web", "another one runs", func(list []*api.Instance) bool {
			return allUp(3)(list) && list[1].Name == "main-1" && list[1].Allocation != old.Allocation
		})
		took = append(took, time.Since(began))
	}
	slices.Sort(took)
	t.Logf("killed -> another one RUNNING, polled every 10 ms: %v", took)
	if took[0] > 5*time.Second {
		t.Errorf("the fastest of %d kills took %s to come back", len(took), took[0])
	}
	after := m.instances("web", "all run", allUp(3))
	for _, i := range []int{0, 2} {
		if after[i].Allocation != before[i].Allocation {
			t.Errorf("%s was replaced", after[i].Name)
		}
	}
	var stay int
	for _, pid := range m.pidsOf("sleep", "100000") {
		if slices.Contains(pids, pid) {
			stay++
		}
	}
	if stay != 2 {
		t.Errorf("%d of the processes %v go on, want 2", stay, pids)
	}
	if d, _, err := m.Client.Jobs().Get(t.Context(), "web", nil); err != nil || d.Version != 0 || d.Groups[0].Size() != 3 {
		t.Errorf("the job is %+v, %v", d, err)
	}
	for name, code := range map[string]api.ErrorCode{"main-7": api.CodeNotFound, "other-0": api.CodeNotFound} {
		if _, err := m.Client.Instances().Kill(t.Context(), "web", name); api.CodeOf(err) != code || !strings.Contains(err.Error(), "main-0, main-1, main-2") {
			t.Errorf("kill %s: %v", name, err)
		}
	}
}
