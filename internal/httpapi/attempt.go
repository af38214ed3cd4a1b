// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"cmp"
	"errors"
	"hash/fnv"
	"io"
	"net/http"
	"net/http/httptrace"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/relay"
)

// attempt sends a request to an agent. sent reports whether the agent may have received a part
// of it.
func (d *delivery) attempt(r *http.Request, addr string) (resp *http.Response, sent bool, err error) {
	// A connection may end after the handshake, and before it carries a request. Without a header
	// field, no server understands a part of a request.
	var begun atomic.Bool
	ctx := httptrace.WithClientTrace(r.Context(), &httptrace.ClientTrace{WroteHeaderField: func(string, []string) { begun.Store(true) }})
	out := r.Clone(ctx)
	out.Host, out.URL.Host = addr, addr
	if d.relayed && d.Relay != nil {
		if resp, sent, err := d.Relay.RoundTrip(out, addr, d.whole); !errors.Is(err, relay.ErrNoLink) {
			return resp, sent, err
		}
	}
	transport, scheme := d.outbound()
	out.URL.Scheme = scheme
	if d.hasBody {
		out.Body = d.body.reader()
		out.GetBody = func() (io.ReadCloser, error) { return d.body.reader(), nil }
	} else {
		out.Body = http.NoBody
	}
	resp, err = transport.RoundTrip(out)
	return resp, begun.Load(), err
}

// attemptLeader does attempt, and gives up a request to a leader that hangs.
func (d *delivery) attemptLeader(r *http.Request, leader string) (resp *http.Response, sent bool, err error) {
	if plantedRepeatedWrites && !isRepeatable(r) && d.canRepeat() {
		if resp, _, err := d.attempt(r, leader); err == nil {
			resp.Body.Close()
		}
	}
	v := d.keepVigil(r, leader)
	resp, sent, err = d.attempt(r.WithContext(v.ctx), leader)
	if reason := v.end(); reason != nil {
		if err == nil {
			resp.Body.Close() // its context has ended
		}
		return nil, sent, reason
	}
	if err != nil {
		v.cancel(err)
	}
	return resp, sent, err
}

// isRepeatable reports whether a request changes nothing, so that it may be sent again although
// a server may have received it. A request that upgrades its connection runs a command.
func isRepeatable(r *http.Request) bool {
	return (r.Method == http.MethodGet || r.Method == http.MethodHead) && r.Header.Get("Upgrade") == ""
}

// outbound returns the transport for requests to other agents, and its scheme.
func (h *Handler) outbound() (*http.Transport, string) {
	if h.Transport != nil {
		if t := h.Transport(); t != nil {
			return t, "https"
		}
	}
	return h.transport, "http"
}

// prepare changes the headers of a request for another agent.
func (h *Handler) prepare(r *http.Request, kind string) {
	header := r.Header
	header.Del("Origin") // checked here, against the Host that the caller gave
	// Transports repeat requests with these keys; only this package decides about that.
	header.Del("Idempotency-Key")
	header.Del("X-Idempotency-Key")
	h.addHop(header, kind)
	if h.Door != nil {
		h.Door.Strip(header)
	}
	if kind == toServer && h.ServerToken != "" && h.Transport == nil {
		header.Set("X-Nomad-Token", h.ServerToken)
	}
}

// refusal returns the error of a server that did nothing with a request.
func (d *delivery) refusal(resp *http.Response, addr string) error {
	defer resp.Body.Close()
	text, _ := io.ReadAll(io.LimitReader(resp.Body, 4<<10))
	return api.Errorf(api.CodeUnavailable, "the server at %s does not lead: %s", addr, api.Printable(strings.TrimSpace(string(text)), 1000))
}

// lostOnTheWay returns the error of a change that a server may have made.
func lostOnTheWay(addr string, err error) error {
	return api.Errorf(api.CodeUnavailable, "the connection to the server at %s failed before its answer: %v; the change may have been made: look before you repeat it", addr, err)
}

func unreachable(addr string, err error) error {
	return api.Errorf(api.CodeUnavailable, "the server at %s does not answer: %v", addr, err)
}

// rank orders servers for this agent: the one that answered last, then the others as RankServers
// does.
func (h *Handler) rank(servers []string) []string {
	servers = RankServers(cmp.Or(h.NodeID(), h.Name), servers)
	if good := h.lastGood.Load(); good != nil {
		if i := slices.Index(servers, *good); i > 0 {
			servers = slices.Insert(slices.Delete(servers, i, i+1), 0, *good)
		}
	}
	return servers
}

// RankServers orders servers depending on a node's id. So nodes spread over all servers, and a
// server that leaves moves only its own nodes.
func RankServers(key string, servers []string) []string {
	servers = slices.Clone(servers)
	weight := func(server string) uint64 {
		f := fnv.New64a()
		io.WriteString(f, key+"\x00"+server)
		return mix(f.Sum64())
	}
	slices.SortStableFunc(servers, func(a, b string) int { return cmp.Compare(weight(a), weight(b)) })
	return servers
}

// mix spreads the bits of a hash: addresses that differ in their last digit have hashes that
// differ in few bits.
func mix(x uint64) uint64 {
	x ^= x >> 33
	x *= 0xff51afd7ed558ccd
	x ^= x >> 33
	x *= 0xc4ceb9fe1a85ec53
	return x ^ x>>33
}
