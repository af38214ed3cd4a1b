// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package traffic

import (
	"net/http"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/lifecycle"
	"github.com/reeve-run/reeve/internal/state"
	"github.com/reeve-run/reeve/internal/testbed/bubble"
)

// observed is a shift from a to b with a term's traffic.
type observed struct {
	*Traffic
	snap     *state.Snapshot
	shift    *api.Shift
	sequence uint64
}

func newObserved(t *testing.T, transport http.RoundTripper, checks ...*api.ShiftCheck) *observed {
	return &observed{Traffic: New(t.Context(), transport), snap: state.New().Snapshot(), shift: &api.Shift{
		ID: "sh", Namespace: "default", Unit: "web", From: "a", To: "b", Status: api.ShiftRunning, CheckedAt: now,
		Spec: api.ShiftSpec{Checks: checks, Interval: 30 * time.Second, MinRequests: 10},
	}}
}

// count reports requests to both stacks, with errors of b.
func (o *observed) count(each, errors uint64) {
	o.sequence++
	latency := []api.LatencyCount{{Below: 10 * time.Millisecond, Count: each}}
	o.meter.add(&api.TrafficReport{Router: "r", Sequence: o.sequence, Stacks: []*api.StackTraffic{
		{Namespace: "default", Stack: "a", Requests: each, Latency: latency},
		{Namespace: "default", Stack: "b", Requests: each, Errors: errors, Latency: latency},
	}}, everything, now)
}

// outcome returns the outcome of a check after some seconds, or "".
func (o *observed) outcome(seconds int, check string) string {
	r, ok := o.Observe(o.snap, o.shift, now.Add(time.Duration(seconds)*time.Second)).Checks[check]
	if !ok {
		return ""
	}
	return map[lifecycle.Outcome]string{lifecycle.Passed: "passed", lifecycle.Failed: "failed", lifecycle.Inconclusive: "inconclusive"}[r.Outcome]
}

func TestAnIntervalCountsOnlyItsOwnRequests(t *testing.T) {
	o := newObserved(t, nil, &api.ShiftCheck{Name: "errors", Metric: api.MetricErrors, Max: "1%"})
	o.count(1000, 1000) // before the shift was observed
	for _, c := range []struct {
		seconds          int
		requests, errors uint64
		stored           int // second at which the state took in outcomes; 0: not now
		want             string
	}{
		{0, 0, 0, 0, ""},
		{29, 100, 0, 0, ""},
		{30, 0, 0, 0, "passed"},
		{35, 100, 100, 0, "passed"}, // until the state has taken it in
		{40, 0, 0, 30, ""},
		{59, 0, 0, 0, ""},
		{60, 0, 0, 0, "failed"}, // the requests of second 35
		{65, 0, 0, 60, ""},
		{90, 9, 9, 0, "inconclusive"},
		{95, 0, 0, 90, ""},
		{120, 10, 0, 0, "passed"},
	} {
		if c.requests > 0 {
			o.count(c.requests, c.errors)
		}
		if c.stored > 0 {
			o.shift.CheckedAt = now.Add(time.Duration(c.stored) * time.Second)
		}
		if got := o.outcome(c.seconds, "errors"); got != c.want {
			t.Errorf("after %d s: %q, want %q", c.seconds, got, c.want)
		}
	}
	o.Forget("sh")
	if got := o.outcome(150, "errors"); got != "" {
		t.Errorf("a shift that begins again has an outcome: %s", got)
	}
}

func TestAnIntervalWaitsForTheAnswersOfItsGates(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		answer := make(chan struct{})
		asked := 0
		gate := answering(func(q *http.Request) (*http.Response, error) {
			asked++
			select {
			case <-answer:
				return status(200)(q)
			case <-q.Context().Done():
				return nil, q.Context().Err()
			}
		})
		o := newObserved(t, gate, &api.ShiftCheck{Name: "smoke", HTTP: "http://ci.test/"})
		for _, seconds := range []int{0, 24} {
			if got := o.outcome(seconds, "smoke"); got != "" || asked != 0 {
				t.Errorf("after %d s: %q, asked %d times", seconds, got, asked)
			}
		}
		if got := o.outcome(25, "smoke"); got != "" {
			t.Errorf("before the answer: %q", got)
		}
		if got := o.outcome(31, "smoke"); got != "" {
			t.Errorf("after the interval, before the answer: %q", got)
		}
		close(answer)
		o.Traffic.requests.Wait()
		if got := o.outcome(32, "smoke"); got != "passed" || asked != 1 {
			t.Errorf("with the answer: %q, asked %d times", got, asked)
		}
	})
}

func TestFiguresAreThoseOfTheLastSeconds(t *testing.T) {
	o := newObserved(t, nil)
	at := func(seconds float64) time.Time { return now.Add(time.Duration(seconds * float64(time.Second))) }
	if o.Figures(o.shift, now) != nil {
		t.Error("a shift that nobody observed has figures")
	}
	o.count(1000, 1000)
	o.Observe(o.snap, o.shift, now)
	if f := o.Figures(o.shift, at(0.5)); f != nil {
		t.Errorf("figures after half a second: %+v", f)
	}
	none := api.StackFigures{}
	if diff := cmp.Diff(&api.ShiftTraffic{Since: now, From: none, To: none}, o.Figures(o.shift, at(1))); diff != "" {
		t.Errorf("without requests (-want +got):\n%s", diff)
	}
	o.count(40, 10)
	f := o.Figures(o.shift, at(4))
	if f.To.Requests != 40 || f.To.Rate != 10 || f.To.Errors != 0.25 || f.From.Errors != 0 || f.To.P99 <= 0 {
		t.Errorf("figures of b: %+v", f.To)
	}
	for seconds := 4.0; seconds <= 40; seconds += 2 {
		o.Observe(o.snap, o.shift, at(seconds))
	}
	if f := o.Figures(o.shift, at(40)); f.To.Requests != 0 || at(40).Sub(f.Since) > 20*time.Second {
		t.Errorf("figures since %s hold %d old requests", f.Since.Sub(now), f.To.Requests)
	}
}
