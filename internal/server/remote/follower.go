// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package remote

import (
	"context"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/server/broker"
	"github.com/reeve-run/reeve/internal/server/fleet"
	"github.com/reeve-run/reeve/internal/state"
)

// Times of a follower.
const (
	pollWait   = 3 * time.Second // of a poll; also the longest time between two
	minBackoff = 50 * time.Millisecond
	maxBackoff = 2 * time.Second
	partTime   = 500 * time.Millisecond // to return deliveries at the end
)

// Paths of the leader's routes.
const (
	PollPath   = "/v1/server/evaluations/poll"
	AnswerPath = "/v1/server/placements/commit"
)

// FollowerEnv holds the dependencies of a Follower.
type FollowerEnv struct {
	Store  *state.Store
	Fleet  *fleet.Tracker
	Logger *slog.Logger
	Types  broker.Types // that the workers process
	// Call sends a request to a route of the leader, and returns the body of the response.
	Call func(ctx context.Context, path string, body []byte) ([]byte, error)
	// Computed returns the number of evaluations that this server has computed.
	Computed func() uint64
}

// A Follower is the queue of the workers of a server that does not lead. It implements
// worker.Queue.
type Follower struct {
	env     FollowerEnv
	session string
	ready   chan *broker.Delivery

	mu      sync.Mutex
	idle    int // workers that wait
	waiting sync.Cond
	held    map[*broker.Delivery]uint64 // tokens
	newest  uint64                      // highest index of a delivery
	unsent  []*outgoing
	unsents chan struct{} // signals that unsent is not empty
}

// NewFollower returns a queue that Run fills.
func NewFollower(env FollowerEnv) *Follower {
	f := &Follower{
		env: env, session: api.NewID(), ready: make(chan *broker.Delivery, maxDeliveries),
		held: map[*broker.Delivery]uint64{}, unsents: make(chan struct{}, 1),
	}
	f.waiting.L = &f.mu
	return f
}

// Run polls the leader and sends answers until ctx ends. Call it while the workers run, and
// Part when they have ended.
func (f *Follower) Run(ctx context.Context) {
	var running sync.WaitGroup
	for range senders {
		running.Go(func() { f.send(ctx) })
	}
	defer running.Wait()
	defer context.AfterFunc(ctx, func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		f.waiting.Broadcast()
	})()
	for backoff := minBackoff; ctx.Err() == nil; {
		limit := f.awaitIdle(ctx)
		if limit > 0 && !f.isCurrent(ctx) {
			limit = 0
		}
		err := f.poll(ctx, limit)
		if err == nil {
			backoff = minBackoff
			continue
		}
		f.env.Logger.Debug("cannot poll the leader for evaluations", "error", err)
		select {
		case <-ctx.Done():
		case <-time.After(backoff):
		}
		backoff = min(2*backoff, maxBackoff)
	}
}

// Part returns the deliveries that this server still holds, so that others need not wait until it has been
// silent for long.
func (f *Follower) Part() {
	f.mu.Lock()
	holds := len(f.held)
	clear(f.held)
	f.mu.Unlock()
	if holds == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), partTime)
	defer cancel()
	if err := f.poll(ctx, 0); err != nil {
		f.env.Logger.Debug("cannot return evaluations to the leader", "error", err)
	}
}

// awaitIdle waits until a worker waits for a delivery, at most pollWait, and returns the number of
// deliveries to ask for.
func (f *Follower) awaitIdle(ctx context.Context) int {
	over := false
	timer := time.AfterFunc(pollWait, func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		over = true
		f.waiting.Broadcast()
	})
	defer timer.Stop()
	f.mu.Lock()
	defer f.mu.Unlock()
	for f.idle <= len(f.ready) && !over && ctx.Err() == nil {
		f.waiting.Wait()
	}
	return min(max(f.idle-len(f.ready), 0), cap(f.ready)-len(f.ready))
}

// isCurrent waits until the state has the index of every earlier delivery, at most pollWait. A
// server that lags behind must not take evaluations from others.
func (f *Follower) isCurrent(ctx context.Context) bool {
	f.mu.Lock()
	newest := f.newest
	f.mu.Unlock()
	if f.env.Store.Index() >= newest {
		return true
	}
	ctx, cancel := context.WithTimeout(ctx, pollWait)
	defer cancel()
	return f.env.Store.Wait(ctx, newest) == nil
}

// poll asks for at most limit deliveries and hands them to the workers.
func (f *Follower) poll(ctx context.Context, limit int) error {
	m := &Poll{Session: f.session, Limit: uint32(limit), WaitMs: uint32(pollWait.Milliseconds()), Types: uint32(f.env.Types), Computed: f.env.Computed()}
	f.mu.Lock()
	m.Holds = slices.Collect(maps.Values(f.held))
	f.mu.Unlock()
	body, err := m.MarshalVT()
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, pollWait+maxWait)
	defer cancel()
	if body, err = f.env.Call(ctx, PollPath, body); err != nil {
		return err
	}
	var reply Polled
	if err := reply.UnmarshalVT(body); err != nil {
		return err
	}
	for _, m := range reply.Deliveries {
		d, err := decodeDelivery(m)
		if err != nil {
			return err // the next poll returns it
		}
		f.mu.Lock()
		f.held[d], f.newest = m.Token, max(f.newest, d.MinIndex)
		f.mu.Unlock()
		select {
		case f.ready <- d:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

// Dequeue implements worker.Queue.
func (f *Follower) Dequeue(ctx context.Context) (*broker.Delivery, error) {
	select {
	case d := <-f.ready:
		return d, nil
	default:
	}
	f.wait(1)
	defer f.wait(-1)
	select {
	case d := <-f.ready:
		return d, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (f *Follower) wait(n int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.idle += n
	if n > 0 {
		f.waiting.Signal()
	}
}
