// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package server_test

import (
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/server"
	"github.com/reeve-run/reeve/internal/state"
	"github.com/reeve-run/reeve/internal/testbed/bubble"
)

// A fakeRouter divides requests between the two stacks of a shift, and reports them.
type fakeRouter struct {
	c        *cluster
	sequence uint64
	perTick  uint64 // requests in two seconds
	// broken returns the errors of a number of requests to the newer stack.
	broken func(requests uint64) uint64
	took   time.Duration // by the newer stack; 0: 10 ms, as by the older one
}

// run sends and reports requests for a time.
func (r *fakeRouter) run(d time.Duration) {
	r.c.Helper()
	for end := time.Now().Add(d); time.Now().Before(end); {
		r.c.pass(2 * time.Second)
		r.sequence++
		report := &api.TrafficReport{Router: "r", Sequence: r.sequence}
		for s := range r.c.Store().Snapshot().Shifts() {
			to := uint64(s.Share * float64(r.perTick))
			errors := uint64(0)
			if r.broken != nil {
				errors = r.broken(to)
			}
			report.Stacks = append(report.Stacks,
				stackTraffic(s.From, r.perTick-to, 0, 10*time.Millisecond), stackTraffic(s.To, to, errors, max(r.took, 10*time.Millisecond)))
		}
		if _, err := r.c.TakeTraffic(report); err != nil {
			r.c.Fatal(err)
		}
	}
}

func stackTraffic(stack string, requests, errors uint64, took time.Duration) *api.StackTraffic {
	return &api.StackTraffic{Namespace: "default", Stack: stack, Requests: requests, Errors: errors, Latency: []api.LatencyCount{{Below: took, Count: requests}}}
}

// checked returns inventory 1.1.0 with a linear shift of 20 minutes that has checks.
func checked(checks ...*api.ShiftCheck) *api.Job {
	job := stackJob("inventory", "1.1.0")
	job.Stack.Shift = &api.ShiftSpec{Checks: checks}
	return job
}

var errorsCheck = &api.ShiftCheck{Name: "errors", Metric: api.MetricErrors, Max: "1%", Than: "from+0.5%"}

// shifting deploys inventory 1.0.0 and then a job, and returns the names of their stacks at the
// beginning of the shift.
func (c *cluster) shifting(next *api.Job) (from, to string) {
	c.Helper()
	from = c.deploy(stackJob("inventory", "1.0.0"))[0]
	c.untilStack(from, api.StackReady, time.Minute)
	to = c.deploy(next)[0]
	c.untilStack(to, api.StackReady, time.Minute)
	return from, to
}

// watched returns the only shift, with its figures.
func (c *cluster) watched() *api.Shift {
	c.Helper()
	return c.WithTraffic(c.shift())
}

var figures = regexp.MustCompile(`^reversed: 5xx [23]\.\d % against 0\.0 %$`)

func TestErrorsOfTheNewStackReverseItsShift(t *testing.T) {
	simulate(t, func(c *cluster) {
		c.addNode("n1", nil)
		from, to := c.shifting(checked(errorsCheck))
		r := &fakeRouter{c: c, perTick: 1000}
		r.run(6 * time.Minute)
		s := c.watched()
		if s.Status != api.ShiftRunning || s.Share < 0.25 {
			t.Fatalf("%s (%s) with share %v, want running and above 0.25", s.Status, s.Reason, s.Share)
		}
		if f := s.Traffic; f == nil || f.To.Rate < 100 || f.From.Rate < 300 || f.To.Errors != 0 || f.To.P99 == 0 || f.To.P99 > 12*time.Millisecond {
			t.Errorf("figures %+v, want about 140 and 360 requests per second of 10 ms", f)
		}
		r.broken = func(requests uint64) uint64 { return requests * 31 / 1000 }
		r.run(70 * time.Second)
		if s = c.watched(); s.Status != api.ShiftReversing || !figures.MatchString(s.Reason) {
			t.Fatalf("%s (%s), want reversing with the figures", s.Status, s.Reason)
		}
		r.run(5 * time.Minute)
		if s = c.watched(); s.Status != api.ShiftReversed || s.Share != 0 {
			t.Fatalf("%s with share %v, want reversed", s.Status, s.Share)
		}
		snap := c.Store().Snapshot()
		if got := snap.Unit("default", "inventory").Targets[1]; got != from || snap.Stack("default", to).Status != api.StackReady {
			t.Errorf("target %s and %s %s, want %s and that it stays ready", got, to, snap.Stack("default", to).Status, from)
		}
	})
}

func TestASlowStackReversesItsShift(t *testing.T) {
	simulate(t, func(c *cluster) {
		c.addNode("n1", nil)
		c.shifting(checked(&api.ShiftCheck{Name: "slow", Metric: api.MetricP99, Than: "from*1.5"}))
		r := &fakeRouter{c: c, perTick: 1000, took: 11 * time.Millisecond}
		r.run(5 * time.Minute)
		if s := c.watched(); s.Status != api.ShiftRunning {
			t.Fatalf("%s (%s), want running", s.Status, s.Reason)
		}
		r.took = 40 * time.Millisecond
		r.run(70 * time.Second)
		if s := c.watched(); s.Status != api.ShiftReversing || !strings.Contains(s.Reason, "p99 41ms against 10ms") {
			t.Errorf("%s (%s), want reversing with the figures", s.Status, s.Reason)
		}
	})
}

// TestTooFewRequestsHoldAShift sends 30 requests per interval to each stack, while the shift
// needs 100.
func TestTooFewRequestsHoldAShift(t *testing.T) {
	simulate(t, func(c *cluster) {
		c.addNode("n1", nil)
		c.shifting(checked(errorsCheck))
		few := func(d time.Duration) {
			r := &fakeRouter{c: c, perTick: 2}
			r.sequence = uint64(time.Now().Unix())
			r.run(d)
		}
		few(time.Minute)
		at := c.watched().Share
		few(3 * time.Minute)
		s := c.watched()
		if s.Share != at || s.Status != api.ShiftRunning || !strings.Contains(s.Reason, "of the 100 requests that check errors needs") {
			t.Fatalf("%s (%s) with share %v, want that it stands still at %v and why", s.Status, s.Reason, s.Share, at)
		}
		few(2 * time.Minute)
		if s = c.watched(); s.Share != at || s.Status != api.ShiftWaiting || !strings.Contains(s.Reason, "inconclusive for 10 intervals") {
			t.Fatalf("%s (%s) with share %v, want that it waits at %v", s.Status, s.Reason, s.Share, at)
		}
		if _, err := c.ShiftVerb(c.Context(), "default", "inventory", "resume", &api.ShiftVerbRequest{By: "ann"}); err != nil {
			t.Fatal(err)
		}
		(&fakeRouter{c: c, perTick: 100_000, sequence: uint64(time.Now().Unix())}).run(2 * time.Minute)
		if s = c.watched(); s.Share <= at || s.Status != api.ShiftRunning || s.Reason != "" {
			t.Errorf("%s (%s) with share %v, want that it goes on from %v", s.Status, s.Reason, s.Share, at)
		}
	})
}

// TestAShiftHoldsWithoutInstances lets all instances of the newer stack become unready.
func TestAShiftHoldsWithoutInstances(t *testing.T) {
	simulate(t, func(c *cluster) {
		n := c.addNode("n1", nil)
		_, to := c.shifting(stackJob("inventory", "1.1.0"))
		c.pass(5 * time.Minute)
		at := c.watched().Share
		serve := func(routable bool) {
			for _, a := range running(c.Store().Snapshot(), to) {
				u := *a
				u.Serving = &api.Serving{Up: true, Routable: routable}
				if _, err := c.UpdateAllocations(c.Context(), n.node.ID, []*api.Allocation{&u}); err != nil {
					t.Fatal(err)
				}
			}
		}
		serve(false)
		c.pass(6 * time.Second)
		before := c.Store().Snapshot().Index()
		c.pass(10 * time.Minute)
		s := c.watched()
		if !s.Held || s.Status != api.ShiftRunning || s.Share > at+0.011 || !strings.Contains(s.Reason, "answers for it") {
			t.Fatalf("held %v (%s) with share %v, want held at %v", s.Held, s.Reason, s.Share, at)
		}
		if s.ModifyIndex > before {
			t.Errorf("a shift that stands still is written again and again, last at index %d", s.ModifyIndex)
		}
		serve(true)
		c.pass(time.Minute)
		if s = c.watched(); s.Held || s.Share <= at || s.Share > at+0.07 {
			t.Errorf("held %v with share %v, want that it goes on from %v", s.Held, s.Share, at)
		}
	})
}

// gates answers the requests of checks.
type gates struct {
	mu     sync.Mutex
	answer func(*http.Request) (*http.Response, error)
	asked  []*http.Request
}

func (g *gates) RoundTrip(req *http.Request) (*http.Response, error) {
	g.mu.Lock()
	g.asked = append(g.asked, req)
	answer := g.answer
	g.mu.Unlock()
	return answer(req)
}

func (g *gates) set(answer func(*http.Request) (*http.Response, error)) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.answer = answer
}

func answers(status int) func(*http.Request) (*http.Response, error) {
	return func(req *http.Request) (*http.Response, error) {
		return &http.Response{StatusCode: status, Header: http.Header{"Location": {"https://elsewhere/"}}, Body: http.NoBody, Request: req}, nil
	}
}

// hangs never answers.
func hangs(req *http.Request) (*http.Response, error) {
	<-req.Context().Done()
	return nil, req.Context().Err()
}

func withGates(t *testing.T, f func(c *cluster, g *gates)) {
	t.Helper()
	bubble.Test(t, func(t *testing.T) {
		g := &gates{answer: answers(http.StatusOK)}
		c := start(t, server.Config{GateTransport: g})
		defer c.close()
		c.addNode("n1", nil)
		f(c, g)
	})
}

var gateCheck = &api.ShiftCheck{Name: "smoke", HTTP: "https://user:secret@ci.example.com/gate?token=secret"}

func TestAGateDecidesAboutAShift(t *testing.T) {
	for _, test := range []struct {
		name   string
		answer func(*http.Request) (*http.Response, error)
		after  time.Duration
		status string
		reason string
	}{
		{"200 passes", answers(200), 5 * time.Minute, api.ShiftRunning, ""},
		{"403 fails", answers(403), 80 * time.Second, api.ShiftReversing, "reversed: check smoke: ci.example.com answered 403 Forbidden"},
		{"503 is unknown", answers(503), 2 * time.Minute, api.ShiftRunning, "the share stands still: check smoke: ci.example.com answered 503 Service Unavailable"},
		{"a redirect is unknown", answers(302), 2 * time.Minute, api.ShiftRunning, "the share stands still: check smoke: ci.example.com answered 302 Found"},
		{"204 is unknown", answers(204), 2 * time.Minute, api.ShiftRunning, "the share stands still: check smoke: ci.example.com answered 204 No Content"},
		{"no answer is unknown", hangs, 2 * time.Minute, api.ShiftRunning, "the share stands still: check smoke: ci.example.com gave no answer: timed out"},
		{"ten unknown answers wait", hangs, 8 * time.Minute, api.ShiftWaiting, "checks were inconclusive for 10 intervals, the last one because of check smoke: ci.example.com gave no answer: timed out: resume or reverse the shift"},
	} {
		t.Run(test.name, func(t *testing.T) {
			withGates(t, func(c *cluster, g *gates) {
				_, to := c.shifting(checked(gateCheck))
				c.pass(2 * time.Minute)
				g.set(test.answer)
				c.pass(test.after)
				s := c.watched()
				if s.Status != test.status || s.Reason != test.reason {
					t.Errorf("%s (%s), want %s (%s)", s.Status, s.Reason, test.status, test.reason)
				}
				g.mu.Lock()
				defer g.mu.Unlock()
				h := g.asked[0].Header
				if h.Get("Reeve-Shift") != s.ID || h.Get("Reeve-Unit") != "inventory" || h.Get("Reeve-To") != to {
					t.Errorf("the request does not name the shift: %v", h)
				}
				for _, r := range g.asked {
					if r.URL.Host != "ci.example.com" {
						t.Errorf("%s was asked, want that no redirect is followed", r.URL.Host)
					}
				}
			})
		})
	}
}

func TestAFailedGateHoldsAShiftIfItSaysSo(t *testing.T) {
	withGates(t, func(c *cluster, g *gates) {
		job := checked(gateCheck)
		job.Stack.Shift.AfterFailure = api.AfterFailureHold
		c.shifting(job)
		c.pass(2 * time.Minute)
		g.set(answers(404))
		c.pass(2 * time.Minute)
		s := c.watched()
		if s.Status != api.ShiftWaiting || s.Share == 0 || !strings.Contains(s.Reason, "answered 404 Not Found; resume or reverse") {
			t.Fatalf("%s (%s) with share %v, want that it waits", s.Status, s.Reason, s.Share)
		}
		g.set(answers(200))
		if _, err := c.ShiftVerb(c.Context(), "default", "inventory", "resume", &api.ShiftVerbRequest{By: "ann"}); err != nil {
			t.Fatal(err)
		}
		c.within(30*time.Minute, "the shift is complete", func(snap *state.Snapshot) bool { return snap.Shift(s.ID).Status == api.ShiftComplete })
		for r := range c.Store().Snapshot().Audit("default", api.AuditShift, s.ID) {
			if r.Action == api.ShiftComplete && r.By != "" || r.Action == api.ShiftWaiting && r.By != "" {
				t.Errorf("the audit record says that %s did %q, want Reeve", r.By, r.Action)
			}
		}
	})
}

// TestAnAtomicShiftSwitchesWhenItsChecksPassed fails a gate once, half way: the time begins again.
func TestAnAtomicShiftSwitchesWhenItsChecksPassed(t *testing.T) {
	withGates(t, func(c *cluster, g *gates) {
		job := checked(gateCheck)
		job.Stack.Shift.Policy, job.Stack.Shift.Over = api.ShiftAtomic, 4*time.Minute
		c.shifting(job)
		c.pass(2 * time.Minute)
		g.set(answers(400))
		c.pass(33 * time.Second)
		g.set(answers(200))
		c.pass(3 * time.Minute)
		if s := c.watched(); s.Status != api.ShiftRunning || s.Share != 0 {
			t.Fatalf("%s (%s) with share %v, want that it still runs", s.Status, s.Reason, s.Share)
		}
		c.pass(2 * time.Minute)
		if s := c.watched(); s.Status != api.ShiftComplete || s.Share != 1 {
			t.Errorf("%s (%s) with share %v, want complete", s.Status, s.Reason, s.Share)
		}
	})
}

// TestAGateWithItsOwnIntervalIsAskedLessOften also counts each failure once.
func TestAGateWithItsOwnIntervalIsAskedLessOften(t *testing.T) {
	withGates(t, func(c *cluster, g *gates) {
		gate := *gateCheck
		gate.Interval = 2 * time.Minute
		c.shifting(checked(&gate))
		c.pass(time.Minute)
		g.set(answers(400))
		c.pass(150 * time.Second)
		g.mu.Lock()
		asked := len(g.asked)
		g.mu.Unlock()
		s := c.watched()
		if asked != 2 || s.Status != api.ShiftRunning || s.Failures["smoke"] == 0 {
			t.Fatalf("%d requests in 3.5 minutes, and the shift is %s (%s) after failures %v: want 2, and that the first failure does not reverse it", asked, s.Status, s.Reason, s.Failures)
		}
		c.pass(2 * time.Minute)
		if s = c.watched(); s.Status != api.ShiftReversing && s.Status != api.ShiftReversed {
			t.Errorf("%s (%s), want that the second failure reverses it", s.Status, s.Reason)
		}
	})
}

func TestACrashOfTheNewStackCountsAsAFailure(t *testing.T) {
	simulate(t, func(c *cluster) {
		n := c.addNode("n1", nil)
		_, to := c.shifting(stackJob("inventory", "1.1.0"))
		c.pass(4 * time.Minute)
		crash := func(total int) {
			a := running(c.Store().Snapshot(), to)[0]
			u := *a
			u.Crashes = &api.Crashes{Count: total, Total: total, Reason: `task "server": exit code 1`, At: time.Now().UnixNano()}
			if _, err := c.UpdateAllocations(c.Context(), n.node.ID, []*api.Allocation{&u}); err != nil {
				t.Fatal(err)
			}
		}
		crash(1)
		c.pass(time.Minute)
		if s := c.watched(); s.Status != api.ShiftRunning || len(s.Failures) != 1 {
			t.Fatalf("%s (%s) after one crash, with failures %v: want running, and one failure", s.Status, s.Reason, s.Failures)
		}
		crash(2)
		c.pass(6 * time.Second)
		if s := c.watched(); s.Status != api.ShiftReversing || s.Reason != fmt.Sprintf("reversed: an instance of %s crashed: task \"server\": exit code 1", to) {
			t.Errorf("%s (%s) after two crashes, want reversing", s.Status, s.Reason)
		}
	})
}

func TestHostileReportsChangeNothing(t *testing.T) {
	simulate(t, func(c *cluster) {
		c.addNode("n1", nil)
		_, to := c.shifting(checked(errorsCheck))
		many := make([]*api.StackTraffic, 10_001)
		for i := range many {
			many[i] = stackTraffic("x", 1, 0, time.Second)
		}
		good := stackTraffic(to, 1000, 1000, time.Second)
		for name, r := range map[string]*api.TrafficReport{
			"no report":             nil,
			"no router":             {Sequence: 1, Stacks: []*api.StackTraffic{good}},
			"long router":           {Router: strings.Repeat("r", 65), Sequence: 1, Stacks: []*api.StackTraffic{good}},
			"no sequence":           {Router: "r", Stacks: []*api.StackTraffic{good}},
			"null stack":            {Router: "r", Sequence: 1, Stacks: []*api.StackTraffic{good, nil}},
			"huge":                  {Router: "r", Sequence: 1, Stacks: []*api.StackTraffic{good, {Namespace: "default", Stack: to, Requests: 1 << 63}}},
			"more errors":           {Router: "r", Sequence: 1, Stacks: []*api.StackTraffic{good, stackTraffic(to, 1, 2, time.Second)}},
			"negative latency":      {Router: "r", Sequence: 1, Stacks: []*api.StackTraffic{good, stackTraffic(to, 1, 0, -time.Second)}},
			"overflowing latencies": {Router: "r", Sequence: 1, Stacks: []*api.StackTraffic{{Namespace: "default", Stack: to, Requests: 2, Latency: []api.LatencyCount{{Below: 1, Count: 1}, {Below: 1, Count: 1 << 63}}}}},
			"too many":              {Router: "r", Sequence: 1, Stacks: many},
			"unknown node":          {Router: "r", Sequence: 1, Node: "n2", Stacks: []*api.StackTraffic{good}},
			"null call":             {Router: "r", Sequence: 1, Calls: []*api.StackCall{nil}},
			"a call from a name":    {Router: "r", Sequence: 1, Calls: []*api.StackCall{{Address: "localhost"}}},
			"a call from tomorrow":  {Router: "r", Sequence: 1, Calls: []*api.StackCall{{Address: "10.0.0.7", Ago: -time.Hour}}},
			"a call with a zone":    {Router: "r", Sequence: 1, Calls: []*api.StackCall{{Address: "fe80::1%" + strings.Repeat("z", 1000)}}},
		} {
			if _, err := c.TakeTraffic(r); err == nil {
				t.Errorf("%s: the report is accepted", name)
			}
		}
		c.pass(10 * time.Second)
		if f := c.watched().Traffic; f.To.Requests != 0 {
			t.Errorf("refused reports count as %d requests", f.To.Requests)
		}
		r := &api.TrafficReport{Router: "r", Sequence: 7, Stacks: []*api.StackTraffic{good, stackTraffic("unknown--1-0-0--aaaaaaaa", 5, 0, time.Second)}}
		for range 3 {
			if _, err := c.TakeTraffic(r); err != nil {
				t.Fatal(err)
			}
		}
		r.Sequence = 6
		if _, err := c.TakeTraffic(r); err != nil {
			t.Fatal(err)
		}
		if f := c.watched().Traffic; f.To.Requests != 1000 {
			t.Errorf("a report that was sent several times counts as %d requests, want 1000", f.To.Requests)
		}
	})
}
