// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"slices"
	"time"

	"github.com/reeve-run/reeve/api"
)

// An Action is what a sweep does with a stack, besides noting its verdict.
type Action uint8

// The actions of a sweep.
const (
	Keep   Action = iota // nothing
	Fail                 // the stack was not ready at its deadline: it fails
	Mark                 // its time has ended: it becomes garbage
	Remove               // its grace has ended: its job is purged
)

// A Decision is the outcome of a sweep for one stack.
type Decision struct {
	Stack   *api.Stack
	Verdict api.Verdict
	Action  Action
	Expires time.Time // new end of the stack's time; zero: none
	Called  bool      // reports whether something uses the stack now
}

// A Sweeping is the occasion of a sweep.
type Sweeping struct {
	Now      time.Time
	Interval time.Duration // between two sweeps
	Last     time.Time     // the last sweep; zero: none
	// Stale names a stale domain for each namespace whose jobs have one.
	Stale map[string]string
	// WasStale holds the namespaces whose stacks the last sweep could not judge.
	WasStale map[string]bool
}

// A Sweep is the result of a sweep.
type Sweep struct {
	Decisions []Decision // of all stacks, by namespace, unit and version
	// Gap is the time without a leader before the sweep, by which all deadlines move.
	Gap time.Duration
	// Stale holds the namespaces whose stacks the sweep could not judge.
	Stale map[string]bool
}

// SweepStacks decides about every stack. A policy may extend a stack's time first; a stack whose
// time has ended then becomes garbage, and garbage whose grace has ended is removed.
//
// Where callers may be unknown, because a domain in the namespace or below it is stale,
// nothing is failed, marked or removed. After such a time, and after a gap without a
// leader, every stack has at least the time of one extension left.
func (x *Index) SweepStacks(o Sweeping) Sweep {
	s := Sweep{Decisions: make([]Decision, 0, len(x.nodes)), Stale: make(map[string]bool)}
	if gap := o.Now.Sub(o.Last); !o.Last.IsZero() && gap > 2*o.Interval {
		s.Gap = gap
	}
	cones := staleCones(o.Stale)
	for _, u := range x.order {
		domain, stale := cones[u.namespace]
		if stale {
			s.Stale[u.namespace] = true
		}
		first := len(s.Decisions)
		for i := range u.nodes {
			s.Decisions = append(s.Decisions, u.nodes[i].decide(o.Now))
		}
		if !stale {
			u.limit(s.Decisions[first:], o.Now)
		}
		for i := range u.nodes {
			u.nodes[i].settle(&s.Decisions[first+i], o, s.Gap, stale, domain)
		}
	}
	for i := range s.Decisions {
		s.Decisions[i].expire(o.Now)
	}
	return s
}

// staleCones returns a stale domain for each namespace whose stacks may have unknown callers: callers
// are in the namespace or below it.
func staleCones(stale map[string]string) map[string]string {
	cones := make(map[string]string, len(stale))
	for namespace, domain := range stale {
		for ok := true; ok; namespace, ok = parentOf(namespace) {
			if old, known := cones[namespace]; !known || domain < old {
				cones[namespace] = domain
			}
		}
	}
	return cones
}

// decide returns the verdict on a stack at a time, without what the sweep adds.
func (n *node) decide(now time.Time) Decision {
	d := Decision{Stack: n.stack, Expires: n.stack.Expires, Verdict: api.Verdict{At: now}}
	switch n.stack.Status {
	case api.StackReady:
		d.Verdict = n.judge(now)
		d.Called = n.use(now).Reason != ""
		if d.Verdict.Kept {
			d.Expires = later(d.Expires, now.Add(n.stack.Spec.Extension()))
		}
	case api.StackGarbage:
		d.Verdict.Reason = api.DeclinedGarbage
	case api.StackFailed:
		d.Verdict.Reason = api.DeclinedFailed
	default:
		d.Verdict.Kept, d.Verdict.Reason = true, api.KeptUnfinished
	}
	d.Verdict.Before = n.stack.Expires
	return d
}

// settle applies what rules over a verdict: gaps, stale domains and holds.
func (n *node) settle(d *Decision, o Sweeping, gap time.Duration, stale bool, domain string) {
	if gap > 0 && !d.Expires.IsZero() && d.Expires.Equal(n.stack.Expires) {
		d.Expires = d.Expires.Add(gap)
	}
	if (gap > 0 || o.WasStale[n.unit.namespace] || stale) && !d.Expires.IsZero() {
		d.Expires = later(d.Expires, o.Now.Add(n.stack.Spec.Extension()))
	}
	switch {
	case n.stack.IsHeld(o.Now):
		d.Verdict.Kept, d.Verdict.Reason, d.Verdict.Subject = true, api.KeptHeld, n.stack.Hold.By
		d.Expires = later(d.Expires, o.Now.Add(n.stack.Spec.Extension()))
	case stale && !d.Verdict.Kept:
		d.Verdict.Kept, d.Verdict.Reason, d.Verdict.Subject = true, api.KeptStale, domain
	}
}

// limit declines the oldest stacks of a unit that has more of them than its newest stack
// allows. Stacks that something uses do not lose their time.
func (u *unit) limit(decisions []Decision, now time.Time) {
	count, limit := 0, api.DefaultMaxStacks
	for i := range u.nodes {
		if s := u.nodes[i].stack; s.Status == api.StackReady {
			count++
			limit = s.Spec.StackLimit()
		}
	}
	if count <= limit {
		return
	}
	var idle []int
	for i, d := range decisions {
		if d.Stack.Status == api.StackReady && !d.Called && !d.Stack.IsHeld(now) && !u.nodes[i].target {
			idle = append(idle, i)
		}
	}
	slices.SortStableFunc(idle, func(a, b int) int {
		return decisions[a].Stack.DeployedAt.Compare(decisions[b].Stack.DeployedAt)
	})
	for _, i := range idle[:min(count-limit, len(idle))] {
		d := &decisions[i]
		d.Verdict.Kept, d.Verdict.Reason = false, api.DeclinedCrowded
		d.Expires = d.Stack.Expires
	}
}

// expire turns a verdict into an action if the stack's time has ended.
func (d *Decision) expire(now time.Time) {
	d.Verdict.After = d.Expires
	if d.Expires.IsZero() || !d.Expires.Before(now) || d.Verdict.Reason == api.KeptStale || d.Verdict.Reason == api.KeptHeld {
		return
	}
	switch d.Stack.Status {
	case api.StackReady:
		if d.Called || d.Verdict.Kept {
			return
		}
		d.Action, d.Expires = Mark, now.Add(d.Stack.Spec.GraceAfter(api.StackGarbage))
	case api.StackWarming, api.StackDeploying:
		d.Action, d.Verdict.Kept, d.Verdict.Reason = Fail, false, api.DeclinedLate
		d.Expires = now.Add(d.Stack.Spec.GraceAfter(api.StackFailed))
	case api.StackGarbage, api.StackFailed:
		if !d.Stack.Removing {
			d.Action = Remove
		}
	}
	d.Verdict.After = d.Expires
}

func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}
