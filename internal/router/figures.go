// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package router

import (
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/latency"
)

// Figures are a router's measurements since it started.
type Figures struct {
	Connected   bool // to a server's catalog
	Connections int64
	Problems    int
	Requests    uint64
	Refused     uint64
	NoRoute     uint64
	TLS         *api.RouterTLS // nil without HTTPS
	Unusable    int            // certificates that have a problem
	Expires     time.Time      // of the certificate that expires first; zero without one
	Stacks      []StackFigures // those with instances, or that lost them recently
}

// StackFigures are the requests to one stack.
type StackFigures struct {
	Namespace, Stack string
	Requests, Errors uint64
	Latency          latency.Summary
}

// Figures returns the router's measurements.
func (r *Router) Figures() Figures {
	f := Figures{
		Connected: r.connected.Load(), Connections: int64(r.conns.len() + r.tunnels.len()), Problems: len(r.ports.inWords()),
		Requests: r.requests.Load(), Refused: r.refused.Load(), NoRoute: r.noRoute.Load(),
	}
	if r.secure != nil {
		f.TLS, f.Unusable, f.Expires = r.secure.status(), r.secure.certs.Unusable(time.Now()), r.secure.certs.Expires()
	}
	for _, s := range r.reportedStacks(time.Now()) {
		n := s.now()
		f.Stacks = append(f.Stacks, StackFigures{
			Namespace: s.namespace, Stack: s.stack, Requests: n.requests, Errors: n.errors,
			Latency: latency.Summary{Counts: n.latency, Sum: time.Duration(s.took.Load())},
		})
	}
	return f
}
