// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package dns

import (
	"context"
	"slices"
	"time"

	"github.com/miekg/dns"
)

// Bounds of forwarded queries.
const (
	upstreamTimeout = 2 * time.Second
	maxForwarded    = 1024 // concurrently
)

// forward forwards a question outside of the zone, and returns the answer of the first
// upstream that has one.
func (s *Server) forward(ctx context.Context, r *dns.Msg, network string) *dns.Msg {
	upstreams := s.upstreams()
	if len(upstreams) == 0 {
		return refusal(r, dns.RcodeRefused)
	}
	select {
	case s.forwarding <- struct{}{}:
		defer func() { <-s.forwarding }()
	default:
		return refusal(r, dns.RcodeServerFailure)
	}
	c := &dns.Client{Net: network, Timeout: upstreamTimeout, UDPSize: dns.MaxMsgSize}
	for _, upstream := range upstreams {
		m, _, err := c.ExchangeContext(ctx, r, upstream)
		if err == nil && m != nil && m.Id == r.Id {
			return m
		}
		s.log.Debug("upstream name server did not answer", "upstream", upstream, "error", err)
	}
	return refusal(r, dns.RcodeServerFailure)
}

// upstreams returns the name servers for names outside of the zone.
func (s *Server) upstreams() []string {
	if s.config.Resolvers == nil {
		return s.config.Upstreams
	}
	return append(slices.Clip(s.config.Upstreams), s.config.Resolvers()...)
}

// refusal returns an answer that contains only a code.
func refusal(r *dns.Msg, code int) *dns.Msg {
	m := new(dns.Msg)
	m.SetRcode(r, code)
	return m
}
