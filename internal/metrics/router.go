// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package metrics

import (
	"cmp"
	"slices"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/latency"
)

// A Router holds the measurements of a router.
type Router struct {
	Connected   bool
	Connections int64
	Problems    int
	Requests    uint64
	Refused     uint64
	NoRoute     uint64
	Stacks      []Stack
	TLS         *api.RouterTLS // nil without HTTPS
	Unusable    int            // certificates
	Expires     time.Time      // of the certificate that expires first; zero without one
}

// A Stack holds a router's requests to one stack.
type Stack struct {
	Namespace, Stack string
	Requests, Errors uint64
	Latency          latency.Summary
}

// router writes the measurements of a router, and returns the number of stacks without series of their
// own. The stacks with the most requests have them.
func (e *emitter) router(r *Router) (omitted int) {
	e.flag("reeve.router.connected", r.Connected)
	e.gauge("reeve.router.connections", float64(r.Connections))
	e.gauge("reeve.router.problems", float64(r.Problems))
	e.counter("reeve.router.requests_total", r.Requests)
	e.counter("reeve.router.refused_total", r.Refused)
	e.counter("reeve.router.no_route_total", r.NoRoute)
	t := cmp.Or(r.TLS, &api.RouterTLS{})
	for result, n := range map[string]uint64{"terminated": t.Terminated, "passed": t.Passed, "unknown_name": t.UnknownName, "failed": t.Failed, "dropped": t.Dropped} {
		e.counter("reeve.router.tls.handshakes_total", n, result)
	}
	e.gauge("reeve.router.tls.pending", float64(t.Pending))
	e.gauge("reeve.router.certificates_unusable", float64(r.Unusable))
	_, expires := until(func() time.Time { return r.Expires }, time.Now())
	e.gauge("reeve.router.certificate_expires_timestamp_seconds", expires)
	stacks := slices.SortedFunc(slices.Values(r.Stacks), func(a, b Stack) int {
		return cmp.Or(cmp.Compare(b.Requests, a.Requests), cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Stack, b.Stack))
	})
	shown := min(len(stacks), e.r.limits.Stacks)
	var rest Stack
	for i := range stacks {
		s := &stacks[i]
		if i < shown {
			unit, version, _, _ := api.ParseStackName(s.Stack)
			e.stack(s, Label(s.Namespace), unit, Label(s.Stack), version.String())
			continue
		}
		rest.Requests += s.Requests
		rest.Errors += s.Errors
		rest.Latency.Sum += s.Latency.Sum
		for k, n := range s.Latency.Counts {
			rest.Latency.Counts[k] += n
		}
	}
	e.stack(&rest, "", "", other, "")
	return len(stacks) - shown
}

func (e *emitter) stack(s *Stack, labels ...string) {
	e.counter("reeve.router.stack.requests_total", s.Requests, labels...)
	e.counter("reeve.router.stack.errors_total", s.Errors, labels...)
	e.summary("reeve.router.stack.seconds", &s.Latency, time.Second, labels...)
}
