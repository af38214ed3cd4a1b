// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package reschedule

import (
	"fmt"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/plan/opt"
)

// Together is the longest time between the due times of instances that one evaluation
// starts again.
const Together = time.Second

// An Attempt is the next attempt that the reschedule policy grants a failed allocation.
type Attempt struct {
	Never bool
	Due   time.Time     // not before
	Delay time.Duration // from the failure to due
	Why   string        // why never, in words
}

// Next says when a failed allocation may be replaced. A policy that is
// missing never replaces.
func Next(p *api.Reschedule, a *api.Allocation, now time.Time) Attempt {
	d := a.DesiredTransition
	if opt.IsTrue(d.ForceReschedule) || opt.IsTrue(d.Reschedule) {
		return Attempt{Due: now}
	}
	if p == nil || !opt.IsTrue(p.Unlimited) && opt.Of(p.Attempts) == 0 {
		return Attempt{Never: true, Why: "its reschedule policy allows no further attempt"}
	}
	at := FailedAt(a)
	if !opt.IsTrue(p.Unlimited) {
		if made := attemptsWithin(a, opt.Of(p.Interval), at); made >= opt.Of(p.Attempts) {
			return Attempt{Never: true, Why: fmt.Sprintf("its reschedule policy allows %d attempts within %s, and they are used up", opt.Of(p.Attempts), opt.Of(p.Interval))}
		}
	}
	if opt.Of(p.Immediate) > inARow(p, a, at) {
		return Attempt{Due: at}
	}
	delay := backoff(p, a, at)
	return Attempt{Due: at.Add(delay), Delay: delay}
}

// backoff is the delay before the next attempt. An instance that ran for longer
// than the longest delay begins again at the shortest.
func backoff(p *api.Reschedule, a *api.Allocation, failed time.Time) time.Duration {
	base, limit := opt.Of(p.Delay), opt.Of(p.MaxDelay)
	events := tried(a)
	if len(events) == 0 || opt.Of(p.DelayFunction) == api.DelayConstant || opt.Of(p.DelayFunction) == "" {
		return base
	}
	last := events[len(events)-1].Delay
	if limit > 0 && failed.Sub(time.Unix(0, a.CreateTime)) > limit {
		return base
	}
	next := 2 * last
	if opt.Of(p.DelayFunction) == api.DelayFibonacci {
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

// CalmPeriod is how long an instance has to run for its next failure to be the first
// of a new row.
func CalmPeriod(p *api.Reschedule) time.Duration {
	if limit := opt.Of(p).MaxDelay; opt.Of(limit) > 0 {
		return *limit
	}
	return calm
}

// inARow counts the replacements that led to the allocation since the instance
// last ran for longer than the longest delay.
func inARow(p *api.Reschedule, a *api.Allocation, failed time.Time) (n int) {
	limit := CalmPeriod(p)
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

// FailedAt is when the last task of the allocation ended.
func FailedAt(a *api.Allocation) time.Time {
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

// Track returns the history of the allocation that replaces a failed one, which
// has been failing since then.
func Track(p *api.Reschedule, a *api.Allocation, delay time.Duration, since, now time.Time) *api.RescheduleTracker {
	kept := eventsKept
	if p != nil {
		kept = max(kept, opt.Of(p.Immediate))
	}
	if p != nil && !opt.IsTrue(p.Unlimited) {
		kept = max(kept, opt.Of(p.Attempts))
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

// DelayAfter is the delay before an attempt, n having been delayed before it.
func DelayAfter(p *api.Reschedule, n int) time.Duration {
	delay, before := opt.Of(p.Delay), time.Duration(0)
	for range n {
		switch opt.Of(p.DelayFunction) {
		case api.DelayExponential:
			delay *= 2
		case api.DelayFibonacci:
			delay, before = delay+before, delay
		}
		if limit := opt.Of(p.MaxDelay); limit > 0 && delay >= limit {
			return limit
		}
	}
	return delay
}

// Penalised returns the nodes on which the instance failed before.
func Penalised(t *api.RescheduleTracker) []string {
	nodes := make([]string, 0, len(t.Events))
	for _, e := range t.Events {
		nodes = append(nodes, e.PrevNodeID)
	}
	return nodes
}
