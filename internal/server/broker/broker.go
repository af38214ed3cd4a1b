// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package broker

import (
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/reeve-run/reeve/api"
)

// Limits say how long and how often an evaluation is handed out.
type Limits struct {
	AckDeadline    time.Duration // a worker that is silent for longer is given up on
	Deliveries     int           // before an evaluation is failed
	FirstBackoff   time.Duration // after the first failed delivery
	Backoff        time.Duration // after later ones
	FollowUp       time.Duration // a failed evaluation is tried again after this
	FollowUpJitter time.Duration // and up to this more
}

// DefaultLimits are what a server uses.
var DefaultLimits = Limits{
	AckDeadline: time.Minute, Deliveries: 3, FirstBackoff: time.Second, Backoff: 20 * time.Second,
	FollowUp: time.Minute, FollowUpJitter: 5 * time.Minute,
}

// Config is what a Broker needs from its server.
type Config struct {
	Limits Limits
	Logger *slog.Logger
	Fleet  Fleet // nil: every change may be large enough for anybody
	// Write stores evaluations that the broker ended.
	Write func(context.Context, []*api.Evaluation) error
}

// A Broker is the leader's queue of evaluations. Its methods may be called
// from any goroutine.
type Broker struct {
	cfg   Config
	world *stored

	mu      sync.Mutex
	work    sync.Cond // something is ready, or the broker is closed
	q       *queue
	timer   *time.Timer
	armed   time.Time // when the timer fires; zero: it does not
	closed  bool
	unsaved []*api.Evaluation
	saves   chan struct{} // unsaved is not empty
}

// New returns an empty broker.
func New(cfg Config) *Broker {
	if cfg.Limits == (Limits{}) {
		cfg.Limits = DefaultLimits
	}
	w := &stored{fleet: cfg.Fleet}
	b := &Broker{cfg: cfg, world: w, q: newQueue(cfg.Limits, w), saves: make(chan struct{}, 1)}
	b.work.L = &b.mu
	return b
}

// Dequeue waits for the most urgent job's evaluations. Each delivery must be
// acknowledged with Ack or Nack before its deadline.
func (b *Broker) Dequeue(ctx context.Context) (*Delivery, error) {
	defer context.AfterFunc(ctx, func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.work.Broadcast()
	})()
	b.mu.Lock()
	defer b.mu.Unlock()
	for {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if b.closed {
			return nil, context.Canceled
		}
		if d := b.q.dequeue(time.Now()); d != nil {
			b.arm()
			return d, nil
		}
		b.work.Wait()
	}
}

// Ack ends a delivery whose evaluations' ends are stored. kept is the job's
// blocked evaluation from now on, nil if there is none.
func (b *Broker) Ack(d *Delivery, kept *api.Evaluation) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.q.ack(d, kept, time.Now())
	b.changed()
}

// Nack returns a delivery that could not be worked out.
func (b *Broker) Nack(d *Delivery) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.nack(d, time.Now())
	b.changed()
}

// Hold reports whether the delivery is still the worker's, and stops its
// deadline until Release: what it places is being committed.
func (b *Broker) Hold(d *Delivery) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if d.job.out != d {
		return false
	}
	d.held = true
	return true
}

// Release starts the deadline of a held delivery afresh.
func (b *Broker) Release(d *Delivery) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if d.job.out != d {
		return
	}
	d.held = false
	d.deadline = time.Now().Add(b.cfg.Limits.AckDeadline)
	b.q.out.Put(d)
}

// Released is told that room which seemed taken is free after all: who did not
// get it may not know.
func (b *Broker) Released(allocs []*api.Allocation) {
	if b.world.snapshot == nil {
		return
	}
	snap := b.world.snapshot()
	b.mu.Lock()
	defer b.mu.Unlock()
	b.q.released++
	seen := map[string]bool{}
	for _, a := range allocs {
		if n := snap.Node(a.NodeID); n != nil && !seen[n.ID] {
			seen[n.ID] = true
			b.q.offerReleased(n.ID, n.ComputedClass, time.Now())
		}
	}
	b.changed()
}

// IsOut reports whether a worker is at the evaluation.
func (b *Broker) IsOut(id string) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.q.place[id] == placeOut
}

// Stats counts what the broker holds.
type Stats struct {
	Ready, Delayed, Blocked, Out int
}

// Stats counts evaluations that are delayed, blocked or out, and jobs that are
// ready.
func (b *Broker) Stats() Stats {
	b.mu.Lock()
	defer b.mu.Unlock()
	return Stats{Ready: b.q.ready.Len(), Delayed: len(b.q.timers), Blocked: len(b.q.blocked.byJob), Out: b.q.out.Len()}
}

func (b *Broker) nack(d *Delivery, now time.Time) {
	if givenUp, _ := b.q.nack(d, now); len(givenUp) > 0 {
		b.fail(givenUp, d, now)
	}
}

// fail ends evaluations of a job that nobody managed to work out, and has them
// tried again later, as one under a new id.
func (b *Broker) fail(evals []*api.Evaluation, d *Delivery, now time.Time) {
	delay := b.cfg.Limits.FollowUp
	if j := b.cfg.Limits.FollowUpJitter; j > 0 {
		delay += rand.N(j)
	}
	e := evals[0]
	next := &api.Evaluation{
		ID: api.NewID(), Namespace: e.Namespace, JobID: e.JobID, Type: e.Type, Priority: e.Priority,
		TriggeredBy: api.TriggerFailedFollowUp, Status: api.EvalStatusPending, JobModifyIndex: e.JobModifyIndex,
		Wait: delay, WaitUntil: now.Add(delay).UTC(), PreviousEval: e.ID,
		CreateTime: now.UnixNano(), ModifyTime: now.UnixNano(),
	}
	b.save(next)
	reason := ""
	if d.Failure != "" {
		reason = ", at last because of: " + d.Failure
	}
	for _, e := range evals {
		failed := e.Copy()
		failed.Status = api.EvalStatusFailed
		failed.StatusDescription = fmt.Sprintf("not worked out in %d attempts%s; evaluation %s tries again", d.Attempt, reason, api.ShortID(next.ID))
		failed.NextEval, failed.ModifyTime = next.ID, now.UnixNano()
		b.save(failed)
	}
	b.cfg.Logger.Warn("evaluation given up", "evaluation", e.ID, "job", e.JobID, "attempts", d.Attempt, "next", next.ID)
}

// cancel ends a blocked evaluation whose job has a newer one.
func (b *Broker) cancel(e *api.Evaluation, now time.Time) {
	done := e.Copy()
	done.Status, done.StatusDescription = api.EvalStatusCanceled, "superseded by a newer blocked evaluation of the job"
	done.ModifyTime = now.UnixNano()
	b.save(done)
}

func (b *Broker) save(evals ...*api.Evaluation) {
	b.unsaved = append(b.unsaved, evals...)
	select {
	case b.saves <- struct{}{}:
	default:
	}
}

// changed wakes workers and sets the timer after the queue was changed.
func (b *Broker) changed() {
	switch n := b.q.ready.Len(); {
	case n == 1:
		b.work.Signal()
	case n > 1:
		b.work.Broadcast()
	}
	b.arm()
}

// arm sets the timer to when time alone changes something. A timer that fires
// too early is cheaper than one that is moved with every delivery.
func (b *Broker) arm() {
	at, ok := b.q.next()
	if b.closed || !ok || !b.armed.IsZero() && !at.Before(b.armed) {
		return
	}
	b.armed = at
	if b.timer == nil {
		b.timer = time.AfterFunc(time.Until(at), b.tick)
		return
	}
	b.timer.Reset(time.Until(at))
}

func (b *Broker) tick() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed {
		return
	}
	now := time.Now()
	b.armed = time.Time{}
	b.q.due(now)
	for _, d := range b.q.expire(now) {
		b.cfg.Logger.Warn("evaluation not acknowledged in time", "evaluation", d.Evaluation.ID, "job", d.Evaluation.JobID)
		b.nack(d, now)
	}
	b.changed()
}
