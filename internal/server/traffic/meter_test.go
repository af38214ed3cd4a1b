// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package traffic

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/latency"
)

var now = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func TestInvalidReportsAreRefused(t *testing.T) {
	many := make([]*api.StackTraffic, maxListed+1)
	calls := make([]*api.StackCall, maxListed+1)
	stack := func(s api.StackTraffic) api.TrafficReport {
		return api.TrafficReport{Router: "r", Sequence: 1, Stacks: []*api.StackTraffic{{}, &s}}
	}
	call := func(c api.StackCall) api.TrafficReport {
		return api.TrafficReport{Router: "r", Sequence: 1, Calls: []*api.StackCall{&c}}
	}
	counts := func(n ...uint64) (list []api.LatencyCount) {
		for _, n := range n {
			list = append(list, api.LatencyCount{Below: 1, Count: n})
		}
		return list
	}
	const whole = ^uint64(0)
	for name, c := range map[string]struct {
		report api.TrafficReport
		want   string // "": it is valid
	}{
		"smallest":                   {api.TrafficReport{Router: "r", Sequence: 1}, ""},
		"no router":                  {api.TrafficReport{Sequence: 1}, "Router: must be an id of 1 to 64 bytes"},
		"longest router":             {api.TrafficReport{Router: strings.Repeat("r", 64), Sequence: 1}, ""},
		"long router":                {api.TrafficReport{Router: strings.Repeat("r", 65), Sequence: 1}, "Router: must be"},
		"no sequence":                {api.TrafficReport{Router: "r"}, "Sequence: must be at least 1"},
		"too many stacks":            {api.TrafficReport{Router: "r", Sequence: 1, Stacks: many}, "Stacks: 10001 are more than 10000"},
		"too many calls":             {api.TrafficReport{Router: "r", Sequence: 1, Calls: calls}, "Calls: 10001 are more than 10000"},
		"no stack":                   {api.TrafficReport{Router: "r", Sequence: 1, Stacks: many[:1]}, "Stacks[0]: must not be null"},
		"no call":                    {api.TrafficReport{Router: "r", Sequence: 1, Calls: calls[:1]}, "Calls[0]: must not be null"},
		"most requests":              {stack(api.StackTraffic{Requests: maxRequests, Errors: maxRequests}), ""},
		"too many requests":          {stack(api.StackTraffic{Requests: maxRequests + 1}), "Stacks[1]: Requests: too many"},
		"more errors than requests":  {stack(api.StackTraffic{Requests: 1, Errors: 2}), "Stacks[1]: Errors: more than Requests"},
		"all latencies":              {stack(api.StackTraffic{Requests: 3, Latency: counts(1, 2)}), ""},
		"more latencies":             {stack(api.StackTraffic{Requests: 3, Latency: counts(1, 3)}), "the sum of Count at most Requests"},
		"latencies that wrap around": {stack(api.StackTraffic{Requests: 3, Latency: counts(2, whole)}), "the sum of Count at most Requests"},
		"too many buckets":           {stack(api.StackTraffic{Requests: 3, Latency: counts(make([]uint64, latency.Buckets+1)...)}), "too many buckets"},
		"a latency of zero":          {stack(api.StackTraffic{Requests: 1, Latency: []api.LatencyCount{{Count: 1}}}), "Below must be positive"},
		"a call":                     {call(api.StackCall{Address: "10.0.0.1", Want: "1.2", Ago: maxAgo}), ""},
		"a call without a version":   {call(api.StackCall{Address: "::1"}), ""},
		"a call of the future":       {call(api.StackCall{Address: "10.0.0.1", Ago: -1}), "Ago: must be between 0 and 2h0m0s"},
		"an old call":                {call(api.StackCall{Address: "10.0.0.1", Ago: maxAgo + 1}), "Ago: must be between"},
		"a call by name":             {call(api.StackCall{Address: "db.example.com"}), "Address: must be an IP address"},
		"a call with a zone":         {call(api.StackCall{Address: "fe80::1%eth0\r\nx"}), "Address: must be an IP address"},
		"a call of no version":       {call(api.StackCall{Address: "10.0.0.1", Want: "latest"}), "Calls[0]: Want: "},
	} {
		err := Validate(&c.report)
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want) || api.CodeOf(err) != api.CodeInvalid) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
	if err := Validate(nil); err == nil {
		t.Error("no report at all is valid")
	}
}

func report(router string, sequence, requests uint64) *api.TrafficReport {
	return &api.TrafficReport{Router: router, Sequence: sequence, Stacks: []*api.StackTraffic{{Namespace: "default", Stack: "a", Requests: requests}}}
}

func everything(api.NamespacedID) bool { return true }
func nothing(api.NamespacedID) bool    { return false }

func TestAReportIsCountedOnce(t *testing.T) {
	m := newMeter()
	for i, c := range []struct {
		router   string
		sequence uint64
		counted  bool
		total    uint64
	}{
		{"r1", 1, true, 1}, {"r1", 1, false, 1}, {"r2", 1, true, 2}, {"r1", 5, true, 3}, {"r1", 4, false, 3}, {"r2", 2, true, 4},
	} {
		counted := m.add(report(c.router, c.sequence, 1), everything, now)
		if total := m.total("default", "a").requests; counted != c.counted || total != c.total {
			t.Errorf("report %d: counted %v, total %d; want %v, %d", i, counted, total, c.counted, c.total)
		}
	}
	if total := m.total("other", "a").requests; total != 0 {
		t.Errorf("%d requests to a stack of the same name in another namespace", total)
	}
}

func TestOnlyKnownStacksAreRemembered(t *testing.T) {
	m := newMeter()
	m.add(report("r", 1, 7), nothing, now)
	if len(m.stacks) != 0 {
		t.Errorf("%d unknown stacks are remembered", len(m.stacks))
	}
	m.add(report("r", 2, 7), everything, now)
	m.add(report("r", 3, 7), nothing, now) // it has been terminated
	if len(m.stacks) != 0 {
		t.Errorf("%d terminated stacks are remembered after a report", len(m.stacks))
	}
	m.add(report("r", 4, 7), everything, now)
	m.keep(nothing)
	if len(m.stacks) != 0 {
		t.Errorf("%d terminated stacks are remembered", len(m.stacks))
	}
}

func TestSilentRoutersAreForgottenFirst(t *testing.T) {
	m := newMeter()
	for i := range maxRouters / 2 {
		m.add(report(fmt.Sprint("silent-", i), 9, 0), everything, now)
	}
	later := now.Add(routerKept + time.Second)
	for i := range maxRouters / 2 {
		m.add(report(fmt.Sprint("live-", i), 9, 0), everything, later)
	}
	m.add(report("another", 9, 0), everything, later)
	if len(m.routers) != maxRouters/2+1 || m.routers["live-0"] == nil || m.routers["silent-0"] != nil {
		t.Errorf("%d routers are remembered, want the live ones: %v", len(m.routers), m.routers["live-0"])
	}
	for i := range 2 * maxRouters {
		m.add(report(fmt.Sprint("new-", i), 9, 0), everything, later)
	}
	if len(m.routers) > maxRouters {
		t.Errorf("%d routers are remembered, want at most %d", len(m.routers), maxRouters)
	}
}

func TestCountsSinceAnEarlierTime(t *testing.T) {
	var c counts
	c.add(&api.StackTraffic{Requests: 3, Errors: 1, Latency: []api.LatencyCount{{Below: 8 * time.Millisecond, Count: 2}, {Below: 1 << 62, Count: 1}}})
	before := c
	c.add(&api.StackTraffic{Requests: 5, Errors: 2, Latency: []api.LatencyCount{{Below: 1, Count: 4}}})
	d := c.since(&before)
	if d.requests != 5 || d.errors != 2 || d.latency.Total() != 4 || d.latency[0] != 4 {
		t.Errorf("%d requests, %d errors, %d latencies (%d of the lowest), want 5, 2, 4 (4)", d.requests, d.errors, d.latency.Total(), d.latency[0])
	}
	if total := c.latency.Total(); total != 7 || c.latency[latency.Buckets-1] != 1 {
		t.Errorf("%d latencies, %d of them above all buckets, want 7 and 1", total, c.latency[latency.Buckets-1])
	}
}
