// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package control_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/server/control"
	"github.com/reeve-run/reeve/internal/state"
)

// convergeStore holds jobs with so many instances each, on nodes.
func convergeStore(t testing.TB, jobs, each, nodes int) *state.Store {
	store := state.New()
	for n := range nodes {
		applyTo(t, store, &state.RegisterNode{Node: &api.Node{ID: fmt.Sprintf("node-%d", n), Status: api.NodeStatusReady}})
	}
	for j := range jobs {
		id := fmt.Sprintf("job-%d", j)
		applyTo(t, store, &state.RegisterJob{Job: &api.Job{
			ID: id, Namespace: "default", Type: api.JobTypeService, Groups: []*api.Group{{Name: "g", Count: &each}},
		}})
		p := &state.Placement{EvalID: id, Job: store.Snapshot().Job("default", id), Time: 5}
		p.Evaluations = []*api.Evaluation{{ID: id, Namespace: "default", JobID: id, Type: api.JobTypeService, Status: api.EvalStatusComplete}}
		for i := range each {
			p.Place = append(p.Place, &api.Allocation{
				ID: api.NewID(), Group: "g", EvalID: id, NodeID: fmt.Sprintf("node-%d", (j+i)%nodes), Name: api.AllocName(id, "g", i), ClientStatus: api.AllocClientRunning,
			})
		}
		applyTo(t, store, &state.CommitPlacement{Placement: p})
	}
	return store
}

func applyTo(t testing.TB, store *state.Store, cmds ...state.Command) {
	t.Helper()
	for i, err := range store.Apply(store.Index()+1, cmds) {
		if err != nil {
			t.Fatalf("%s: %v", cmds[i].Name(), err)
		}
	}
}

// found are the jobs for which an evaluation is asked.
func found(cmds []state.Command) (jobs []string) {
	for _, c := range cmds {
		for _, e := range c.(*state.PutEvaluations).Evaluations {
			jobs = append(jobs, e.JobID+" "+e.TriggeredBy)
		}
	}
	slices.Sort(jobs)
	return jobs
}

func firstOf(store *state.Store, job string) *api.Allocation {
	for a := range store.Snapshot().AllocationsByJob("default", job) {
		return a
	}
	return nil
}

func TestConvergeComparesSetsNotCounts(t *testing.T) {
	store := convergeStore(t, 3, 3, 2)
	c := control.NewConverge()
	look := func(when string, want ...string) {
		t.Helper()
		cmds, wake := c.Act(store.Snapshot(), "all", t0)
		if got := found(cmds); !slices.Equal(got, want) {
			t.Errorf("%s: %v are evaluated, want %v", when, got, want)
		}
		if wake.IsZero() {
			t.Errorf("%s: there is no next pass", when)
		}
	}
	look("nothing to do")
	// Three are held, but not the three that should be: {0, 2, 7}.
	var second *api.Allocation
	for a := range store.Snapshot().AllocationsByJob("default", "job-1") {
		if a.Index() == 1 {
			second = a
		}
	}
	applyTo(t, store, &state.Collect{Allocations: []string{second.ID}},
		&state.CommitPlacement{Placement: &state.Placement{Job: second.Job, Place: []*api.Allocation{{
			ID: api.NewID(), Group: "g", EvalID: "job-1", NodeID: "node-0", Name: "job-1.g[7]", ClientStatus: api.AllocClientRunning,
		}}}})
	look("a hole", "job-1 domain-fresh")
	// Two run where one should, as when a node is back after its instance was
	// started elsewhere. One of them is not heard of: that is none of it.
	first := firstOf(store, "job-2")
	twin := &api.Allocation{ID: api.NewID(), Group: "g", EvalID: "job-2", NodeID: "node-0", Name: first.Name, ClientStatus: api.AllocClientUnknown}
	applyTo(t, store, &state.CommitPlacement{Placement: &state.Placement{Job: first.Job, Place: []*api.Allocation{twin}}})
	look("a twin that is not heard of", "job-1 domain-fresh")
	applyTo(t, store, &state.UpdateAllocations{NodeID: "node-0", Allocations: []*api.Allocation{{ID: twin.ID, ClientStatus: api.AllocClientRunning}}})
	look("a twin", "job-1 domain-fresh", "job-2 domain-fresh")
	applyTo(t, store, &state.UpdateAllocations{NodeID: "node-0", Allocations: []*api.Allocation{{ID: twin.ID, ClientStatus: api.AllocClientComplete}}})
	// What waits for room is looked after.
	applyTo(t, store, &state.PutEvaluations{Evaluations: []*api.Evaluation{{
		ID: "b", Namespace: "default", JobID: "job-1", Status: api.EvalStatusBlocked, QueuedAllocations: map[string]int{"g": 1},
	}}})
	stopExtra(t, store, "job-1", 7)
	look("blocked")
}

// stopExtra has the allocation of an index that its job does not have end.
func stopExtra(t *testing.T, store *state.Store, job string, index int) {
	t.Helper()
	for a := range store.Snapshot().AllocationsByJob("default", job) {
		if a.Index() == index {
			applyTo(t, store, &state.UpdateAllocations{NodeID: a.NodeID, Allocations: []*api.Allocation{{ID: a.ID, ClientStatus: api.AllocClientComplete}}})
		}
	}
}

// TestConvergeFindsAHoleWhileADeploymentRuns has a hole that an evaluation would
// fill, while the deployment goes on, another group waits for room, and a third
// evaluation for its time.
func TestConvergeFindsAHoleWhileADeploymentRuns(t *testing.T) {
	store := convergeStore(t, 0, 0, 2)
	one, parallel := 1, 1
	group := func(name string) *api.Group {
		return &api.Group{Name: name, Count: &one, Update: &api.Update{MaxParallel: &parallel}, EphemeralDisk: &api.EphemeralDisk{}}
	}
	applyTo(t, store, &state.RegisterJob{Job: &api.Job{
		ID: "shop", Namespace: "default", Type: api.JobTypeService, Groups: []*api.Group{group("db"), group("web"), group("big")},
	}})
	job := store.Snapshot().Job("default", "shop")
	evaluation := func(id, status string, queued map[string]int, until time.Time) *api.Evaluation {
		return &api.Evaluation{
			ID: id, Namespace: "default", JobID: "shop", Type: job.Type, Status: status, QueuedAllocations: queued, WaitUntil: until,
		}
	}
	d := &api.Deployment{ID: "d", Namespace: "default", JobID: "shop", JobCreateIndex: job.CreateIndex, Status: api.DeploymentRunning, Groups: map[string]*api.DeploymentState{}}
	for _, g := range job.Groups {
		d.Groups[g.Name] = &api.DeploymentState{DesiredTotal: 1}
	}
	applyTo(t, store, &state.CommitPlacement{Placement: &state.Placement{
		EvalID: "e", Job: job, Deployment: d, Place: []*api.Allocation{{
			ID: api.NewID(), Group: "db", EvalID: "e", NodeID: "node-0", DeploymentID: "d", Name: "shop.db[0]", ClientStatus: api.AllocClientRunning,
		}},
		Evaluations: []*api.Evaluation{
			evaluation("e", api.EvalStatusComplete, nil, time.Time{}),
			evaluation("blocked", api.EvalStatusBlocked, map[string]int{"big": 1}, time.Time{}),
			evaluation("later", api.EvalStatusPending, nil, t0.Add(time.Hour)),
		},
	}})
	c := control.NewConverge()
	cmds, _ := c.Act(store.Snapshot(), "all", t0)
	if got, want := found(cmds), []string{"shop domain-fresh"}; !slices.Equal(got, want) {
		t.Fatalf("with a hole in web %v are evaluated, want %v", got, want)
	}
	// The other group waits for room now, too: nothing is left to be found.
	applyTo(t, store, &state.PutEvaluations{Evaluations: []*api.Evaluation{
		evaluation("blocked", api.EvalStatusBlocked, map[string]int{"big": 1, "web": 1}, time.Time{}),
	}})
	if cmds, _ := c.Act(store.Snapshot(), "all", t0); len(cmds) > 0 {
		t.Errorf("with both groups waiting for room %v are evaluated", found(cmds))
	}
}

func TestConvergeHasOrphansLookedAtWhenTheirDomainIsFresh(t *testing.T) {
	store := convergeStore(t, 1, 1, 1)
	c := control.NewConverge()
	look := func(key string, want ...string) {
		t.Helper()
		cmds, _ := c.Act(store.Snapshot(), key, t0)
		if got := found(cmds); !slices.Equal(got, want) {
			t.Errorf("%v are evaluated, want %v", got, want)
		}
	}
	orphan := func(job, domain string) *api.Allocation {
		return &api.Allocation{
			ID: api.NewID(), Namespace: "default", JobID: job, Group: "g", Name: api.AllocName(job, "g", 5), DesiredStatus: api.AllocDesiredRun,
			ClientStatus: api.AllocClientRunning, Job: &api.Job{ID: job, Namespace: "default", Domain: domain, Type: "service", Groups: []*api.Group{{Name: "g"}}},
		}
	}
	look("domains")
	applyTo(t, store, &state.AdoptAllocations{NodeID: "node-0", Allocations: []*api.Allocation{orphan("lost", "cf"), orphan("lost", "cf"), orphan("gone", "x"), orphan("job-0", "")}})
	var touched []string
	c.Touched(&state.Change{Table: state.TableAllocations, New: func() any {
		for a := range store.Snapshot().Orphans() {
			if a.JobID == "job-0" {
				return a
			}
		}
		return nil
	}()}, func(key string) { touched = append(touched, key) })
	if len(touched) != 1 {
		t.Fatalf("adopting touches %v", touched)
	}
	look(touched[0], "job-0 domain-fresh") // its job may take it over
	look("domains", "job-0 domain-fresh")
	applyTo(t, store, &state.PutDomain{Domain: "cf"})
	look("domains", "job-0 domain-fresh", "lost domain-fresh")
	applyTo(t, store, &state.PutEvaluations{Evaluations: []*api.Evaluation{
		{ID: "e1", Namespace: "default", JobID: "lost", Status: api.EvalStatusComplete, SnapshotIndex: store.Index() + 1},
		{ID: "e2", Namespace: "default", JobID: "job-0", Status: api.EvalStatusComplete, SnapshotIndex: store.Index() + 1},
	}})
	look("domains") // that was seen
}

// BenchmarkConverge is a pass over 250,000 instances on 1,000 nodes with nothing
// to do: of large jobs, and of small ones.
func BenchmarkConverge(b *testing.B) {
	for _, each := range []int{1000, 5} {
		b.Run(fmt.Sprintf("instances=%d", each), func(b *testing.B) {
			store := convergeStore(b, 250_000/each, each, 1000)
			c := control.NewConverge()
			b.ReportAllocs()
			for b.Loop() {
				if cmds, _ := c.Act(store.Snapshot(), "all", t0); len(cmds) > 0 {
					b.Fatal("something was found to do")
				}
			}
		})
	}
}

func TestConvergeCopiesNoList(t *testing.T) {
	allocations := func(each int) float64 {
		store, c := convergeStore(t, 10, each, 10), control.NewConverge()
		c.Act(store.Snapshot(), "all", t0)
		return testing.AllocsPerRun(10, func() { c.Act(store.Snapshot(), "all", t0) })
	}
	if few, many := allocations(2), allocations(2000); many > few {
		t.Errorf("a pass over a thousand times as many instances of ten jobs allocates %v times, and not %v", many, few)
	}
}
