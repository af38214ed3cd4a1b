// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package broker_test

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/server/broker"
	"github.com/reeve-run/reeve/internal/state"
	"github.com/reeve-run/reeve/internal/testbed/bubble"
)

// room is what is free on nodes, as a test says.
type room map[string]api.Usage

func (r room) Wait(context.Context, uint64) error { return nil }
func (r room) Free(node string) (api.Usage, bool) { u, ok := r[node]; return u, ok }

func mb(n int) api.Usage { return api.Usage{CPU: 10_000, MemoryMB: int64(n), DiskMB: 10_000} }

// runWith is run with nodes that have so much room.
func runWith(t *testing.T, free room, f func(b *bench)) {
	t.Helper()
	bubble.Test(t, func(t *testing.T) {
		b := &bench{T: t, store: state.New(), free: free}
		b.start(f)
	})
}

// waiting registers a batch job whose instances take so many MB, and blocks
// its evaluation with so many of them.
func (b *bench) waiting(id string, priority, size, count int) *api.Evaluation {
	job := &api.Job{
		ID: id, Type: api.JobTypeBatch, Priority: priority, Datacenters: []string{"*"},
		Groups: []*api.Group{{Name: "g", Tasks: []*api.Task{{Name: "t", Driver: "mock", Resources: &api.Resources{MemoryMB: &size}}}}},
	}
	job.Canonicalize()
	b.apply(&state.RegisterJob{Job: job})
	e := blocked(id, id, map[string]bool{"x": true})
	e.Priority, e.SnapshotIndex, e.QueuedAllocations = priority, b.index, map[string]int{"g": count}
	b.put(e)
	return e
}

// frees has a node say that it has room.
func (b *bench) frees(id string) { b.apply(&state.RegisterNode{Node: node(id, "x")}) }

// stays acknowledges a delivery whose evaluation could not place all, on the
// state as it is now.
func (b *bench) stays(e *api.Evaluation, id string) {
	b.Helper()
	d := b.want(id)
	kept := e.Copy()
	kept.SnapshotIndex = b.index
	b.broker.Ack(d, kept)
}

// places acknowledges a delivery whose evaluation placed all.
func (b *bench) places(id string) {
	b.Helper()
	d := b.want(id)
	b.put(ended(d.Evaluation))
	b.broker.Ack(d, nil)
}

func TestRoomWakesOnlyWhoFits(t *testing.T) {
	runWith(t, room{"n": mb(100)}, func(b *bench) {
		b.waiting("large", 90, 200, 1)
		b.waiting("small", 50, 100, 1)
		b.frees("n")
		b.want("small")
		b.wantNothing()
	})
}

func TestRoomWakesNoMoreThanItIsEnoughFor(t *testing.T) {
	runWith(t, room{"n": mb(250)}, func(b *bench) {
		for i := range 10 {
			b.waiting(fmt.Sprint("job", i), 50, 100, 1)
		}
		b.waiting("urgent", 80, 100, 1)
		b.frees("n")
		b.want("urgent")
		b.want("job0")
		b.wantNothing()
	})
}

func TestSeveralInstancesTakeSeveralShares(t *testing.T) {
	runWith(t, room{"n": mb(500)}, func(b *bench) {
		b.waiting("many", 50, 100, 4)
		b.waiting("next", 50, 100, 1)
		b.waiting("last", 50, 100, 1)
		b.frees("n")
		b.want("many")
		b.want("next")
		b.wantNothing()
	})
}

func TestWhatTheFirstLeavesIsOfferedToTheNext(t *testing.T) {
	free := room{"n": mb(100)}
	runWith(t, free, func(b *bench) {
		first := b.waiting("first", 60, 100, 1) // cannot use it, say for a port
		b.waiting("second", 50, 100, 1)
		b.waiting("third", 40, 100, 1)
		b.frees("n")
		b.stays(first, "first")
		synctest.Wait()
		d := b.want("second")
		free["n"] = mb(0) // it takes the room
		b.put(ended(d.Evaluation))
		b.broker.Ack(d, nil)
		b.wantNothing()
	})
}

func TestEverybodyLooksAtAnOfferOnce(t *testing.T) {
	runWith(t, room{"n": mb(100)}, func(b *bench) {
		first, second := b.waiting("first", 60, 100, 1), b.waiting("second", 50, 100, 1)
		b.frees("n")
		b.stays(first, "first")
		b.stays(second, "second")
		b.wantNothing()
	})
}

func TestRoomThatWasTakenMeanwhileIsNotMissed(t *testing.T) {
	free := room{"n": mb(100), "m": mb(10)}
	runWith(t, free, func(b *bench) {
		b.waiting("other", 50, 5000, 1)
		seen := b.index
		b.frees("n") // after the state that the next one is worked out on
		b.frees("m")
		e := b.waiting("late", 50, 100, 1)
		_ = e
		b.wantNothing() // it was worked out after them
		again := b.waiting("later", 50, 100, 1).Copy()
		again.ID, again.SnapshotIndex = "again", seen
		b.put(again)
		b.want("again")
	})
}

func TestReleasedRoomIsOffered(t *testing.T) {
	free := room{"n": mb(0)}
	runWith(t, free, func(b *bench) {
		b.frees("n")
		b.waiting("a", 50, 100, 1)
		b.wantNothing()
		free["n"] = mb(100)
		b.broker.Released([]*api.Allocation{{ID: "x", NodeID: "n"}})
		b.places("a")
		b.wantNothing()
	})
}

func TestAJobsOwnEndWakesIt(t *testing.T) {
	runWith(t, room{"n": mb(0)}, func(b *bench) {
		b.frees("n")
		b.waiting("a", 50, 100, 1)
		b.waiting("b", 50, 100, 1)
		stored := b.store.Snapshot().Job("default", "a")
		b.apply(&state.CommitPlacement{Placement: &state.Placement{
			Job: stored, Place: []*api.Allocation{{ID: "alloc", NodeID: "n", JobID: "a", Namespace: "default", Job: stored}},
		}})
		b.apply(&state.UpdateAllocations{NodeID: "n", Allocations: []*api.Allocation{{ID: "alloc", ClientStatus: api.AllocClientComplete}}})
		b.want("a") // distinct_hosts and the like may hold no more, wherever
		b.wantNothing()
	})
}

func TestStartedWakesWhereStartingIsBounded(t *testing.T) {
	runWith(t, room{"n": mb(1000)}, func(b *bench) {
		b.frees("n")
		b.waiting("busy", 50, 5000, 1)
		stored := b.store.Snapshot().Job("default", "busy")
		place := func(id string) {
			b.apply(&state.CommitPlacement{Placement: &state.Placement{
				Job: stored, Place: []*api.Allocation{{ID: id, NodeID: "n", JobID: "busy", Namespace: "default", Job: stored}},
			}})
		}
		start := func(id string) {
			b.apply(&state.UpdateAllocations{NodeID: "n", Allocations: []*api.Allocation{{ID: id, ClientStatus: api.AllocClientRunning}}})
		}
		place("1")
		b.waiting("a", 50, 100, 1)
		start("1")
		b.wantNothing()
		config := *api.DefaultSchedulerConfig()
		config.MaxStartingPerNode = 1
		b.apply(&state.SetSchedulerConfig{Config: &config})
		d := b.want("busy") // the configuration may help anybody
		b.broker.Ack(d, kept(d, b.index))
		d = b.want("a")
		b.broker.Ack(d, kept(d, b.index))
		b.wantNothing()
		place("2")
		start("2")
		b.want("a")
		b.wantNothing()
	})
}

func TestASystemJobIsWokenWhereItLacksAnInstance(t *testing.T) {
	runWith(t, room{"has": mb(100), "lacks": mb(100)}, func(b *bench) {
		b.frees("has")
		b.frees("lacks")
		job := &api.Job{ID: "sys", Type: api.JobTypeSystem, Datacenters: []string{"*"}, Groups: []*api.Group{{Name: "g", Tasks: []*api.Task{{Name: "t", Driver: "mock"}}}}}
		job.Canonicalize()
		b.apply(&state.RegisterJob{Job: job})
		stored := b.store.Snapshot().Job("default", "sys")
		b.apply(&state.CommitPlacement{Placement: &state.Placement{
			Job: stored, Place: []*api.Allocation{{ID: "1", NodeID: "has", JobID: "sys", Namespace: "default", Job: stored}},
		}})
		e := blocked("sys", "sys", map[string]bool{"x": true})
		e.Type, e.SnapshotIndex = api.JobTypeSystem, b.index
		b.put(e)
		b.frees("has")
		b.wantNothing()
		b.frees("lacks")
		b.want("sys")
	})
}

func TestPausedHandsNothingOut(t *testing.T) {
	run(t, func(b *bench) {
		config := *api.DefaultSchedulerConfig()
		config.PauseEvalBroker = true
		b.apply(&state.SetSchedulerConfig{Config: &config})
		b.put(eval("1", "a", 50))
		b.wantNothing()
		config.PauseEvalBroker = false
		b.apply(&state.SetSchedulerConfig{Config: &config})
		b.want("1")
	})
}

func TestABlockedOneThatBecomesPendingIsTried(t *testing.T) {
	runWith(t, room{}, func(b *bench) {
		e := b.waiting("a", 50, 100, 1).Copy()
		b.wantNothing()
		e.Status = api.EvalStatusPending
		b.put(e)
		d := b.want("a")
		if d.Blocked != nil {
			b.Errorf("the delivery has a blocked evaluation, too: %+v", d.Blocked)
		}
		if !b.broker.IsOutstanding("a") {
			b.Error("it is not out")
		}
	})
}

// kept is the delivery's blocked evaluation after it was worked out in vain.
func kept(d *broker.Delivery, index uint64) *api.Evaluation {
	k := d.Evaluation.Copy()
	k.SnapshotIndex = index
	return k
}

func TestOldBlockedOnesAreTriedByANewLeader(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		b := &bench{T: t, store: state.New(), free: room{"n": mb(100)}}
		b.start(func(b *bench) {
			b.frees("n")
			b.waiting("new", 50, 100, 1)
			old := b.waiting("old", 50, 100, 1).Copy()
			old.SnapshotIndex = 0
			b.put(old)
			time.Sleep(time.Second)
		})
		b.start(func(b *bench) {
			b.want("old")
			b.wantNothing()
		})
	})
}

// TestNewLeaderWakesOnlyWhoFits guards the restart of a server with many blocked evaluations:
// its nodes registered again, and that alone must not evaluate every job that waits.
func TestNewLeaderWakesOnlyWhoFits(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		b := &bench{T: t, store: state.New(), free: room{"n": mb(100), "m": mb(300)}}
		b.start(func(b *bench) {
			b.frees("n")
			b.waiting("huge", 90, 400, 1)
			b.waiting("large", 80, 200, 1)
			b.waiting("same", 70, 200, 1)
		})
		b.frees("n") // while nobody leads
		b.frees("m")
		b.start(func(b *bench) {
			b.places("large")
			b.want("same") // what the first one left is offered again
			b.wantNothing()
			if got := b.broker.Stats().Blocked; got != 1 {
				b.Errorf("%d blocked evaluations, want 1", got)
			}
		})
	})
}

// TestNewLeaderWakesTheJobOfAnEndedInstance covers rules among a job's own instances: their
// end may permit an instance on any node.
func TestNewLeaderWakesTheJobOfAnEndedInstance(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		b := &bench{T: t, store: state.New(), free: room{"n": mb(0)}}
		b.start(func(b *bench) {
			b.frees("n")
			b.waiting("a", 50, 100, 1)
			b.waiting("b", 50, 100, 1)
		})
		stored := b.store.Snapshot().Job("default", "a")
		b.apply(&state.CommitPlacement{Placement: &state.Placement{
			Job: stored, Place: []*api.Allocation{{ID: "alloc", NodeID: "n", JobID: "a", Namespace: "default", Job: stored}},
		}})
		b.apply(&state.UpdateAllocations{NodeID: "n", Allocations: []*api.Allocation{{ID: "alloc", ClientStatus: api.AllocClientComplete}}})
		b.start(func(b *bench) {
			b.want("a")
			b.wantNothing()
		})
	})
}

// TestNewLeaderWakesAllAfterAChangeOfTheScheduler covers changes that could help every
// evaluation, and that the previous leader did not live to see.
func TestNewLeaderWakesAllAfterAChangeOfTheScheduler(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		b := &bench{T: t, store: state.New(), free: room{"n": mb(0)}}
		b.start(func(b *bench) {
			b.frees("n")
			b.waiting("a", 50, 100, 1)
		})
		config := *b.store.Snapshot().SchedulerConfig()
		b.apply(&state.SetSchedulerConfig{Config: &config})
		b.start(func(b *bench) { b.want("a") })
	})
}
