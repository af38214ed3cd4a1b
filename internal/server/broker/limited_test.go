// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package broker_test

import (
	"context"
	"fmt"
	"log/slog"
	"testing"
	"testing/synctest"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/server/broker"
	"github.com/reeve-run/reeve/internal/state"
	"github.com/reeve-run/reeve/internal/testbed/bubble"
)

// limit gives the default namespace so many MB.
func (b *bench) limit(mb int) {
	b.apply(state.PutQuota(&api.Quota{Name: "q", Limits: []*api.QuotaLimit{{RegionLimit: &api.QuotaResources{MemoryMB: &mb}}}}, nil))
}

// limited registers a job, and blocks its evaluation as one that waits for the quota alone.
func (b *bench) limited(id string, priority, size, count int) *api.Evaluation {
	return b.alsoLimited(id, priority, size, count, nil)
}

// alsoLimited is limited for an evaluation that waits for room on nodes too.
func (b *bench) alsoLimited(id string, priority, size, count int, classes map[string]bool) *api.Evaluation {
	job := &api.Job{
		ID: id, Type: api.JobTypeBatch, Priority: priority, Datacenters: []string{"*"},
		Groups: []*api.Group{{Name: "g", Tasks: []*api.Task{{Name: "t", Driver: "mock", Resources: &api.Resources{MemoryMB: &size}}}}},
	}
	job.Canonicalize()
	b.apply(&state.RegisterJob{Job: job})
	e := blocked(id, id, classes)
	e.EscapedComputedClass, e.QuotaLimitReached = false, "q"
	e.Priority, e.SnapshotIndex, e.QueuedAllocations = priority, b.index, map[string]int{"g": count}
	b.put(e)
	return e
}

// uses places an allocation of so many MB.
func (b *bench) uses(id string, size int) {
	job := &api.Job{ID: id, Type: api.JobTypeBatch, Groups: []*api.Group{{Name: "g", Tasks: []*api.Task{{Name: "t", Driver: "mock", Resources: &api.Resources{MemoryMB: &size}}}}}}
	job.Canonicalize()
	b.apply(&state.RegisterJob{Job: job})
	b.apply(&state.CommitPlacement{Placement: &state.Placement{Job: job, Time: 1, Place: []*api.Allocation{{
		ID: "alloc-" + id, NodeID: "n", Group: "g", DesiredStatus: api.AllocDesiredRun, ClientStatus: api.AllocClientRunning,
	}}}})
}

func (b *bench) stops(id string) {
	b.apply(&state.CommitPlacement{Placement: &state.Placement{Time: 1, Stop: []state.Stop{{ID: "alloc-" + id}}}})
}

func runLimited(t *testing.T, mb int, f func(b *bench)) {
	t.Helper()
	runWith(t, room{"n": {CPU: 1 << 20, MemoryMB: 1 << 20, DiskMB: 1 << 20}}, func(b *bench) {
		b.limit(mb)
		b.apply(state.PutNamespace(&api.Namespace{Name: "default", Quota: "q"}, nil))
		f(b)
	})
}

func TestAQuotaWakesNoMoreThanItIsEnoughFor(t *testing.T) {
	runLimited(t, 300, func(b *bench) {
		b.uses("large", 200)
		b.uses("small", 100)
		b.limited("huge", 90, 250, 1)
		for i := range 5 {
			b.limited(fmt.Sprint("job", i), 50, 100, 1)
		}
		b.limited("urgent", 80, 100, 1)
		b.frees("n")
		b.wantNothing() // nodes do not help
		b.stops("large")
		b.want("urgent")
		b.want("job0")
		b.wantNothing()
		if got := b.broker.Stats(); got.Limited != 5 || got.Blocked != 5 || got.Lacking.MemoryMB != 0 {
			t.Errorf("the broker counts %+v", got)
		}
	})
}

func TestWhatTheFirstLeavesOfAQuotaIsOfferedToTheNext(t *testing.T) {
	runLimited(t, 100, func(b *bench) {
		b.uses("a", 100)
		first := b.limited("first", 60, 100, 1)
		b.limited("second", 50, 100, 1)
		b.limited("third", 40, 100, 1)
		b.stops("a")
		b.stays(first, "first") // it found no node
		synctest.Wait()
		b.want("second")
		b.wantNothing()
	})
}

func TestQuotasWakeWhenTheyChange(t *testing.T) {
	runLimited(t, 100, func(b *bench) {
		b.uses("a", 100)
		b.limited("x", 60, 50, 3)
		b.limited("y", 50, 50, 1)
		b.limit(90)
		b.wantNothing()
		b.limit(200)
		b.want("x") // takes what two instances need
		b.wantNothing()
		b.limit(300)
		b.want("y")
	})
}

func TestAnotherQuotaOfTheNamespaceWakesAll(t *testing.T) {
	runLimited(t, 100, func(b *bench) {
		b.uses("a", 100)
		b.limited("x", 60, 500, 1)
		b.limited("y", 50, 500, 1)
		b.apply(state.PutNamespace(&api.Namespace{Name: "default", Quota: "q", Description: "as before"}, nil))
		b.wantNothing()
		none := -1
		b.apply(state.PutQuota(&api.Quota{Name: "r", Limits: []*api.QuotaLimit{{RegionLimit: &api.QuotaResources{MemoryMB: &none}}}}, nil))
		b.apply(state.PutNamespace(&api.Namespace{Name: "default", Quota: "r"}, nil))
		b.want("x") // they have to wait for the other quota from now on
		b.want("y")
	})
}

// TestChangesOfAQuotaBeforeTheBlockAreNotMissed blocks evaluations on old snapshots.
func TestChangesOfAQuotaBeforeTheBlockAreNotMissed(t *testing.T) {
	runLimited(t, 100, func(b *bench) {
		b.uses("a", 100)
		e := b.limited("x", 60, 100, 1)
		b.apply(&state.PutEvaluations{Evaluations: []*api.Evaluation{{ID: "again", JobID: "x", Namespace: "default", Type: api.JobTypeBatch, Status: api.EvalStatusPending}}})
		synctest.Wait()
		d := b.want("again", "x")
		kept := e.Copy()
		kept.SnapshotIndex = b.index
		b.stops("a") // while the worker evaluates
		synctest.Wait()
		b.put(ended(d.Evaluation))
		b.broker.Ack(d, kept)
		b.want("x")
		b.wantNothing()
	})
}

// TestEvaluationsThatWaitForBothWakeForEither also needs room on a node.
func TestEvaluationsThatWaitForBothWakeForEither(t *testing.T) {
	runLimited(t, 100, func(b *bench) {
		b.uses("a", 100)
		e := b.alsoLimited("x", 60, 100, 1, map[string]bool{"x": true})
		b.frees("n")
		b.stays(e, "x")
		b.wantNothing()
		b.stops("a")
		b.want("x")
	})
}

func TestANewLeaderOffersQuotas(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		b := &bench{T: t, store: state.New(), free: room{}}
		b.start(func(b *bench) {
			b.limit(100)
			b.apply(state.PutNamespace(&api.Namespace{Name: "default", Quota: "q"}, nil))
			b.uses("a", 100)
			b.limited("first", 60, 100, 1)
			b.limited("second", 50, 100, 1)
		})
		b.start(func(b *bench) { b.wantNothing() })
		b.stops("a") // without a leader
		b.start(func(b *bench) {
			b.want("first")
			b.wantNothing()
		})
	})
}

// BenchmarkOfferQuota measures a change of a quota for which many evaluations wait, none of which fits.
func BenchmarkOfferQuota(b *testing.B) {
	for _, waiting := range []int{100, 10_000} {
		b.Run(fmt.Sprint(waiting), func(b *testing.B) {
			store := state.New()
			apply := func(c ...state.Command) { store.Apply(store.Index()+1, c) }
			limit := func(mb int) {
				apply(state.PutQuota(&api.Quota{Name: "q", Limits: []*api.QuotaLimit{{RegionLimit: &api.QuotaResources{MemoryMB: &mb}}}}, nil))
			}
			limit(10)
			apply(state.PutNamespace(&api.Namespace{Name: "default", Quota: "q"}, nil))
			for i := range waiting {
				job := &api.Job{ID: fmt.Sprint("job", i), Type: api.JobTypeBatch, Groups: []*api.Group{{Name: "g", Tasks: []*api.Task{{Name: "t", Driver: "mock"}}}}}
				job.Canonicalize()
				e := blocked(job.ID, job.ID, nil)
				e.EscapedComputedClass, e.QuotaLimitReached, e.QueuedAllocations = false, "q", map[string]int{"g": 1}
				apply(&state.RegisterJob{Job: job}, &state.PutEvaluations{Evaluations: []*api.Evaluation{e}})
			}
			br := broker.New(broker.Config{Logger: slog.New(slog.DiscardHandler)})
			ctx, cancel := context.WithCancel(b.Context())
			done := make(chan struct{})
			go func() {
				defer close(done)
				_ = br.Run(ctx, store)
			}()
			mb := 10
			for b.Loop() {
				mb = 21 - mb // none fits into 10 or 11
				limit(mb)
				apply(&state.PutEvaluations{Evaluations: []*api.Evaluation{eval(api.NewID(), "probe", 50)}})
				d, err := br.Dequeue(ctx) // after the change
				if err != nil {
					b.Fatal(err)
				}
				br.Ack(d, nil)
			}
			if got := br.Stats(); got.Limited != waiting {
				b.Errorf("%d of %d wait", got.Limited, waiting)
			}
			cancel()
			<-done
		})
	}
}
