// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"fmt"
	"time"

	"github.com/reeve-run/reeve/api"
)

// An attempt is what the reschedule policy says of a failed allocation.
type attempt struct {
	never bool
	due   time.Time     // not before
	delay time.Duration // from the failure to due
	why   string        // why never, in words
}

// nextAttempt says when a failed allocation may be replaced. A policy that is
// missing never replaces.
func nextAttempt(p *api.Reschedule, a *api.Allocation, now time.Time) attempt {
	d := a.DesiredTransition
	if isTrue(d.ForceReschedule) || isTrue(d.Reschedule) {
		return attempt{due: now}
	}
	if p == nil || !isTrue(p.Unlimited) && of(p.Attempts) == 0 {
		return attempt{never: true, why: "its reschedule policy allows no further attempt"}
	}
	at := failedAt(a)
	if !isTrue(p.Unlimited) {
		if made := attemptsWithin(a, of(p.Interval), at); made >= of(p.Attempts) {
			return attempt{never: true, why: fmt.Sprintf("its reschedule policy allows %d attempts within %s, and they are used up", of(p.Attempts), of(p.Interval))}
		}
	}
	if of(p.Immediate) > inARow(p, a, at) {
		return attempt{due: at}
	}
	delay := backoff(p, a, at)
	return attempt{due: at.Add(delay), delay: delay}
}

// backoff is the delay before the next attempt. An instance that ran for longer
// than the longest delay begins again at the shortest.
func backoff(p *api.Reschedule, a *api.Allocation, failed time.Time) time.Duration {
	base, limit := of(p.Delay), of(p.MaxDelay)
	events := tried(a)
	if len(events) == 0 || of(p.DelayFunction) == api.DelayConstant || of(p.DelayFunction) == "" {
		return base
	}
	last := events[len(events)-1].Delay
	if limit > 0 && failed.Sub(time.Unix(0, a.CreateTime)) > limit {
		return base
	}
	next := 2 * last
	if of(p.DelayFunction) == api.DelayFibonacci {
		next = last
		if len(events) > 1 {
			next += events[len(events)-2].Delay
		}
	}
	next = max(next, base)
	if limit > 0 {
		next = min(next, limit)
	}
	return next
}

// calm is how long an instance has to run, where its policy has no longest delay,
// for its next failure to be the first of a new row.
const calm = 5 * time.Minute

// calmOf is how long an instance has to run for its next failure to be the first
// of a new row.
func calmOf(p *api.Reschedule) time.Duration {
	if limit := of(p).MaxDelay; of(limit) > 0 {
		return *limit
	}
	return calm
}

// inARow counts the replacements that led to the allocation since the instance
// last ran for longer than the longest delay.
func inARow(p *api.Reschedule, a *api.Allocation, failed time.Time) (n int) {
	limit := calmOf(p)
	started := time.Unix(0, a.CreateTime)
	all := tried(a)
	for i := len(all) - 1; i >= 0 && failed.Sub(started) <= limit; i-- {
		n++
		failed = time.Unix(0, all[i].RescheduleTime).Add(-all[i].Delay)
		if i > 0 {
			started = time.Unix(0, all[i-1].RescheduleTime)
		} else {
			started = failed // nothing is known of what was before
		}
	}
	return n
}

// attemptsWithin counts the replacements that led to the allocation, made
// within the interval before its failure.
func attemptsWithin(a *api.Allocation, interval time.Duration, failed time.Time) (n int) {
	for _, e := range tried(a) {
		if interval <= 0 || failed.Sub(time.Unix(0, e.RescheduleTime)) < interval {
			n++
		}
	}
	return n
}

func events(a *api.Allocation) []*api.RescheduleEvent {
	if a.RescheduleTracker == nil {
		return nil
	}
	return a.RescheduleTracker.Events
}

// failedAt is when the last task of the allocation ended.
func failedAt(a *api.Allocation) time.Time {
	var at time.Time
	for _, t := range a.TaskStates {
		if t.FinishedAt.After(at) {
			at = t.FinishedAt
		}
	}
	if at.IsZero() {
		at = time.Unix(0, a.ModifyTime)
	}
	return at
}

// eventsKept is how many events of a tracker are kept at least; a policy with
// more attempts, or more immediate ones, keeps as many as it has to count.
const eventsKept = 5

// track returns the history of the allocation that replaces a failed one, which
// has been failing since then.
func track(p *api.Reschedule, a *api.Allocation, delay time.Duration, since, now time.Time) *api.RescheduleTracker {
	kept := eventsKept
	if p != nil {
		kept = max(kept, of(p.Immediate))
	}
	if p != nil && !isTrue(p.Unlimited) {
		kept = max(kept, of(p.Attempts))
	}
	kept += rejections(a)
	old := events(a)
	if len(old) >= kept {
		old = old[len(old)-kept+1:]
	}
	all := append(make([]*api.RescheduleEvent, 0, len(old)+1), old...)
	all = append(all, &api.RescheduleEvent{
		RescheduleTime: now.UnixNano(), PrevAllocID: a.ID, PrevNodeID: a.NodeID, Delay: delay, Rejected: refusal(a),
	})
	return &api.RescheduleTracker{Events: all, LastReschedule: "ok", Since: since.UnixNano(), Rejections: rejections(a)}
}

func isTrue(p *bool) bool { return p != nil && *p }

func of[T any](p *T) T {
	if p == nil {
		var zero T
		return zero
	}
	return *p
}
