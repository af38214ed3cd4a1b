// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package broker_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/state"
)

func blocked(id, job string, classes map[string]bool) *api.Evaluation {
	e := eval(id, job, 50)
	e.Status, e.TriggeredBy, e.ClassEligibility = api.EvalStatusBlocked, api.TriggerQueuedAllocs, classes
	return e
}

func node(id, class string) *api.Node {
	return &api.Node{
		ID: id, Name: id, ComputedClass: class,
		Status: api.NodeStatusReady, SchedulingEligibility: api.NodeEligible,
	}
}

func TestBlockedWaitsForItsClass(t *testing.T) {
	run(t, func(b *bench) {
		b.put(blocked("1", "a", map[string]bool{"x": false, "y": true}))
		b.wantNothing()
		b.apply(&state.RegisterNode{Node: node("n1", "x")})
		b.wantNothing() // that class was looked at, and cannot help
		b.apply(&state.RegisterNode{Node: node("n2", "y")})
		b.want("1")
	})
}

func TestBlockedIsWokenByUnknownClass(t *testing.T) {
	run(t, func(b *bench) {
		b.put(blocked("1", "a", map[string]bool{"x": false}))
		b.apply(&state.RegisterNode{Node: node("n1", "z")})
		b.want("1")
	})
}

func TestEscapedIsWokenByAnyNode(t *testing.T) {
	run(t, func(b *bench) {
		e := blocked("1", "a", map[string]bool{"x": false})
		e.EscapedComputedClass = true
		b.put(e)
		b.wantNothing()
		b.apply(&state.RegisterNode{Node: node("n1", "x")})
		b.want("1")
	})
}

func TestNodeThatTakesNothingWakesNobody(t *testing.T) {
	run(t, func(b *bench) {
		b.put(blocked("1", "a", nil))
		n := node("n1", "x")
		n.SchedulingEligibility = api.NodeIneligible
		b.apply(&state.RegisterNode{Node: n})
		b.wantNothing()
		b.apply(&state.SetNodeEligibility{NodeID: "n1", Eligibility: api.NodeEligible})
		b.want("1")
	})
}

func TestFreedRoomWakes(t *testing.T) {
	run(t, func(b *bench) {
		job := &api.Job{ID: "busy", Namespace: "default", Type: "batch"}
		b.apply(&state.RegisterNode{Node: node("n1", "x")}, &state.RegisterJob{Job: job})
		stored := b.store.Snapshot().Job("default", "busy")
		b.apply(&state.CommitPlacement{Placement: &state.Placement{
			Job: stored, Place: []*api.Allocation{{ID: "alloc", NodeID: "n1", JobID: "busy", Namespace: "default", Job: stored}},
		}})
		e := blocked("1", "a", map[string]bool{"x": true})
		e.SnapshotIndex = b.index
		b.put(e)
		b.wantNothing()
		b.apply(&state.UpdateAllocations{NodeID: "n1", Allocations: []*api.Allocation{{ID: "alloc", ClientStatus: api.AllocClientRunning}}})
		b.wantNothing()
		b.apply(&state.UpdateAllocations{NodeID: "n1", Allocations: []*api.Allocation{{ID: "alloc", ClientStatus: api.AllocClientComplete}}})
		b.want("1")
	})
}

func TestAnAllocationThatStartedWakesWhereStartsAreBounded(t *testing.T) {
	for _, limit := range []int{0, 1} {
		run(t, func(b *bench) {
			config := api.DefaultSchedulerConfig()
			config.MaxStartingPerNode = limit
			job := &api.Job{ID: "busy", Namespace: "default", Type: "service"}
			b.apply(&state.SetSchedulerConfig{Config: config}, &state.RegisterNode{Node: node("n1", "x")}, &state.RegisterJob{Job: job})
			stored := b.store.Snapshot().Job("default", "busy")
			a := &api.Allocation{
				ID: "alloc", NodeID: "n1", JobID: "busy", Namespace: "default", Job: stored,
				ClientStatus: api.AllocClientPending, DesiredStatus: api.AllocDesiredRun,
			}
			b.apply(&state.CommitPlacement{Placement: &state.Placement{Job: stored, Place: []*api.Allocation{a}}})
			e := blocked("1", "a", map[string]bool{"x": true})
			e.SnapshotIndex = b.index
			b.put(e)
			b.wantNothing()
			b.apply(&state.UpdateAllocations{NodeID: "n1", Allocations: []*api.Allocation{{ID: "alloc", ClientStatus: api.AllocClientRunning}}})
			if limit == 0 {
				b.wantNothing()
			} else {
				b.want("1")
			}
		})
	}
}

func TestChangeDuringTheEvaluationIsNotMissed(t *testing.T) {
	run(t, func(b *bench) {
		seen := b.index
		b.apply(&state.RegisterNode{Node: node("n1", "x")})
		e := blocked("1", "a", map[string]bool{})
		e.SnapshotIndex = seen // the node came after it
		b.put(e)
		b.want("1")
	})
}

func TestBlockedRidesWithTheJobsNextEvaluation(t *testing.T) {
	run(t, func(b *bench) {
		b.put(blocked("1", "a", map[string]bool{"x": true}))
		b.put(eval("2", "a", 50))
		d := b.want("2", "1")
		if d.Blocked == nil || d.Blocked.ID != "1" {
			b.Fatalf("Blocked = %v, want evaluation 1", d.Blocked)
		}
		b.broker.Ack(d, d.Blocked) // could not place it either
		b.wantNothing()
		b.apply(&state.RegisterNode{Node: node("n1", "x")})
		b.want("1")
	})
}

func TestOneBlockedEvaluationPerJob(t *testing.T) {
	run(t, func(b *bench) {
		b.put(blocked("1", "a", map[string]bool{"x": true}))
		b.put(blocked("2", "a", map[string]bool{"x": true}))
		synctest.Wait()
		if e := b.store.Snapshot().Evaluation("1"); e.Status != api.EvalStatusCanceled {
			b.Errorf("the older one is %s, want it canceled", e.Status)
		}
		b.apply(&state.RegisterNode{Node: node("n1", "x")})
		b.want("2")
		b.wantNothing()
	})
}

func TestBlockedWithATimeIsWokenByIt(t *testing.T) {
	run(t, func(b *bench) {
		e := blocked("1", "a", map[string]bool{"x": false})
		e.WaitUntil = time.Now().Add(30 * time.Second)
		b.put(e)
		b.wantNothing()
		time.Sleep(30 * time.Second)
		b.want("1")
	})
}

// TestBlockedThatWasDeletedIsNotKept: its worker says that it is to be kept
// only after somebody deleted it.
func TestBlockedThatWasDeletedIsNotKept(t *testing.T) {
	run(t, func(b *bench) {
		b.put(eval("1", "a", 50))
		d := b.want("1")
		kept := blocked("2", "a", map[string]bool{"x": true})
		b.put(ended(d.Evaluation), kept)
		b.apply(&state.DeleteEvaluations{IDs: []string{"2"}})
		synctest.Wait()
		b.broker.Ack(d, kept)
		b.apply(&state.RegisterNode{Node: node("n1", "x")})
		b.wantNothing()
	})
}
