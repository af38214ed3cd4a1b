// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package broker

import (
	"slices"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/heap"
	"github.com/reeve-run/reeve/internal/quota"
)

// queue holds the evaluations to process: ready, delayed, or delivered. Invariants:
//
//   - At most one delivery per job is out.
//   - A job is in the ready heap exactly when it has waiting evaluations, no backoff,
//     and no delivery out.
//   - An evaluation is in one place: delayed, waiting, out, or blocked.
type queue struct {
	limits   Limits
	jobs     map[api.NamespacedID]*jobQueue
	ready    readyJobs
	timed    heap.Indexed[*timer] // delayed evaluations and jobs in backoff
	out      heap.Indexed[*Delivery]
	place    map[string]place // place of each known evaluation, by id
	timers   map[string]*timer
	blocked  *blocked
	news     *changeHistory
	world    lookup
	seen     uint64            // newest index of the feed
	paused   bool              // reports whether deliveries are paused
	quotas   map[string]uint64 // index of the last change that may have left something, by quota
	requotas uint64            // index of the last change of a namespace's quota
	// released counts how often room proved to be free that workers had seen as taken. No
	// state index tells which evaluations knew of that room.
	released uint64
}

// lookup provides the current state of the fleet and the jobs.
type lookup interface {
	// need returns a lower bound of what one waiting instance of the evaluation takes.
	need(e *api.Evaluation) demand
	// free returns the free room of a node. sized reports whether it is known, ready
	// whether the node takes allocations.
	free(node string) (free api.Usage, sized, ready bool)
	// lacks reports whether the evaluation's job lacks an instance on the node.
	lacks(e *api.Evaluation, node string) bool
	// ledger returns what is left of quotas now.
	ledger() *quota.Ledger
}

// A place is the part of the queue that holds an evaluation.
type place uint8

const (
	placeNone place = iota
	placeDelayed
	placeWaiting
	placeOut
	placeBlocked
	placeFailing // failed or cancelled; its end is being written
)

// A jobQueue holds the waiting evaluations of one job.
type jobQueue struct {
	key     api.NamespacedID
	waiting []*api.Evaluation // oldest first
	blocked *api.Evaluation   // woken, waits with the others
	offers  []string          // nodes and quotas whose offers woke it
	out     *Delivery
	failed  int       // consecutive failed deliveries
	until   time.Time // end of the backoff after the last failure
	kind    int       // its heap of ready jobs
	here    bool      // reports whether only a worker of this server may take the next delivery
	slot    int
}

func newQueue(limits Limits, w lookup) *queue {
	q := &queue{
		limits: limits, jobs: map[api.NamespacedID]*jobQueue{}, place: map[string]place{},
		timers: map[string]*timer{}, blocked: newBlocked(), news: newChangeHistory(), world: w,
		quotas: map[string]uint64{},
	}
	q.ready = newReadyJobs()
	q.timed = heap.NewIndexed(
		func(a, b *timer) bool { return a.at.Before(b.at) },
		func(t *timer) *int { return &t.slot },
	)
	q.out = heap.NewIndexed(
		func(a, b *Delivery) bool { return a.deadline.Before(b.deadline) },
		func(d *Delivery) *int { return &d.slot },
	)
	return q
}

// moreUrgent orders jobs by the highest priority of their waiting evaluations, then by the
// age of the oldest one.
func moreUrgent(a, b *jobQueue) bool {
	if pa, pb := a.priority(), b.priority(); pa != pb {
		return pa > pb
	}
	return a.oldestIndex() < b.oldestIndex()
}

func (j *jobQueue) priority() int {
	highest := 0
	for _, e := range j.waiting {
		highest = max(highest, e.Priority)
	}
	if j.blocked != nil {
		highest = max(highest, j.blocked.Priority)
	}
	return highest
}

func (j *jobQueue) oldestIndex() uint64 {
	if len(j.waiting) > 0 {
		return j.waiting[0].CreateIndex
	}
	return j.blocked.CreateIndex
}

// jobType returns the type of the job when its evaluations were created.
func (j *jobQueue) jobType() string {
	if len(j.waiting) > 0 {
		return j.waiting[0].Type
	}
	return j.blocked.Type
}

func (j *jobQueue) empty() bool { return len(j.waiting) == 0 && j.blocked == nil }

// enqueue adds a pending evaluation. It leaves a known evaluation in place, unless the
// evaluation was blocked and is now pending again.
func (q *queue) enqueue(e *api.Evaluation, now time.Time) {
	switch q.place[e.ID] {
	case placeNone:
	case placeBlocked:
		q.unblock(e)
	default:
		return
	}
	if e.WaitUntil.After(now) {
		q.place[e.ID] = placeDelayed
		q.startTimer(&timer{at: e.WaitUntil, eval: e})
		return
	}
	q.wait(e, now)
}

// wait makes an evaluation ready, after its job's delivery if one is out.
func (q *queue) wait(e *api.Evaluation, now time.Time) {
	j := q.job(e.JobKey())
	q.place[e.ID] = placeWaiting
	j.waiting = append(j.waiting, e)
	q.requeue(j, now)
}

// forget drops an evaluation that ended outside of a delivery.
func (q *queue) forget(id string, key api.NamespacedID, now time.Time) {
	if j := q.jobs[key]; j != nil && j.out != nil {
		// The worker may still pass the evaluation to Ack as the one to keep.
		j.out.forgotten = append(j.out.forgotten, id)
	}
	switch q.place[id] {
	case placeDelayed:
		q.stopTimer(id)
	case placeBlocked:
		q.stopTimer(id)
		if e := q.blocked.evaluationOf(key); e != nil && e.ID == id {
			q.blocked.remove(key)
		}
	case placeWaiting:
		j := q.jobs[key]
		j.waiting = slices.DeleteFunc(j.waiting, func(e *api.Evaluation) bool { return e.ID == id })
		if j.blocked != nil && j.blocked.ID == id {
			j.blocked = nil
		}
		q.requeue(j, now)
	case placeOut:
		return // its worker is about to acknowledge it
	}
	delete(q.place, id)
}

// dequeue returns the evaluations of the most urgent job of the types, or nil. here permits jobs
// that only this server may take.
func (q *queue) dequeue(types Types, here bool, now time.Time) *Delivery {
	j := q.ready.first(types, here)
	if j == nil || q.paused {
		return nil
	}
	q.ready.remove(j)
	d := &Delivery{
		job: j, Attempt: j.failed + 1, MinIndex: q.seen,
		deadline: now.Add(q.limits.AckDeadline), slot: -1,
	}
	// A blocked evaluation is delivered together with all later evaluations of its job, so
	// that a job never has two blocked ones.
	d.Blocked = j.blocked
	if kept := q.blocked.evaluationOf(j.key); kept != nil {
		d.Blocked = kept
		q.unblock(kept)
	}
	if n := len(j.waiting); n > 0 {
		d.Evaluation, d.Riders = j.waiting[n-1], j.waiting[:n-1:n-1]
	} else {
		d.Evaluation = d.Blocked
	}
	d.offers, d.released = j.offers, q.released
	j.waiting, j.blocked, j.offers, j.out, j.here = nil, nil, nil, d, false
	for _, e := range d.all() {
		q.place[e.ID] = placeOut
		d.MinIndex = max(d.MinIndex, e.ModifyIndex)
	}
	q.out.Put(d)
	return d
}

// ack ends a delivery. kept is the job's blocked evaluation from now on, or nil if it has
// none; the feed may deliver it only after the job's next delivery. ack returns false if
// the delivery is no longer out.
func (q *queue) ack(d *Delivery, kept *api.Evaluation, now time.Time) bool {
	if d.job.out != d {
		return false
	}
	d.job.failed, d.job.until = 0, time.Time{}
	q.removeDelivery(d)
	switch {
	case kept == nil || q.place[kept.ID] != placeNone || slices.Contains(d.forgotten, kept.ID):
	case d.released != q.released:
		q.wake(kept, now)
	default:
		q.block(kept, now)
	}
	q.requeue(d.job, now)
	q.offerAgain(d.offers, now)
	return true
}

// nack returns a delivery to the queue for a later attempt. After the last attempt, nack
// gives the delivery up and returns its evaluations.
func (q *queue) nack(d *Delivery, now time.Time) (givenUp []*api.Evaluation, ok bool) {
	if d.job.out != d {
		return nil, false
	}
	j := d.job
	q.removeDelivery(d)
	if d.Attempt >= q.limits.Deliveries {
		j.failed, j.until = 0, time.Time{}
		for _, e := range d.all() {
			if q.place[e.ID] == placeNone {
				q.place[e.ID] = placeFailing
				givenUp = append(givenUp, e)
			}
		}
		q.requeue(j, now)
		q.offerAgain(d.offers, now)
		return givenUp, true
	}
	j.failed, j.offers = d.Attempt, append(j.offers, d.offers...)
	delay := q.limits.FirstBackoff
	if d.Attempt > 1 {
		delay = q.limits.Backoff
	}
	j.until = now.Add(delay)
	q.startTimer(&timer{at: j.until, job: j})
	q.waitAgain(d, now)
	return nil, true
}

// giveBack returns a delivery that no worker has evaluated, or whose result was refused. It
// counts no failure. here reserves the next delivery for the workers of this server.
func (q *queue) giveBack(d *Delivery, here bool, now time.Time) {
	if d.job.out != d {
		return
	}
	d.job.here = here
	q.removeDelivery(d)
	d.job.offers = append(d.job.offers, d.offers...)
	q.waitAgain(d, now)
}

// waitAgain has the evaluations of a removed delivery wait for the next one.
func (q *queue) waitAgain(d *Delivery, now time.Time) {
	j := d.job
	again := append(slices.Clone(d.Riders), d.Evaluation)
	for _, e := range again {
		if e != d.Blocked && q.place[e.ID] == placeNone {
			q.place[e.ID] = placeWaiting
			j.waiting = append(j.waiting, e)
		}
	}
	slices.SortStableFunc(j.waiting, func(a, b *api.Evaluation) int { return int(a.CreateIndex) - int(b.CreateIndex) })
	if e := d.Blocked; e != nil && q.place[e.ID] == placeNone && j.blocked == nil {
		q.place[e.ID] = placeWaiting
		j.blocked = e
	}
	q.requeue(j, now)
}

// removeDelivery ends a delivery. Evaluations that the feed has moved during the delivery keep their
// new place.
func (q *queue) removeDelivery(d *Delivery) {
	q.out.Remove(d)
	d.job.out = nil
	for _, e := range d.all() {
		if q.place[e.ID] == placeOut {
			delete(q.place, e.ID)
		}
	}
}

// requeue adds a job to the ready heap, removes it from the heap, or deletes an empty job.
func (q *queue) requeue(j *jobQueue, now time.Time) {
	switch {
	case j.out != nil || j.empty():
		q.ready.remove(j)
		if j.out == nil && q.jobs[j.key] == j {
			delete(q.jobs, j.key)
		}
	case j.until.After(now):
		q.ready.remove(j)
	default:
		q.ready.put(j)
	}
}

func (q *queue) job(key api.NamespacedID) *jobQueue {
	j := q.jobs[key]
	if j == nil {
		j = &jobQueue{key: key, slot: -1}
		q.jobs[key] = j
	}
	return j
}
