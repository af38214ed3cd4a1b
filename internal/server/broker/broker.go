// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package broker

import (
	"context"
	"log/slog"
	"math"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/reeve-run/reeve/api"
)

// Limits bound the duration and number of deliveries of an evaluation.
type Limits struct {
	AckDeadline    time.Duration // time after which a silent worker loses its delivery
	Deliveries     int           // deliveries before an evaluation fails
	FirstBackoff   time.Duration // delay after the first failed delivery
	Backoff        time.Duration // delay after later failed deliveries
	FollowUp       time.Duration // delay before a failed evaluation is retried
	FollowUpJitter time.Duration // maximum random addition to FollowUp
}

// defaultLimits are the limits of a server.
var defaultLimits = Limits{
	AckDeadline: time.Minute, Deliveries: 3, FirstBackoff: time.Second, Backoff: 20 * time.Second,
	FollowUp: time.Minute, FollowUpJitter: 5 * time.Minute,
}

// Config holds the dependencies of a Broker.
type Config struct {
	Limits   Limits
	Types    Types // that the workers of this server process; 0: all
	Logger   *slog.Logger
	Capacity Capacity // nil: assume that every change is large enough for every evaluation
	// Write stores evaluations that the broker has ended.
	Write func(context.Context, []*api.Evaluation) error
}

// A Broker is the leader's queue of evaluations. Any goroutine may call its methods.
type Broker struct {
	cfg   Config
	world *storeLookup

	mu      sync.Mutex
	work    sync.Cond // signals that a job is ready or the broker is closed
	spare   sync.Cond // signals that more jobs are ready than this server's idle workers can take
	idle    int       // workers of this server that wait for a delivery
	q       *queue
	timer   *time.Timer
	armed   time.Time // time at which the timer fires; zero: the timer is not set
	closed  bool
	unsaved []*api.Evaluation
	saves   chan struct{} // signals that unsaved is not empty
}

// New returns an empty broker.
func New(cfg Config) *Broker {
	if cfg.Limits == (Limits{}) {
		cfg.Limits = defaultLimits
	}
	if cfg.Types == 0 {
		cfg.Types = AllTypes
	}
	w := &storeLookup{capacity: cfg.Capacity}
	b := &Broker{cfg: cfg, world: w, q: newQueue(cfg.Limits, w), saves: make(chan struct{}, 1)}
	b.work.L, b.spare.L = &b.mu, &b.mu
	return b
}

// Dequeue waits for the most urgent job's evaluations. The worker must acknowledge each
// delivery with Ack or Nack before its deadline.
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
		if d := b.q.dequeue(b.cfg.Types, true, time.Now()); d != nil {
			b.setTimer()
			return d, nil
		}
		b.idle++
		b.work.Wait()
		b.idle--
	}
}

// Ack ends a delivery after the ends of its evaluations are stored. kept is the job's
// blocked evaluation from now on, or nil if it has none.
func (b *Broker) Ack(d *Delivery, kept *api.Evaluation) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.q.ack(d, kept, time.Now())
	b.changed()
}

// Nack returns a delivery whose evaluation failed.
func (b *Broker) Nack(d *Delivery) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.nack(d, time.Now())
	b.changed()
}

// Hold reports whether the worker still owns the delivery. If so, Hold stops its deadline
// until Release, while the placement is being committed.
func (b *Broker) Hold(d *Delivery) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if d.job.out != d {
		return false
	}
	d.held = true
	return true
}

// Release restarts the deadline of a held delivery.
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

// Released offers room that seemed taken but is free after all. Evaluations that did not
// get the room may not know that it is free.
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
		for _, name := range snap.QuotasOf(a.Namespace) {
			if !seen[quotaOffer+name] {
				seen[quotaOffer+name] = true
				b.q.offerQuota(name, math.MaxUint64, time.Now())
			}
		}
	}
	b.changed()
}

// IsOutstanding reports whether a worker holds the evaluation.
func (b *Broker) IsOutstanding(id string) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.q.place[id] == placeOut
}

// Stats holds the numbers of queued evaluations and jobs.
type Stats struct {
	Ready, Delayed, Blocked, Out int

	Pending int       // evaluations that wait for the end of their job's delivery
	Escaped int       // blocked evaluations that a change of any node may help
	Limited int       // blocked evaluations that wait for a quota
	Oldest  time.Time // creation of the oldest ready evaluation; zero without one
	Index   uint64    // newest state index that the broker has seen
	// Lacking is a lower bound of the resources that blocked instances need.
	Lacking api.Usage
}

// Stats returns the numbers of delayed, blocked and delivered evaluations, and of ready
// jobs. Delivered evaluations count once per delivery.
func (b *Broker) Stats() Stats {
	b.mu.Lock()
	defer b.mu.Unlock()
	s := Stats{Ready: b.q.ready.count(AllTypes, true), Delayed: len(b.q.timers), Blocked: len(b.q.blocked.byJob), Out: b.q.out.Len(), Index: b.q.seen}
	b.q.measure(&s)
	return s
}

func (b *Broker) nack(d *Delivery, now time.Time) {
	if givenUp, _ := b.q.nack(d, now); len(givenUp) > 0 {
		b.fail(givenUp, d, now)
	}
}

// fail ends a job's evaluations whose deliveries all failed, and creates one new
// evaluation that retries them after a delay.
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
	for _, e := range evals {
		failed := e.Copy()
		failed.Status = api.EvalStatusFailed
		failed.StatusReason, failed.StatusDescription = api.ReasonEvalAttemptsFailed, api.EvalAttemptsText(d.Attempt, d.Failure, next.ID)
		failed.NextEval, failed.ModifyTime = next.ID, now.UnixNano()
		b.save(failed)
	}
	b.cfg.Logger.Warn("evaluation abandoned", "evaluation", e.ID, "job", e.JobID, "attempts", d.Attempt, "next", next.ID)
}

// cancel ends a blocked evaluation whose job has a newer one.
func (b *Broker) cancel(e *api.Evaluation, now time.Time) {
	done := e.Copy()
	done.Status = api.EvalStatusCanceled
	done.StatusReason, done.StatusDescription = api.ReasonEvalSuperseded, api.ReasonEvalSuperseded.Text()
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

// changed wakes workers and sets the timer after a change of the queue.
func (b *Broker) changed() {
	switch n := b.q.ready.count(b.cfg.Types, true); {
	case n == 1:
		b.work.Signal()
	case n > 1:
		b.work.Broadcast()
	}
	if b.spareTypes(AllTypes) != 0 {
		b.spare.Broadcast()
	}
	b.setTimer()
}

// setTimer sets the timer to the next time at which the queue changes by itself. A timer that
// fires too early costs less than moving it with every delivery.
func (b *Broker) setTimer() {
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
	b.q.releaseDelayed(now)
	for _, d := range b.q.expire(now) {
		b.cfg.Logger.Warn("evaluation not acknowledged in time", "evaluation", d.Evaluation.ID, "job", d.Evaluation.JobID)
		b.nack(d, now)
	}
	b.changed()
}
