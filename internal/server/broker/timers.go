// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package broker

import (
	"time"

	"github.com/reeve-run/reeve/api"
)

// A timer is an evaluation, or a whole job, that becomes ready at a known time.
type timer struct {
	at   time.Time
	eval *api.Evaluation // nil: the job
	job  *jobQueue
	slot int
}

func (q *queue) startTimer(t *timer) {
	t.slot = -1
	if t.eval != nil {
		q.timers[t.eval.ID] = t
	}
	q.timed.Put(t)
}

func (q *queue) stopTimer(id string) {
	if t := q.timers[id]; t != nil {
		q.timed.Remove(t)
		delete(q.timers, id)
	}
}

// expire returns the deliveries that passed their deadline.
func (q *queue) expire(now time.Time) (late []*Delivery) {
	for {
		d, ok := q.out.First()
		if !ok || d.deadline.After(now) {
			return late
		}
		if d.held {
			d.deadline = now.Add(q.limits.AckDeadline)
			q.out.Put(d)
			continue
		}
		q.out.Remove(d)
		late = append(late, d)
	}
}

// releaseDelayed makes the evaluations and jobs ready whose delay has ended.
func (q *queue) releaseDelayed(now time.Time) {
	for {
		t, ok := q.timed.First()
		if !ok || t.at.After(now) {
			return
		}
		q.timed.Remove(t)
		switch {
		case t.job != nil:
			q.requeue(t.job, now)
		case q.place[t.eval.ID] == placeBlocked:
			q.blocked.remove(t.eval.JobKey())
			q.wake(t.eval, now)
		default:
			delete(q.timers, t.eval.ID)
			q.wait(t.eval, now)
		}
	}
}

// next returns the next time at which expire or due has work to do.
func (q *queue) next() (at time.Time, ok bool) {
	if t, some := q.timed.First(); some {
		at, ok = t.at, true
	}
	if d, some := q.out.First(); some && (!ok || d.deadline.Before(at)) {
		at, ok = d.deadline, true
	}
	return at, ok
}
