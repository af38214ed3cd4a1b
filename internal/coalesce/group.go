// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package coalesce

import (
	"context"
	"sync"
)

// A Group runs one call at a time. Callers that arrive while a call runs share the next one.
type Group[T any] struct {
	call func(context.Context) (T, error)

	mu      sync.Mutex
	current *batch[T] // its call runs; nil: none
	next    *batch[T] // waits until the current call ends; nil: nobody waits
}

// A batch is the callers of one call.
type batch[T any] struct {
	ctx     context.Context // canceled when the last caller has left
	cancel  context.CancelFunc
	callers int // guarded by Group.mu
	done    chan struct{}
	result  T
	err     error
}

// New returns a group that runs call. The context of call ends when the last caller has left.
func New[T any](call func(context.Context) (T, error)) *Group[T] { return &Group[T]{call: call} }

// Do returns the result of a call that begins after Do began, or the error of ctx.
func (g *Group[T]) Do(ctx context.Context) (T, error) {
	b := g.join()
	select {
	case <-b.done:
		return b.result, b.err
	case <-ctx.Done():
		g.leave(b)
		var none T
		return none, ctx.Err()
	}
}

// join adds a caller to the next batch, and starts its call if none runs.
func (g *Group[T]) join() *batch[T] {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.next == nil {
		g.next = &batch[T]{done: make(chan struct{})}
		g.next.ctx, g.next.cancel = context.WithCancel(context.Background())
	}
	b := g.next
	b.callers++
	if g.current == nil {
		g.start()
	}
	return b
}

// start starts the call of the next batch. The caller holds the mutex.
func (g *Group[T]) start() {
	b := g.next
	g.current, g.next = b, nil
	if b != nil {
		go g.run(b)
	}
}

func (g *Group[T]) run(b *batch[T]) {
	b.result, b.err = g.call(b.ctx)
	b.cancel()
	close(b.done)
	g.mu.Lock()
	defer g.mu.Unlock()
	g.start()
}

// leave removes a caller that waits no longer.
func (g *Group[T]) leave(b *batch[T]) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if b.callers--; b.callers > 0 {
		return
	}
	b.cancel()
	if g.next == b {
		g.next = nil // a later caller must not join a canceled batch
	}
}
