// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package router

import (
	"context"
	"net"
	"net/netip"
	"strings"
	"sync"
	"time"

	"github.com/reeve-run/reeve/api"
)

const (
	// maxCalls bounds the callers that a router remembers per stack. One is enough to keep
	// a stack.
	maxCalls = 256
	// callKept is how long a router remembers a caller.
	callKept = time.Hour
	// callRenewed is the age of the reported time of a call from which a later call is
	// reported again.
	callRenewed = time.Minute
	// callNoted is how long a connection does not note a call again.
	callNoted = 5 * time.Second
)

// calls holds the callers of one stack.
type calls struct {
	mu   sync.Mutex
	last map[callKey]*callTimes
}

// A callKey identifies a caller by its address, by its allocation, and by the stacks that its
// requests can reach: those that satisfy a feature version, or one.
type callKey struct {
	address    netip.Addr
	allocation string // "": not known
	isNamed    bool   // reports whether the caller asked for a feature version
	want       api.FeatureVersion
}

// callTimes holds ticks: times of the monotonic clock.
type callTimes struct {
	last     int64
	reported int64 // last when it was reported; 0: never
}

// note notes a call at a time. Callers beyond the bound are not noted until others are
// forgotten.
func (c *calls) note(k callKey, now int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if t := c.last[k]; t != nil {
		t.last = now
		return
	}
	if len(c.last) >= maxCalls {
		return
	}
	if c.last == nil {
		c.last = make(map[callKey]*callTimes)
	}
	c.last[k] = &callTimes{last: now}
}

// take appends the calls to report to a report, and forgets old ones. With all, it reports
// also those that it has reported already.
func (c *calls) take(s *stackCounters, to []*api.StackCall, all bool, now int64) []*api.StackCall {
	c.mu.Lock()
	defer c.mu.Unlock()
	for k, t := range c.last {
		switch {
		case now-t.last > int64(callKept):
			delete(c.last, k)
			continue
		case !all && t.reported != 0 && t.last-t.reported < int64(callRenewed):
			continue
		}
		t.reported = t.last
		call := &api.StackCall{Namespace: s.namespace, Stack: s.stack, Address: k.address.String(), Allocation: k.allocation, Ago: time.Duration(now - t.last)}
		if k.isNamed {
			call.Want = k.want.String()
		}
		to = append(to, call)
	}
	return to
}

// isCall reports whether the clients of a pool are callers: their requests name a stack, or
// preview it. An exposed host needs no callers to be kept.
func (p *pool) isCall() bool { return strings.HasPrefix(p.key.host, hostOfStack) }

// callOf returns the key of a caller of the pool.
func (p *pool) callOf(address netip.Addr, allocation string) callKey {
	return callKey{address: address, allocation: allocation, isNamed: p.unit.Unit != "", want: p.want}
}

// A peer finds the allocation at the other end of a connection, once.
type peer struct {
	once       sync.Once
	allocation string
}

// identify asks for the allocation when a connection calls a stack for the first time, before the
// response: afterwards, a client with one request is gone. Other connections ask nothing.
func (e *peer) identify(r *Router, nc net.Conn) string {
	e.once.Do(func() {
		local, isLocal := nc.LocalAddr().(*net.TCPAddr)
		remote, isRemote := nc.RemoteAddr().(*net.TCPAddr)
		if r.config.Caller != nil && isLocal && isRemote {
			e.allocation = r.config.Caller(local.AddrPort(), remote.AddrPort())
		}
	})
	return e.allocation
}

// identify finds the allocation of a client that calls a stack.
func (c *conn) identify(p *pool) {
	if p.isCall() {
		c.caller.identify(c.router, c.nc)
	}
}

// noteCall notes that the client called the instance's stack. A connection notes the same
// call once in a while, because most of its requests go to the same stack.
func (c *conn) noteCall(p *pool, i *instance, now time.Time) {
	at := ticks(now)
	if i.stack == nil || i.stack == c.called && p.want == c.calledWant && at-c.calledAt < int64(callNoted) || !p.isCall() {
		return
	}
	c.called, c.calledWant, c.calledAt = i.stack, p.want, at
	i.stack.calls.note(p.callOf(c.peer, c.caller.allocation), at)
}

// identify finds the allocation of the client of a request that calls a stack.
func (x *exchange) identify(ctx context.Context) {
	if nc, ok := ctx.Value(connKey{}).(*handedConn); ok && x.pool.isCall() {
		x.caller = nc.caller.identify(x.router, nc)
	}
}

// noteCall notes that the client called the stack of the exchange's instance.
func (x *exchange) noteCall(p *pool) {
	i := x.target.instance
	if i.stack == nil || !p.isCall() {
		return
	}
	if peer, err := netip.ParseAddr(x.record.client); err == nil {
		i.stack.calls.note(p.callOf(peer.Unmap(), x.caller), ticks(time.Now()))
	}
}
