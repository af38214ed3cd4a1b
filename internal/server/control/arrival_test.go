// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package control_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/server/control"
	"github.com/reeve-run/reeve/internal/state"
)

// arrivals drives the controller of arriving nodes by the store's feed.
type arrivals struct {
	*world
	c       control.Controller
	feed    *state.Subscription
	now     time.Time
	index   uint64 // of the newest batch taken in
	touched bool
}

func newArrivals(t *testing.T, jobs ...*api.Job) *arrivals {
	t.Helper()
	a := &arrivals{world: newWorld(t), c: control.NewArrival(), now: t0}
	for _, job := range jobs {
		a.apply(&state.RegisterJob{Job: job})
	}
	a.feed = a.store.Subscribe()
	t.Cleanup(a.feed.Close)
	a.c.All(a.store.Snapshot())
	a.index = a.store.Index()
	return a
}

// evaluated takes in what changed, lets the controller act, and names the jobs
// that it has evaluated.
func (a *arrivals) evaluated() (jobs []string) {
	a.Helper()
	for a.index < a.store.Index() {
		b, err := a.feed.Next(a.Context())
		if err != nil {
			a.Fatal(err)
		}
		a.index = b.Index
		for i := range b.Changes {
			a.c.Touched(&b.Changes[i], func(string) { a.touched = true })
		}
	}
	a.now = a.now.Add(time.Second)
	if !a.touched {
		return nil
	}
	a.touched = false
	cmds, _ := a.c.Act(a.store.Snapshot(), "arrivals", a.now)
	a.apply(cmds...)
	for _, cmd := range cmds {
		for _, e := range cmd.(*state.PutEvaluations).Evaluations {
			jobs = append(jobs, e.JobID)
		}
	}
	return jobs
}

// finish ends the job's pending evaluations, worked out on a state.
func (a *arrivals) finish(job string, snapshot uint64) {
	a.Helper()
	var done []*api.Evaluation
	for e := range a.store.Snapshot().EvaluationsByJob("default", job) {
		if e.Status == api.EvalStatusPending {
			e = e.Copy()
			e.Status, e.SnapshotIndex = api.EvalStatusComplete, snapshot
			done = append(done, e)
		}
	}
	a.apply(&state.PutEvaluations{Evaluations: done})
}

func systemJob(id, kind, datacenter string) *api.Job {
	return &api.Job{ID: id, Namespace: "default", Type: kind, NodePool: api.NodePoolAll, Datacenters: []string{datacenter},
		SubmitTime: t0.UnixNano(), Groups: []*api.Group{{Name: "g"}}}
}

func readyNode(i int, datacenter string) *state.RegisterNode {
	id := fmt.Sprintf("n%05d", i)
	return &state.RegisterNode{Node: &api.Node{ID: id, Name: id, Datacenter: datacenter, NodePool: "default",
		Status: api.NodeStatusReady, ComputedClass: "c"}}
}

func TestNodesThatComeTogetherMakeOneEvaluationPerJob(t *testing.T) {
	a := newArrivals(t, systemJob("logs", api.JobTypeSystem, "dc1"), systemJob("scan", api.JobTypeSysBatch, "*"),
		systemJob("west", api.JobTypeSystem, "dc2"), systemJob("web", api.JobTypeService, "*"))
	made := 0
	for i := range 10_000 {
		a.apply(readyNode(i, "dc1"))
		if i%100 == 0 {
			made += len(a.evaluated())
		}
	}
	if made != 2 {
		t.Errorf("10000 nodes of dc1 made %d evaluations while the first were pending, want one each of logs and scan", made)
	}
	a.evaluated()
	a.finish("logs", a.store.Index()/2) // worked out before the last ones came
	a.finish("scan", a.store.Index())
	if got := fmt.Sprint(a.evaluated()); got != "[logs]" {
		t.Errorf("after the evaluations ended %s are evaluated, want only logs, which has not seen all nodes", got)
	}
	a.finish("logs", a.store.Index())
	if got := a.evaluated(); got != nil {
		t.Errorf("nothing came, and %v are evaluated", got)
	}
}

func TestNodeThatBecomesEligibleOrChangesIsLookedAt(t *testing.T) {
	a := newArrivals(t, systemJob("logs", api.JobTypeSystem, "*"))
	step := func(what string, want int, cmd state.Command) {
		t.Helper()
		a.apply(cmd)
		if got := len(a.evaluated()); got != want {
			t.Errorf("%s: %d evaluations, want %d", what, got, want)
		}
		a.finish("logs", a.store.Index())
		a.evaluated()
	}
	step("a node registers", 1, readyNode(1, "dc1"))
	step("it registers again unchanged", 0, readyNode(1, "dc1"))
	step("it becomes ineligible", 0, &state.SetNodeEligibility{NodeID: "n00001", Eligibility: api.NodeIneligible})
	step("it becomes eligible", 1, &state.SetNodeEligibility{NodeID: "n00001", Eligibility: api.NodeEligible})
	other := readyNode(1, "dc1")
	other.Node.ComputedClass = "d"
	step("it is of another class", 1, other)
	withVolume := readyNode(1, "dc1")
	withVolume.Node.ComputedClass = "d"
	withVolume.Node.HostVolumes = map[string]*api.HostVolumeInfo{"data": {Path: "/srv/data"}}
	step("it offers a host volume", 1, withVolume)
	again := readyNode(1, "dc1")
	again.Node.ComputedClass, again.Node.HostVolumes = "d", map[string]*api.HostVolumeInfo{"data": {Path: "/srv/data"}}
	step("it offers the same host volume", 0, again)
	step("its drain begins", 0, &state.SetNodeDrain{NodeID: "n00001", Strategy: &api.DrainStrategy{}})
	step("its drain is cancelled", 1, &state.SetNodeDrain{NodeID: "n00001", Status: api.DrainStatusCanceled, MarkEligible: true})
	step("it goes down", 0, &state.UpdateNodeStatus{NodeID: "n00001", Status: api.NodeStatusDown})
	step("it comes back", 1, &state.UpdateNodeStatus{NodeID: "n00001", Status: api.NodeStatusReady})
}

func TestNewLeaderLooksForWhatNoEvaluationHasSeen(t *testing.T) {
	a := newArrivals(t, systemJob("logs", api.JobTypeSystem, "*"))
	a.apply(readyNode(1, "dc1"))
	next := control.NewArrival()
	keys := next.All(a.store.Snapshot())
	cmds, _ := next.Act(a.store.Snapshot(), keys[0], t0)
	if len(cmds) != 1 {
		t.Fatalf("a new leader proposes %d commands, want the evaluation that the old one did not make", len(cmds))
	}
	a.apply(cmds...)
	a.finish("logs", a.store.Index())
	again := control.NewArrival()
	again.All(a.store.Snapshot())
	if cmds, _ := again.Act(a.store.Snapshot(), keys[0], t0); len(cmds) != 0 {
		t.Errorf("one after it proposes %v, want nothing: all is seen", cmds)
	}
}
