// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package router

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/reeve-run/reeve/api"
)

const oldStack, newStack = "inventory--1-0-0--aaaaaaaa", "inventory--1-1-0--bbbbbbbb"

// stack makes an instance of a stack routable on a host.
func (r *running) stack(stack, alloc, address, host string) {
	r.index++
	r.Apply(&api.CatalogUpdate{Index: r.index, Stacks: []*api.StackShare{{Namespace: "default", Stack: stack, Share: 1}}, Entries: []*api.CatalogEntry{{
		AllocID: alloc, Namespace: "default", JobID: stack, Index: r.index,
		Endpoints: []*api.Endpoint{{Route: &api.Route{Protocol: api.RouteHTTP, Host: host, Path: "/"}, Address: address}},
	}}})
}

// collected returns what the router would report now, without latencies.
func (r *running) collected(all bool) *api.TrafficReport {
	p := &reporter{router: r.Router}
	got := p.collect(all, time.Now())
	if got == nil {
		return &api.TrafficReport{}
	}
	for _, s := range got.Stacks {
		s.Latency = nil
	}
	for _, c := range got.Calls {
		c.Ago = 0
	}
	slices.SortFunc(got.Calls, func(a, b *api.StackCall) int { return strings.Compare(a.Want, b.Want) })
	return got
}

func TestRequestsAreCountedByStack(t *testing.T) {
	onEachEngine(t, func(t *testing.T, on engine) {
		r := on.start(t, Config{})
		r.stack(oldStack, "a1", serve(t, func(w http.ResponseWriter, req *http.Request) {
			if req.URL.Path == "/broken" {
				w.WriteHeader(http.StatusInternalServerError)
			}
		}), "old.test")
		r.add("plain", says(t, "plain"), route(host("plain.test")))
		for range 3 {
			r.get("old.test/")
		}
		r.get("old.test/broken")
		r.get("plain.test/")
		r.get("unknown.test/")
		want := []*api.StackTraffic{{Namespace: "default", Stack: oldStack, Requests: 4, Errors: 1}}
		eventually(t, "all requests are counted", func() bool {
			s := r.applier.stacks["default/"+oldStack].now()
			return s.requests >= 4 && s.latency.Total() >= 4
		})
		if diff := cmp.Diff(want, r.collected(false).Stacks); diff != "" {
			t.Errorf("counted (-want +got):\n%s", diff)
		}
		if again := r.collected(false); len(again.Stacks) > 0 {
			t.Errorf("reported twice: %+v", again.Stacks[0])
		}
	})
}

// TestAFailedAttemptCountsForItsStack sends a request to a stack that takes no
// connection. The other stack answers it.
func TestAFailedAttemptCountsForItsStack(t *testing.T) {
	onEachEngine(t, func(t *testing.T, on engine) {
		r := on.start(t, Config{})
		r.stack(oldStack, "a1", says(t, "old"), "web.test")
		r.stack(newStack, "b1", unused(t), "web.test")
		for range 64 {
			if status, body := r.get("web.test/"); status != http.StatusOK || body != "old" {
				t.Fatalf("status %d, body %q", status, body)
			}
		}
		failed := r.applier.stacks["default/"+newStack].now()
		if failed.errors == 0 || failed.errors != failed.requests {
			t.Errorf("the stack without a listener has %d errors of %d requests, want all of at least one", failed.errors, failed.requests)
		}
		if good := r.applier.stacks["default/"+oldStack].now(); good.errors > 0 {
			t.Errorf("the stack that answered has %d errors", good.errors)
		}
	})
}

func TestCallersOfNamedStacksAreReported(t *testing.T) {
	onEachEngine(t, func(t *testing.T, on engine) {
		r := on.start(t, Config{})
		address := says(t, "hello")
		share := &api.StackShare{Namespace: "default", Stack: oldStack, Share: 1, Status: api.StackReady, Target: true}
		r.Apply(&api.CatalogUpdate{Index: 1, Stacks: []*api.StackShare{share}, Entries: []*api.CatalogEntry{{
			AllocID: "a1", Namespace: "default", JobID: oldStack, Index: 1, StackAddress: address,
			Endpoints: []*api.Endpoint{{Route: route(host("inventory.example.com")), Address: address}},
		}}})
		for range 3 {
			for _, name := range []string{"1.inventory.default.stack.reeve/", "1-0-0.inventory.default.stack.reeve/", "inventory.example.com/"} {
				if status, body := r.get(name); status != http.StatusOK {
					t.Fatalf("%s: status %d: %s", name, status, body)
				}
			}
		}
		want := []*api.StackCall{
			{Namespace: "default", Stack: oldStack, Address: "127.0.0.1"},
			{Namespace: "default", Stack: oldStack, Address: "127.0.0.1", Want: "1.0"},
		}
		if diff := cmp.Diff(want, r.collected(false).Calls); diff != "" {
			t.Errorf("calls (-want +got):\n%s", diff)
		}
		if again := r.collected(false).Calls; len(again) > 0 {
			t.Errorf("a call within the minute is reported again: %+v", again[0])
		}
		if diff := cmp.Diff(want, r.collected(true).Calls); diff != "" {
			t.Errorf("calls for a new leader (-want +got):\n%s", diff)
		}
	})
}

// TestCallersAreIdentifiedOncePerConnection sends requests to a name, to a host and to a name that is refused. Only the
// connection of the name asks who its client is, once, and before the client can leave.
func TestCallersAreIdentifiedOncePerConnection(t *testing.T) {
	onEachEngine(t, func(t *testing.T, on engine) {
		var asked, answered atomic.Int64
		r := on.start(t, Config{Caller: func(local, remote netip.AddrPort) string {
			if answered.Load() > 0 {
				t.Error("the router asks after the answer")
			}
			asked.Add(1)
			return "alloc of " + remote.Addr().Unmap().String() + " at " + local.Addr().Unmap().String()
		}})
		address := says(t, "hello")
		share := &api.StackShare{Namespace: "default", Stack: oldStack, Share: 1, Status: api.StackReady, Target: true}
		r.Apply(&api.CatalogUpdate{Index: 1, Stacks: []*api.StackShare{share}, Entries: []*api.CatalogEntry{{
			AllocID: "a1", Namespace: "default", JobID: oldStack, Index: 1, StackAddress: address,
			Endpoints: []*api.Endpoint{{Route: route(host("inventory.example.com")), Address: address}},
		}}})
		for range 3 {
			r.get("inventory.example.com/")
			r.get("7.inventory.default.stack.reeve/")
		}
		if n := asked.Load(); n > 0 {
			t.Fatalf("requests that call no stack asked %d times", n)
		}
		client := &http.Client{Transport: &http.Transport{MaxConnsPerHost: 1}}
		defer client.CloseIdleConnections()
		for range 3 {
			req, err := http.NewRequest(http.MethodGet, "http://"+r.Addr(), nil)
			if err != nil {
				t.Fatal(err)
			}
			req.Host = "1.inventory.default.stack.reeve"
			res, err := client.Do(req)
			if err != nil {
				t.Fatal(err)
			}
			answered.Add(1)
			io.Copy(io.Discard, res.Body)
			res.Body.Close()
			if res.StatusCode != http.StatusOK {
				t.Fatalf("status %d", res.StatusCode)
			}
		}
		if n := asked.Load(); n != 1 {
			t.Errorf("three requests of a connection asked %d times, want once", n)
		}
		want := []*api.StackCall{{Namespace: "default", Stack: oldStack, Address: "127.0.0.1", Allocation: "alloc of 127.0.0.1 at 127.0.0.1", Want: "1.0"}}
		if diff := cmp.Diff(want, r.collected(false).Calls); diff != "" {
			t.Errorf("calls (-want +got):\n%s", diff)
		}
	})
}

// TestManyCallersAreBounded calls a stack from more addresses than a router
// remembers.
func TestManyCallersAreBounded(t *testing.T) {
	var c calls
	for i := range 10 * maxCalls {
		c.note(callKey{address: netip.AddrFrom4([4]byte{10, 0, byte(i >> 8), byte(i)})}, int64(time.Hour))
	}
	s := &stackCounters{}
	if got := len(c.take(s, nil, false, int64(time.Hour))); got != maxCalls {
		t.Errorf("%d callers are reported, want %d", got, maxCalls)
	}
	if got := len(c.take(s, nil, true, int64(2*time.Hour)+1)); got != 0 || len(c.last) != 0 {
		t.Errorf("after an hour %d callers are reported and %d remembered", got, len(c.last))
	}
}

// servers accept the reports of a router as long as err is nil.
type servers struct {
	got  []*api.TrafficReport
	term string
	err  error
}

func (s *servers) report(_ context.Context, r *api.TrafficReport) (string, error) {
	s.got = append(s.got, r)
	return s.term, s.err
}

func TestAReportIsSentAgainUntilItIsAccepted(t *testing.T) {
	to := &servers{term: "one", err: io.ErrUnexpectedEOF}
	r := &Router{config: Config{Report: to.report}.withDefaults(), applier: newApplier()}
	p := &reporter{router: r, id: "r"}
	s := r.applier.stackOf("default", oldStack)
	s.gained()
	s.answered(200, 3*time.Millisecond)
	p.send(t.Context(), time.Now())
	s.answered(503, 3*time.Millisecond)
	p.send(t.Context(), time.Now())
	to.err = nil
	p.send(t.Context(), time.Now())
	p.send(t.Context(), time.Now())
	p.send(t.Context(), time.Now())
	first := &api.TrafficReport{Router: "r", Sequence: 1, Stacks: []*api.StackTraffic{{
		Namespace: "default", Stack: oldStack, Requests: 1, Latency: []api.LatencyCount{{Below: 3072 * time.Microsecond, Count: 1}},
	}}}
	second := &api.TrafficReport{Router: "r", Sequence: 2, Stacks: []*api.StackTraffic{{
		Namespace: "default", Stack: oldStack, Requests: 1, Errors: 1, Latency: []api.LatencyCount{{Below: 3072 * time.Microsecond, Count: 1}},
	}}}
	if diff := cmp.Diff([]*api.TrafficReport{first, first, first, second}, to.got); diff != "" {
		t.Errorf("reports (-want +got):\n%s", diff)
	}
}

func TestANewLeaderReceivesAllCallsAgain(t *testing.T) {
	to := &servers{term: "one"}
	r := &Router{config: Config{Report: to.report}.withDefaults(), applier: newApplier()}
	p := &reporter{router: r, id: "r"}
	s := r.applier.stackOf("default", oldStack)
	s.gained()
	s.calls.note(callKey{address: netip.MustParseAddr("10.0.0.7")}, ticks(time.Now()))
	p.send(t.Context(), time.Now())
	to.term = "two"
	s.answered(200, time.Millisecond)
	p.send(t.Context(), time.Now())
	p.send(t.Context(), time.Now())
	var calls []int
	for _, r := range to.got {
		calls = append(calls, len(r.Calls))
	}
	if diff := cmp.Diff([]int{1, 0, 1}, calls); diff != "" {
		t.Errorf("calls per report (-want +got):\n%s", diff)
	}
}

func TestRefusedReportsAreDropped(t *testing.T) {
	to := &servers{err: api.Errorf(api.CodeInvalid, "no")}
	r := &Router{config: Config{Report: to.report}.withDefaults(), applier: newApplier()}
	p := &reporter{router: r}
	s := r.applier.stackOf("default", oldStack)
	s.gained()
	s.answered(200, time.Millisecond)
	p.send(t.Context(), time.Now())
	p.send(t.Context(), time.Now())
	if len(to.got) != 1 {
		t.Errorf("%d reports were sent, want the refused one alone", len(to.got))
	}
}

func TestALargeReportIsBounded(t *testing.T) {
	to := &servers{}
	r := &Router{config: Config{Report: to.report}.withDefaults(), applier: newApplier()}
	p := &reporter{router: r}
	for i := range maxReported + 10 {
		s := r.applier.stackOf("default", fmt.Sprintf("unit-%d--1-0-0--aaaaaaaa", i))
		s.gained()
		s.answered(200, time.Millisecond)
	}
	p.send(t.Context(), time.Now())
	p.send(t.Context(), time.Now())
	if len(to.got) != 2 || len(to.got[0].Stacks) != maxReported || len(to.got[1].Stacks) != 10 {
		t.Errorf("%d reports, the first of %d stacks: want %d and then the other 10", len(to.got), len(to.got[0].Stacks), maxReported)
	}
}

func TestCountersOfAStackOutliveItsInstances(t *testing.T) {
	a, _ := stacked(0.5)
	r := &Router{applier: a}
	now := time.Now()
	s := a.stacks["default/"+newStack]
	a.apply(&api.CatalogUpdate{Index: 2, Removed: []string{"alloc-4", "alloc-5"}}, now)
	names := func(at time.Time) (names []string) {
		for _, s := range r.reportedStacks(at) {
			names = append(names, s.stack)
		}
		return names
	}
	if diff := cmp.Diff([]string{oldStack, newStack}, names(now), cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("stacks just after (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{oldStack}, names(now.Add(stackKept+time.Second))); diff != "" {
		t.Errorf("stacks later (-want +got):\n%s", diff)
	}
	if s.instances != 0 {
		t.Errorf("%d instances are counted, want 0", s.instances)
	}
}

func TestCountingARequestAllocatesNothing(t *testing.T) {
	s := &stackCounters{}
	call := callKey{address: netip.MustParseAddr("10.0.0.7"), isNamed: true, want: api.FeatureVersion{Major: 1}}
	s.calls.note(call, 1)
	if n := testing.AllocsPerRun(1000, func() {
		s.answered(200, 3*time.Millisecond)
		s.calls.note(call, 2)
	}); n != 0 {
		t.Errorf("counting allocates %v times", n)
	}
}

// BenchmarkCount measures the counters of one request to a stack.
func BenchmarkCount(b *testing.B) {
	s := &stackCounters{}
	b.ReportAllocs()
	for b.Loop() {
		s.answered(200, 3*time.Millisecond)
	}
}

// BenchmarkNoteCall measures a known caller on a new connection.
func BenchmarkNoteCall(b *testing.B) {
	s := &stackCounters{}
	call := callKey{address: netip.MustParseAddr("10.0.0.7"), isNamed: true, want: api.FeatureVersion{Major: 1}}
	b.ReportAllocs()
	for b.Loop() {
		s.calls.note(call, 2)
	}
}
