// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package traffic

import (
	"cmp"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/lifecycle"
	"github.com/reeve-run/reeve/internal/state"
)

const (
	// markEvery is the least time between two marks of a shift's figures, and shown the
	// number of marks between the figures that users see and now.
	markEvery = 4 * time.Second
	shown     = 3
)

// A watch observes one shift. Its outcomes stay the same until the state has taken them in, because
// a command that stores them may be rejected.
type watch struct {
	began time.Time // of the interval
	base  pair      // counts at that time
	gates map[string]*gate

	ended    time.Time // of the interval whose outcomes are in checks
	checks   map[string]lifecycle.CheckResult
	crashes  map[string]uint64 // by instance, those that the state knows
	pending  map[string]uint64 // crashes that the state does not know yet
	observed time.Time         // time of the pending crashes

	marks []mark
}

// A pair holds the counts of both stacks of a shift.
type pair struct{ from, to counts }

// A mark is a pair at a time.
type mark struct {
	at time.Time
	pair
}

// Observe returns what happened to a shift's newer stack since the last outcomes that the shift has taken in.
func (t *Traffic) Observe(snap *state.Snapshot, s *api.Shift, now time.Time) (o lifecycle.Observation) {
	counted := pair{t.meter.total(s.Namespace, s.From), t.meter.total(s.Namespace, s.To)}
	t.mu.Lock()
	defer t.mu.Unlock()
	w := t.shifts[s.ID]
	if w == nil {
		w = &watch{began: now, base: counted, gates: make(map[string]*gate), crashes: crashesOf(snap, s)}
		t.shifts[s.ID] = w
	}
	w.mark(counted, now)
	o.ToCrashed, o.CrashReason = w.observeCrashes(snap, s, now)
	if len(s.Spec.Checks) == 0 {
		return o
	}
	if w.checks != nil && !s.CheckedAt.Before(w.ended) { // the shift has taken them in
		w.checks, w.began = nil, w.ended
	}
	if left := cmp.Or(s.Spec.Interval, api.DefaultShiftInterval) - now.Sub(w.began); w.checks == nil && left <= askAhead {
		if complete := t.askGates(w, s, now); complete && left <= 0 {
			w.checks, w.ended = w.evaluate(s, counted), now
			w.base = counted
		}
	}
	o.Checks = w.checks
	return o
}

// evaluate returns the outcome of each check that is due at the end of an interval.
func (w *watch) evaluate(s *api.Shift, counted pair) map[string]lifecycle.CheckResult {
	from, to := sample(counted.from.since(&w.base.from)), sample(counted.to.since(&w.base.to))
	results := make(map[string]lifecycle.CheckResult, len(s.Spec.Checks))
	for _, c := range s.Spec.Checks {
		if c.Metric != "" {
			results[c.Name] = lifecycle.EvaluateMetric(c, from, to, cmp.Or(s.Spec.MinRequests, api.DefaultMinRequests))
		} else if r, due := w.gates[c.Name].take(); due {
			results[c.Name] = r
		}
	}
	return results
}

func sample(c counts) lifecycle.Sample {
	return lifecycle.Sample{Requests: c.requests, Errors: c.errors, P99: c.latency.Percentile(0.99).Seconds()}
}

// observeCrashes reports whether an instance of the newer stack crashed since the shift last took a
// crash in, and the reason of the last crash.
func (w *watch) observeCrashes(snap *state.Snapshot, s *api.Shift, now time.Time) (crashed bool, reason string) {
	if w.pending != nil && !s.CheckedAt.Before(w.observed) {
		w.crashes, w.pending = w.pending, nil
	}
	are := crashesOf(snap, s)
	for instance, n := range are {
		crashed = crashed || n > w.crashes[instance]
	}
	if !crashed {
		return false, ""
	}
	if w.pending == nil {
		w.pending, w.observed = are, now
	}
	var last int64
	for a := range snap.AllocationsByJob(s.Namespace, s.To) {
		if c := a.Crashes; c != nil && c.At > last {
			last, reason = c.At, c.Reason
		}
	}
	return true, reason
}

// crashesOf counts the crashes of each instance of a shift's newer stack.
func crashesOf(snap *state.Snapshot, s *api.Shift) map[string]uint64 {
	counted, others := make(map[string]uint64), make(map[string]uint64)
	for a := range snap.AllocationsByJob(s.Namespace, s.To) {
		switch {
		case a.Crashes != nil: // over all allocations of the instance so far
			counted[a.Name] = max(counted[a.Name], uint64(max(a.Crashes.Total, 0)))
		case a.ClientStatus == api.AllocClientFailed:
			others[a.Name]++
		}
	}
	for instance, n := range others {
		counted[instance] += n
	}
	return counted
}

func (w *watch) mark(counted pair, now time.Time) {
	if n := len(w.marks); n > 0 && now.Sub(w.marks[n-1].at) < markEvery {
		return
	}
	if len(w.marks) > shown {
		w.marks = w.marks[1:]
	}
	w.marks = append(w.marks, mark{now, counted})
}

// Forget forgets a shift that has ended.
func (t *Traffic) Forget(id string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.shifts, id)
}

// Figures returns the figures of a shift over the last seconds, nil for a shift that just began.
func (t *Traffic) Figures(s *api.Shift, now time.Time) *api.ShiftTraffic {
	counted := pair{t.meter.total(s.Namespace, s.From), t.meter.total(s.Namespace, s.To)}
	t.mu.Lock()
	defer t.mu.Unlock()
	w := t.shifts[s.ID]
	if w == nil || len(w.marks) == 0 {
		return nil
	}
	first := w.marks[0]
	over := now.Sub(first.at)
	if over < time.Second {
		return nil
	}
	return &api.ShiftTraffic{Since: first.at, From: figures(counted.from.since(&first.from), over), To: figures(counted.to.since(&first.to), over)}
}

func figures(c counts, over time.Duration) api.StackFigures {
	f := api.StackFigures{Requests: c.requests, Rate: float64(c.requests) / over.Seconds(), P99: c.latency.Percentile(0.99)}
	if c.requests > 0 {
		f.Errors = float64(c.errors) / float64(c.requests)
	}
	return f
}
