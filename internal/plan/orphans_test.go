// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package plan_test

import (
	"slices"
	"testing"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/plan"
	"github.com/reeve-run/reeve/internal/plan/view"
	"github.com/reeve-run/reeve/internal/state"
)

// orphanage is a store with a node that brought orphans of the job "web".
type orphanage struct {
	*testing.T
	store *state.Store
	now   time.Time
}

func orphanJob(count int, env string) *api.Job {
	j := &api.Job{ID: "web", Name: "web", Type: api.JobTypeService, Groups: []*api.Group{{Name: "web", Count: &count, Tasks: []*api.Task{
		{Name: "t", Driver: "mock", Env: map[string]string{"V": env}},
	}}}}
	j.Canonicalize()
	return j
}

func newOrphanage(t *testing.T, count int) *orphanage {
	o := &orphanage{t, state.New(), time.Unix(1000, 0)}
	o.apply(&state.BeginCluster{ID: "c"}, &state.RegisterNode{Node: &api.Node{ID: "n", Name: "n", Status: api.NodeStatusReady}})
	adopt := &state.AdoptAllocations{NodeID: "n", Time: 5}
	for i := range count {
		adopt.Allocations = append(adopt.Allocations, &api.Allocation{
			ID: string(rune('a' + i)), Namespace: "default", JobID: "web", Group: "web", Name: api.AllocName("web", "web", i), Job: orphanJob(count, "1"),
			DesiredStatus: api.AllocDesiredRun, ClientStatus: api.AllocClientRunning,
		})
	}
	o.apply(adopt)
	return o
}

func (o *orphanage) apply(cmds ...state.Command) {
	o.Helper()
	for _, err := range o.store.Apply(o.store.Index()+1, cmds) {
		if err != nil {
			o.Fatal(err)
		}
	}
}

// want works the job out and compares what happens to whom.
func (o *orphanage) want(when string, taken, stopped []string, started int) *plan.Result {
	o.Helper()
	snap := o.store.Snapshot()
	job := snap.Job("default", "web")
	r := plan.Reconcile(snap, job, &api.Evaluation{ID: "e", Namespace: "default", JobID: "web"}, o.now)
	var updates, stops []string
	for _, a := range r.Update {
		if a.Orphan || a.Job != job {
			o.Errorf("%s: %s is updated, and is still an orphan", when, a.ID)
		}
		updates = append(updates, a.ID)
	}
	for _, s := range r.Stop {
		stops = append(stops, s.Alloc.ID)
	}
	for _, s := range r.Start {
		if s.Replaces != nil {
			stops = append(stops, s.Replaces.Alloc.ID)
		}
	}
	slices.Sort(updates)
	slices.Sort(stops)
	if !slices.Equal(updates, taken) || !slices.Equal(stops, stopped) || len(r.Start) != started {
		o.Errorf("%s: %v are taken over, %v stopped, %d started; want %v, %v, %d", when, updates, stops, len(r.Start), taken, stopped, started)
	}
	return r
}

func TestOrphansOfAnUnknownJobStopOnlyInAFreshDomain(t *testing.T) {
	o := newOrphanage(t, 3)
	o.want("stale", nil, nil, 0)
	o.apply(&state.PutDomain{FreshUntil: o.now.Add(time.Second).UnixNano()})
	r := o.want("fresh", nil, []string{"a", "b", "c"}, 0)
	if why := r.Stop[0].Description; why != "no registered job specifies it, and its domain is fresh" {
		t.Errorf("they stop because %q", why)
	}
	o.now = o.now.Add(time.Second)
	o.want("fresh no more", nil, nil, 0)
	yes := true
	o.apply(&state.SetTransition{AllocationIDs: []string{"b"}, Transition: api.DesiredTransition{Migrate: &yes}})
	o.want("one is told to", nil, []string{"b"}, 0)
}

func TestTheSameJobTakesItsOrphansOver(t *testing.T) {
	o := newOrphanage(t, 3)
	o.apply(&state.RegisterJob{Job: orphanJob(3, "1")})
	o.want("the same", []string{"a", "b", "c"}, nil, 0)

	o = newOrphanage(t, 3)
	o.apply(&state.RegisterJob{Job: orphanJob(2, "1")})
	o.want("fewer", []string{"a", "b"}, nil, 0)
	o.apply(&state.PutDomain{})
	o.want("fewer in a fresh domain", []string{"a", "b"}, []string{"c"}, 0)
	o.apply(&state.EndFreshness{All: true}, &state.DeregisterJob{Namespace: "default", ID: "web"})
	o.want("stopped by its owner", nil, []string{"a", "b", "c"}, 0)
}

func TestAnotherJobOfThatNameLeavesThemUntilItsDomainIsFresh(t *testing.T) {
	o := newOrphanage(t, 2)
	o.apply(&state.RegisterJob{Job: orphanJob(2, "2")})
	if r := o.want("stale", nil, nil, 2); len(r.Stop) != 0 {
		t.Errorf("it stops %v", r.Stop)
	}
	o.apply(&state.PutDomain{})
	o.want("fresh", nil, []string{"a"}, 1) // one after the other, as update says
}

func TestOrphansThatGoOnAreInstances(t *testing.T) {
	o := newOrphanage(t, 4)
	shown := func(when string, want ...string) {
		t.Helper()
		snap := o.store.Snapshot()
		var got []string
		for _, in := range view.Instances(snap, api.NamespacedID{Namespace: "default", ID: "web"}, snap.Job("default", "web"), o.now) {
			word := in.Name + " " + in.State
			if in.Orphan {
				word += " orphan"
			}
			got = append(got, word)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: instances are %q, want %q", when, got, want)
		}
	}
	shown("of no job", "web-0 RUNNING orphan", "web-1 RUNNING orphan", "web-2 RUNNING orphan", "web-3 RUNNING orphan")
	o.apply(&state.RegisterJob{Job: orphanJob(2, "2")})
	shown("of another job", "web-0 UNCLAIMED", "web-0 RUNNING orphan", "web-1 UNCLAIMED", "web-1 RUNNING orphan", "web-2 RUNNING orphan", "web-3 RUNNING orphan")
}
