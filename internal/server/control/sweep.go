// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package control

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/lifecycle"
	"github.com/reeve-run/reeve/internal/state"
)

// SweepInterval is the default time between two sweeps of stacks.
const SweepInterval = 10 * time.Minute

// sweepKey is the only key of the controller: a sweep concerns all stacks.
const sweepKey = "sweep"

// sweep decides which stacks are kept.
type sweep struct {
	interval time.Duration
	uses     func(*state.Snapshot) []lifecycle.Use
}

// NewSweep returns the controller that sweeps stacks. Uses returns the callers that routers
// observed; nil: none.
func NewSweep(interval time.Duration, uses func(*state.Snapshot) []lifecycle.Use) Controller {
	if interval <= 0 {
		interval = SweepInterval
	}
	return &sweep{interval, uses}
}

func (*sweep) Name() string { return "sweep" }

func (*sweep) All(*state.Snapshot) []string { return []string{sweepKey} }

func (*sweep) Touched(c *state.Change, add func(string)) {
	if c.Table == state.TableStacks && c.Old == nil {
		add(sweepKey) // the first stack begins the sweeps
	}
}

func (c *sweep) Act(snap *state.Snapshot, _ string, now time.Time) ([]state.Command, time.Time) {
	last := snap.LastSweep()
	if last != nil {
		if next := last.Time.Add(c.interval); now.Before(next) {
			return nil, next
		}
	}
	if last == nil && !hasStack(snap) {
		return nil, time.Time{} // the first stack touches the sweep
	}
	return []state.Command{Sweep(snap, c.interval, c.uses, now)}, now.Add(c.interval)
}

func hasStack(snap *state.Snapshot) bool {
	for range snap.Stacks("*") {
		return true
	}
	return false
}

// Sweep computes a sweep at a time, as the command that stores it.
func Sweep(snap *state.Snapshot, interval time.Duration, uses func(*state.Snapshot) []lifecycle.Use, now time.Time) *state.SweepStacks {
	result := SweepResult(snap, interval, uses, now)
	cmd := &state.SweepStacks{
		Since: snap.LifecycleIndex(),
		Sweep: api.LifecycleSweep{Time: now, Stale: slices.Sorted(maps.Keys(result.Stale))},
	}
	extended := make(map[state.StackExpiry]int)
	for _, d := range result.Decisions {
		if d.Action == lifecycle.Keep && (d.Stack.Status != api.StackReady || !isNews(d.Stack.Verdict, &d.Verdict)) {
			if !d.Called && d.Expires.Equal(d.Stack.Expires) {
				continue
			}
			key := state.StackExpiry{Expires: d.Expires.UnixNano(), Called: d.Called}
			i, ok := extended[key]
			if !ok {
				i = len(cmd.Extended)
				extended[key] = i
				cmd.Extended = append(cmd.Extended, state.StackExtension{Expires: d.Expires, Called: d.Called})
			}
			cmd.Extended[i].Stacks = append(cmd.Extended[i].Stacks, jobKey(d.Stack.Key()))
			continue
		}
		cmd.Decided = append(cmd.Decided, decision(d))
	}
	if uses != nil {
		cmd.Observed = observations(snap, uses(snap))
	}
	return cmd
}

const (
	// maxUses bounds the stored callers of a stack, and maxObserved the stacks whose callers one
	// sweep stores.
	maxUses     = 10
	maxObserved = 5000
)

// observations returns the callers of stacks to store: a new leader begins without those that routers
// reported.
func observations(snap *state.Snapshot, uses []lifecycle.Use) (list []state.StackObservation) {
	byStack := make(map[api.NamespacedID][]api.StackUse)
	for _, use := range uses {
		byStack[use.Stack] = append(byStack[use.Stack], use.StackUse)
	}
	for key, of := range byStack {
		slices.SortFunc(of, func(a, b api.StackUse) int {
			return cmp.Or(b.Last.Compare(a.Last), strings.Compare(a.Caller, b.Caller), strings.Compare(a.Want, b.Want))
		})
		of = of[:min(len(of), maxUses)]
		if s := snap.Stack(key.Namespace, key.ID); s != nil && !slices.EqualFunc(s.Observed, of, isSameUse) {
			list = append(list, state.StackObservation{Namespace: key.Namespace, Name: key.ID, Uses: of})
		}
	}
	slices.SortFunc(list, func(a, b state.StackObservation) int {
		return cmp.Or(strings.Compare(a.Namespace, b.Namespace), strings.Compare(a.Name, b.Name))
	})
	return list[:min(len(list), maxObserved)]
}

func isSameUse(a, b api.StackUse) bool {
	return a.Caller == b.Caller && a.Want == b.Want && a.Last.Equal(b.Last)
}

func decision(d lifecycle.Decision) state.StackDecision {
	s := state.StackDecision{
		Namespace: d.Stack.Namespace, Name: d.Stack.Name, ModifyIndex: d.Stack.ModifyIndex,
		Verdict: d.Verdict, Text: lifecycle.Explain(&d.Verdict), Expires: d.Expires, Called: d.Called,
	}
	switch d.Action {
	case lifecycle.Mark:
		s.Status = api.StackGarbage
	case lifecycle.Fail:
		s.Status = api.StackFailed
	case lifecycle.Remove:
		s.Remove = true
	}
	return s
}

// isNews reports whether a verdict differs from the one before in more than its times.
func isNews(old, new *api.Verdict) bool {
	return old == nil || old.Kept != new.Kept || old.Policy != new.Policy || old.Reason != new.Reason ||
		old.Subject != new.Subject || !slices.Equal(old.Callers, new.Callers)
}

// SweepResult computes the decisions of a sweep at a time, without the command that stores them.
func SweepResult(snap *state.Snapshot, interval time.Duration, uses func(*state.Snapshot) []lifecycle.Use, now time.Time) lifecycle.Sweep {
	o := lifecycle.Sweeping{Now: now, Interval: interval, Stale: staleNamespaces(snap, now), WasStale: make(map[string]bool)}
	if last := snap.LastSweep(); last != nil {
		o.Last = last.Time
		for _, namespace := range last.Stale {
			o.WasStale[namespace] = true
		}
	}
	return LifecycleIndex(snap, uses).SweepStacks(o)
}

// staleNamespaces returns a stale domain for each namespace that has a job in one.
func staleNamespaces(snap *state.Snapshot, now time.Time) map[string]string {
	fresh := make(map[string]bool)
	stale := make(map[string]string)
	for job := range snap.Jobs() {
		isFresh, known := fresh[job.Domain]
		if !known {
			isFresh = snap.Domain(job.Domain).IsFresh(now)
			fresh[job.Domain] = isFresh
		}
		if !isFresh {
			if old, found := stale[job.Namespace]; !found || job.Domain < old {
				stale[job.Namespace] = job.Domain
			}
		}
	}
	return stale
}
