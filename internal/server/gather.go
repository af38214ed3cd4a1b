// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package server

import (
	"context"
	"sync"
	"time"
)

// A gatherer turns concurrent calls into few log entries: what arrives while
// one is written goes into the next. A thousand nodes that say the same at once
// then cost one entry, and one evaluation of each job that has to react.
type gatherer[T any] struct {
	// write writes one entry, and answers every call in it.
	write  func(ctx context.Context, calls []*gathered[T])
	linger time.Duration // how long the first call waits for company
	signal chan struct{}

	mu      sync.Mutex
	waiting []*gathered[T]
	closed  bool
}

// gathered is one call that waits for its log entry.
type gathered[T any] struct {
	what  T
	index uint64
	err   error
	done  chan struct{}
}

// callsPerEntry bounds a log entry.
const callsPerEntry = 512

func newGatherer[T any](write func(context.Context, []*gathered[T])) *gatherer[T] {
	return &gatherer[T]{write: write, signal: make(chan struct{}, 1)}
}

// add returns when what is written, with the index of its entry.
func (g *gatherer[T]) add(ctx context.Context, what T) (uint64, error) {
	call, err := g.put(what)
	if err != nil {
		return 0, err
	}
	select {
	case <-call.done:
		return call.index, call.err
	case <-ctx.Done():
		return 0, ctx.Err()
	}
}

// put has something written, and does not wait for it.
func (g *gatherer[T]) put(what T) (*gathered[T], error) {
	call := &gathered[T]{what: what, done: make(chan struct{})}
	g.mu.Lock()
	if g.closed {
		g.mu.Unlock()
		return nil, errShutdown
	}
	g.waiting = append(g.waiting, call)
	g.mu.Unlock()
	g.wake()
	return call, nil
}

func (g *gatherer[T]) wake() {
	select {
	case g.signal <- struct{}{}:
	default:
	}
}

// run writes until ctx ends.
func (g *gatherer[T]) run(ctx context.Context) {
	for {
		select {
		case <-g.signal:
			if g.linger > 0 {
				select {
				case <-time.After(g.linger):
				case <-ctx.Done():
				}
			}
			g.flush(ctx)
		case <-ctx.Done():
			g.mu.Lock()
			g.closed = true
			for _, call := range g.waiting {
				call.err = errShutdown
				close(call.done)
			}
			g.waiting = nil
			g.mu.Unlock()
			return
		}
	}
}

func (g *gatherer[T]) flush(ctx context.Context) {
	g.mu.Lock()
	calls := g.waiting
	if len(calls) > callsPerEntry {
		calls = calls[:callsPerEntry:callsPerEntry]
		g.wake()
	}
	g.waiting = g.waiting[len(calls):]
	g.mu.Unlock()
	if len(calls) == 0 {
		return
	}
	g.write(ctx, calls)
	for _, call := range calls {
		close(call.done)
	}
}

// answer fills in what the calls are told: all of them the same index, and
// their own command's error.
func answer[T any](calls []*gathered[T], index uint64, errs []error, err error) {
	for i, call := range calls {
		call.index, call.err = index, err
		if err == nil {
			call.err = errs[i]
		}
	}
}
