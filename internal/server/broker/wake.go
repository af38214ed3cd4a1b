// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package broker

import (
	"math"
	"slices"
	"strings"
	"time"

	"github.com/reeve-run/reeve/api"
)

// wake makes a blocked evaluation ready. offers are the nodes whose offers woke it.
func (q *queue) wake(e *api.Evaluation, now time.Time, offers ...string) {
	j := q.job(e.JobKey())
	q.stopTimer(e.ID)
	q.place[e.ID] = placeWaiting
	j.blocked = e
	j.offers = append(j.offers, offers...)
	q.requeue(j, now)
}

// unblock removes an evaluation from the blocked ones.
func (q *queue) unblock(e *api.Evaluation) {
	q.blocked.remove(e.JobKey())
	q.stopTimer(e.ID)
}

// block keeps an evaluation until a change could help it. If such a change happened after
// the evaluation's snapshot, the evaluation is ready immediately. If the job already has a
// blocked evaluation, block returns the older one, which must be cancelled.
func (q *queue) block(e *api.Evaluation, now time.Time) (older *api.Evaluation) {
	switch q.place[e.ID] {
	case placeWaiting: // already woken
		return nil
	case placeOut: // its worker is about to acknowledge it
		return nil
	}
	if j := q.jobs[e.JobKey()]; j != nil && j.blocked != nil && j.blocked.ID != e.ID {
		older = j.blocked
		j.blocked = nil
	}
	if known := q.blocked.evaluationOf(e.JobKey()); known != nil {
		q.blocked.remove(known.JobKey())
		if known.ID != e.ID {
			older = known
		}
	}
	if older != nil {
		q.stopTimer(older.ID)
		q.place[older.ID] = placeFailing
	}
	q.stopTimer(e.ID)
	need := q.world.need(e)
	if name, missed := q.missedQuota(e, &need.limits); missed {
		if name != "" {
			q.wake(e, now, quotaOffer+name)
		} else {
			q.wake(e, now)
		}
		return older
	}
	if node, missed := q.missedChange(e, need); missed {
		if node != "" {
			q.wake(e, now, node)
		} else {
			q.wake(e, now)
		}
		return older
	}
	q.place[e.ID] = placeBlocked
	q.blocked.add(e, need)
	if e.WaitUntil.After(now) {
		q.startTimer(&timer{at: e.WaitUntil, eval: e})
	}
	return older
}

// missedChange reports whether a change after the evaluation's snapshot could help the
// evaluation. It returns the node if the node is known.
func (q *queue) missedChange(e *api.Evaluation, n demand) (node string, missed bool) {
	if q.news.newest <= e.SnapshotIndex || !needsRoom(e) {
		return "", false
	}
	set := classSet{any: e.EscapedComputedClass, classes: e.ClassEligibility}
	all := q.news.since(e.SnapshotIndex, func(at string, c change) bool {
		if !set.helpedBy(c.class) || n.fixed && !q.world.lacks(e, at) {
			return true
		}
		free, sized, ready := q.world.free(at)
		if !ready {
			return true
		}
		if n.sized && sized {
			if _, fits := n.Fits(free); !fits {
				return true
			}
		}
		node, missed = at, true
		return false
	})
	if missed || all {
		return node, missed
	}
	for class, index := range q.news.classes {
		if index > e.SnapshotIndex && set.helpedBy(class) {
			return "", true
		}
	}
	return "", false
}

// changed records that a node may now have room, and offers that room.
func (q *queue) changed(node, class string, index uint64, now time.Time) {
	q.news.add(node, class, index)
	q.offer(node, now)
}

// offer offers the free room of a node to the evaluations that have not examined the node
// since its last change.
func (q *queue) offer(node string, now time.Time) {
	c, known := q.news.nodes[node]
	if !known || len(q.blocked.byJob) == 0 {
		return
	}
	free, sized, ready := q.world.free(node)
	if !ready {
		return
	}
	o := &offer{node: node, class: c.class, index: c.index, free: free, sized: sized, lacks: q.world.lacks}
	for _, e := range q.blocked.take(o) {
		q.wake(e, now, node)
	}
}

// offerReleased offers the free room of a node to every evaluation that fits into it,
// whatever snapshot the evaluation used. The room seemed taken in all snapshots.
func (q *queue) offerReleased(node, class string, now time.Time) {
	free, sized, ready := q.world.free(node)
	if !ready || len(q.blocked.byJob) == 0 {
		return
	}
	o := &offer{node: node, class: class, index: math.MaxUint64, free: free, sized: sized, whole: true, lacks: q.world.lacks}
	for _, e := range q.blocked.take(o) {
		q.wake(e, now)
	}
}

// offerAgain repeats offers, in case the evaluations that they woke left some of the room.
func (q *queue) offerAgain(nodes []string, now time.Time) {
	if len(nodes) > 1 {
		slices.Sort(nodes)
		nodes = slices.Compact(nodes)
	}
	for _, node := range nodes {
		if strings.HasPrefix(node, quotaOffer) {
			q.offerQuotaAgain(node, now)
			continue
		}
		q.offer(node, now)
	}
}

// wakeJob wakes the job's blocked evaluation, whatever it waits for.
func (q *queue) wakeJob(job api.NamespacedID, now time.Time) {
	if e := q.blocked.evaluationOf(job); e != nil {
		q.blocked.remove(job)
		q.wake(e, now)
	}
}

// wakeAll wakes every blocked evaluation whose snapshot is older than the index.
func (q *queue) wakeAll(index uint64, now time.Time) {
	for job, i := range q.blocked.byJob {
		if i.eval.SnapshotIndex < index && needsRoom(i.eval) {
			q.wakeJob(job, now)
		}
	}
}
