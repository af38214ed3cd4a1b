// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

// Package callback delivers job completion callbacks: it posts the pending callbacks of the
// state, and repeats each until the receiver answers or the callback expires.
//
// The state holds the callbacks and their progress; this package stores nothing. A new leader
// delivers the pending callbacks, possibly for the second time: receivers recognize them by
// their ids. Requests run apart from the leader's other work. Their number is bounded, in
// total and per host, so that a host that does not answer delays no other.
package callback

import (
	"context"
	"log/slog"
	"net/http"
	"net/url"
	"sync"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/heap"
	"github.com/reeve-run/reeve/internal/server/feed"
	"github.com/reeve-run/reeve/internal/state"
)

// Bounds of the requests under way.
const (
	atOnce        = 32
	atOncePerHost = 4
)

// maxNap is how long the courier sleeps at most when something will be due: a
// timer does not know that the clock was set.
const maxNap = 30 * time.Second

// retryWrite is when a callback is looked at again of which the outcome could not
// be written.
const retryWrite = time.Second

// Env is what a courier needs from its server.
type Env struct {
	Store   *state.Store
	Propose func(context.Context, ...state.Command) error
	// Transport makes the requests; nil: a usual one.
	Transport http.RoundTripper
	Logger    *slog.Logger
}

// Run delivers callbacks until ctx ends.
func Run(ctx context.Context, env Env) {
	if env.Transport == nil {
		t := newTransport()
		defer t.CloseIdleConnections()
		env.Transport = t
	}
	c := &courier{
		env: env, client: newClient(env.Transport), signal: make(chan struct{}, 1),
		parcels: map[string]*parcel{}, hosts: map[string]int{},
		times: heap.NewIndexed(
			func(a, b *parcel) bool { return a.at.Before(b.at) },
			func(p *parcel) *int { return &p.index },
		),
	}
	var follows sync.WaitGroup
	follows.Go(func() { _ = feed.Follow(ctx, env.Store, c.start, c.apply) })
	c.run(ctx)
	follows.Wait()
	c.requests.Wait()
}

type courier struct {
	env      Env
	client   *http.Client
	signal   chan struct{}
	requests sync.WaitGroup

	mu      sync.Mutex // guards those below
	parcels map[string]*parcel
	times   heap.Indexed[*parcel] // parcels that wait for their time
	ready   []*parcel             // whose time has come, in that order
	hosts   map[string]int
	running int
}

// A parcel is a pending callback.
type parcel struct {
	callback *api.Callback
	host     string
	at       time.Time
	index    int // in times; -1: not there
	busy     bool
}

func (c *courier) start(snap *state.Snapshot) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for id := range c.parcels {
		if is := snap.Callback(id); is == nil || !is.IsPending() {
			c.drop(id)
		}
	}
	for is := range snap.CallbacksPrefix("") {
		c.note(is)
	}
	c.wake()
}

func (c *courier) apply(b *state.Batch) {
	for i := range b.Changes {
		if b.Changes[i].Table != state.TableCallbacks {
			continue
		}
		c.mu.Lock()
		if is, _ := b.Changes[i].New.(*api.Callback); is != nil {
			c.note(is)
		} else if was, _ := b.Changes[i].Old.(*api.Callback); was != nil {
			c.drop(was.ID)
		}
		c.mu.Unlock()
		c.wake()
	}
}

func (c *courier) wake() {
	select {
	case c.signal <- struct{}{}:
	default:
	}
}

// note takes a callback as it is now into account.
func (c *courier) note(is *api.Callback) {
	p := c.parcels[is.ID]
	switch {
	case !is.IsPending() || is.Target == nil:
		c.drop(is.ID)
		return
	case p == nil:
		p = &parcel{index: -1, host: hostOf(is.Target.URL)}
		c.parcels[is.ID] = p
	case p.callback.ModifyIndex >= is.ModifyIndex:
		return
	}
	p.callback = is
	c.await(p, is.NextAttempt)
}

// await has the parcel wait for its time, unless it is under way: then it does
// when it is back.
func (c *courier) await(p *parcel, at time.Time) {
	p.at = at
	if !p.busy {
		c.times.Put(p)
	}
}

func (c *courier) drop(id string) {
	p := c.parcels[id]
	if p == nil {
		return
	}
	delete(c.parcels, id)
	c.times.Remove(p)
}

// run sends what is due until ctx ends.
func (c *courier) run(ctx context.Context) {
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	for {
		timer.Reset(c.send(ctx, time.Now()))
		select {
		case <-ctx.Done():
			return
		case <-c.signal:
		case <-timer.C:
		}
	}
}

// send begins the requests that are due and may be made now, and returns how long
// there will be nothing else to do.
func (c *courier) send(ctx context.Context, now time.Time) time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	for p, ok := c.times.First(); ok && !p.at.After(now); p, ok = c.times.First() {
		c.times.Remove(p)
		c.ready = append(c.ready, p)
	}
	waiting := c.ready[:0]
	for _, p := range c.ready {
		switch {
		case c.parcels[p.callback.ID] != p || p.busy || p.index >= 0: // ended, or its time was changed
		case c.running == atOnce || c.hosts[p.host] == atOncePerHost:
			waiting = append(waiting, p)
		default:
			c.begin(ctx, p)
		}
	}
	clear(c.ready[len(waiting):])
	c.ready = waiting
	next, ok := c.times.First()
	if !ok {
		return time.Hour
	}
	return min(next.at.Sub(now), maxNap)
}

func (c *courier) begin(ctx context.Context, p *parcel) {
	p.busy = true
	c.running++
	c.hosts[p.host]++
	is := p.callback
	c.requests.Go(func() {
		written := c.deliver(ctx, is)
		c.mu.Lock()
		p.busy = false
		c.running--
		if c.hosts[p.host]--; c.hosts[p.host] == 0 {
			delete(c.hosts, p.host)
		}
		if c.parcels[is.ID] == p && p.index < 0 {
			if !written && p.callback == is {
				p.at = time.Now().Add(retryWrite)
			}
			if written && p.callback == is {
				p.at = time.Now().Add(maxNap) // the feed says it any moment
			}
			c.await(p, p.at)
		}
		c.mu.Unlock()
		c.wake()
	})
}

// deliver makes an attempt and writes down what came of it. It reports whether
// that is written.
func (c *courier) deliver(ctx context.Context, is *api.Callback) bool {
	a := c.post(ctx, is)
	if ctx.Err() != nil {
		return false // whoever leads next makes the attempt
	}
	now := time.Now()
	cmd := outcome(is, a, now)
	switch cmd.Status {
	case api.CallbackRefused, api.CallbackGivenUp:
		c.env.Logger.Warn("cannot deliver a callback", "callback", is.ID, "job", is.JobID, "status", cmd.Status, "attempts", cmd.Attempt, "answer", cmd.Answer)
	}
	if err := c.env.Propose(ctx, cmd); err != nil {
		if ctx.Err() == nil && api.CodeOf(err) != api.CodeConflict && api.CodeOf(err) != api.CodeNotFound {
			c.env.Logger.Warn("cannot record the result of a callback", "callback", is.ID, "error", err)
		}
		return false
	}
	return true
}

func hostOf(target string) string {
	u, err := url.Parse(target)
	if err != nil {
		return target
	}
	return u.Host
}
