// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package broker_test

import (
	"context"
	"fmt"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/server/broker"
	"github.com/reeve-run/reeve/internal/state"
	"github.com/reeve-run/reeve/internal/testbed/bubble"
)

// bench is a broker beside a store that the test writes to.
type bench struct {
	*testing.T
	store  *state.Store
	broker *broker.Broker
	free   room // nil: not known
	index  uint64
}

// run calls f with a running broker, in a bubble of its own time.
func run(t *testing.T, f func(b *bench)) {
	t.Helper()
	bubble.Test(t, func(t *testing.T) {
		b := &bench{T: t, store: state.New()}
		b.start(f)
	})
}

// start runs a broker for as long as f runs.
func (b *bench) start(f func(b *bench)) {
	var fleet broker.Capacity
	if b.free != nil {
		fleet = b.free
	}
	b.broker = broker.New(broker.Config{
		Capacity: fleet,
		Limits: broker.Limits{
			AckDeadline: time.Minute, Deliveries: 3, FirstBackoff: time.Second,
			Backoff: 20 * time.Second, FollowUp: time.Minute,
		},
		Logger: slog.New(slog.DiscardHandler),
		Write: func(_ context.Context, evals []*api.Evaluation) error {
			b.apply(&state.PutEvaluations{Evaluations: evals})
			return nil
		},
	})
	ctx, cancel := context.WithCancel(b.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = b.broker.Run(ctx, b.store)
	}()
	synctest.Wait() // what was there before is loaded
	f(b)
	cancel()
	<-done
}

func (b *bench) apply(cmds ...state.Command) {
	b.index = b.store.Index() + 1
	for _, err := range b.store.Apply(b.index, cmds) {
		if err != nil {
			b.Errorf("apply: %v", err)
		}
	}
}

func (b *bench) put(evals ...*api.Evaluation) { b.apply(&state.PutEvaluations{Evaluations: evals}) }

// take returns a delivery that is ready now, or nil.
func (b *bench) take() *broker.Delivery {
	b.Helper()
	synctest.Wait()
	ctx, cancel := context.WithCancel(b.Context())
	defer cancel()
	got := make(chan *broker.Delivery, 1)
	go func() {
		d, _ := b.broker.Dequeue(ctx)
		got <- d
	}()
	synctest.Wait()
	cancel()
	return <-got
}

// want takes a delivery and compares the ids of its evaluations, the leading
// one first.
func (b *bench) want(ids ...string) *broker.Delivery {
	b.Helper()
	d := b.take()
	if d == nil {
		b.Fatalf("nothing is ready, want %v", ids)
	}
	got := []string{d.Evaluation.ID}
	for _, e := range d.Riders {
		got = append(got, e.ID)
	}
	if d.Blocked != nil && d.Blocked != d.Evaluation {
		got = append(got, d.Blocked.ID)
	}
	if diff := cmp.Diff(ids, got); diff != "" {
		b.Fatalf("delivery (-want +got):\n%s", diff)
	}
	return d
}

func (b *bench) wantNothing() {
	b.Helper()
	if d := b.take(); d != nil {
		b.Fatalf("evaluation %s is ready, want nothing", d.Evaluation.ID)
	}
}

func eval(id, job string, priority int) *api.Evaluation {
	return &api.Evaluation{
		ID: id, Namespace: "default", JobID: job, Type: "service", Priority: priority,
		TriggeredBy: api.TriggerJobRegister, Status: api.EvalStatusPending,
	}
}

func ended(e *api.Evaluation) *api.Evaluation {
	c := e.Copy()
	c.Status = api.EvalStatusComplete
	return c
}

func TestHandsOutByPriorityThenAge(t *testing.T) {
	run(t, func(b *bench) {
		b.put(eval("old", "a", 50))
		b.put(eval("urgent", "b", 90))
		b.put(eval("new", "c", 50))
		b.want("urgent")
		b.want("old")
		b.want("new")
		b.wantNothing()
	})
}

func TestOneDeliveryPerJob(t *testing.T) {
	run(t, func(b *bench) {
		b.put(eval("1", "a", 50))
		d := b.want("1")
		b.put(eval("2", "a", 50))
		b.wantNothing()
		b.put(ended(d.Evaluation))
		b.broker.Ack(d, nil)
		b.want("2")
	})
}

func TestCollapsesWhatWaitsForTheSameJob(t *testing.T) {
	run(t, func(b *bench) {
		for i := range 3 {
			b.put(eval(fmt.Sprint(i), "a", 50))
		}
		d := b.want("2", "0", "1")
		if d.MinIndex < 3 {
			b.Errorf("MinIndex = %d, want at least 3: the state with all of them", d.MinIndex)
		}
		b.broker.Ack(d, nil)
		b.wantNothing()
	})
}

func TestDelaysUntilItsTime(t *testing.T) {
	run(t, func(b *bench) {
		e := eval("later", "a", 50)
		e.WaitUntil = time.Now().Add(time.Hour)
		b.put(e)
		b.wantNothing()
		time.Sleep(time.Hour - time.Second)
		b.wantNothing()
		time.Sleep(time.Second)
		b.want("later")
	})
}

func TestForgetsWhatEndedWithoutIt(t *testing.T) {
	run(t, func(b *bench) {
		later := eval("later", "a", 50)
		later.WaitUntil = time.Now().Add(time.Hour)
		now := eval("now", "b", 50)
		b.put(later, now)
		synctest.Wait()
		b.put(ended(now))
		b.apply(&state.DeleteEvaluations{IDs: []string{"later"}})
		time.Sleep(2 * time.Hour)
		b.wantNothing()
	})
}

func TestNackBacksOffThenGivesUp(t *testing.T) {
	run(t, func(b *bench) {
		b.put(eval("1", "a", 50))
		b.broker.Nack(b.want("1"))
		b.wantNothing()
		time.Sleep(time.Second)
		b.broker.Nack(b.want("1"))
		time.Sleep(10 * time.Second)
		b.wantNothing()
		time.Sleep(10 * time.Second)
		d := b.want("1")
		if d.Attempt != 3 {
			b.Errorf("Attempt = %d, want 3", d.Attempt)
		}
		b.broker.Nack(d)
		b.wantNothing()
		failed := b.store.Snapshot().Evaluation("1")
		if failed.Status != api.EvalStatusFailed || failed.NextEval == "" {
			b.Fatalf("evaluation is %s, next %q; want it failed with a follow-up", failed.Status, failed.NextEval)
		}
		time.Sleep(time.Minute)
		b.want(failed.NextEval)
	})
}

func TestRedeliversWhatIsNotAcknowledged(t *testing.T) {
	run(t, func(b *bench) {
		b.put(eval("1", "a", 50))
		late := b.want("1")
		time.Sleep(time.Minute + time.Second)
		again := b.want("1")
		if b.broker.Hold(late) {
			b.Error("the first worker may still commit")
		}
		b.broker.Ack(late, nil) // must not end the second delivery
		if !b.broker.Hold(again) {
			b.Error("the second worker may not commit")
		}
		b.wantNothing()
	})
}

func TestDeadlineStopsWhileItCommits(t *testing.T) {
	run(t, func(b *bench) {
		b.put(eval("1", "a", 50))
		d := b.want("1")
		b.broker.Hold(d)
		time.Sleep(time.Hour)
		b.wantNothing()
		b.broker.Release(d)
		time.Sleep(30 * time.Second)
		b.wantNothing()
		time.Sleep(time.Minute)
		b.want("1")
	})
}

func TestNewLeaderStartsFromTheState(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		b := &bench{T: t, store: state.New()}
		b.start(func(b *bench) {
			b.put(eval("1", "a", 50))
			b.put(eval("2", "b", 50))
			b.put(blocked("3", "c", map[string]bool{"x": false}))
			b.want("1") // lost with its leader
		})
		b.start(func(b *bench) {
			b.want("1")
			b.want("2")
			b.wantNothing()
			if got := b.broker.Stats().Blocked; got != 1 {
				b.Errorf("%d blocked evaluations, want 1", got)
			}
		})
	})
}
