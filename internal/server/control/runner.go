// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package control

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/reeve-run/reeve/internal/server/feed"
	"github.com/reeve-run/reeve/internal/state"

	"github.com/reeve-run/reeve/internal/heap"
)

// A Controller maintains one aspect of the cluster, one object at a time. The runner calls All and
// Touched one after the other, and Act from another goroutine: a controller guards what they share.
// No method is called twice at the same time.
type Controller interface {
	Name() string
	// All returns the keys of all objects that may need an action.
	All(*state.Snapshot) []string
	// Touched adds the keys of the objects that a change concerns. The runner may call it
	// during Act. It must not wait: one goroutine calls it for all controllers.
	Touched(c *state.Change, add func(key string))
	// Act returns the commands for one object, and the time at which to call it again without
	// a change; zero for never.
	Act(snap *state.Snapshot, key string, now time.Time) (cmds []state.Command, wake time.Time)
}

// Env holds the parts of the server that a Runner uses.
type Env struct {
	Store *state.Store
	// Propose returns when the commands are applied: one error per command, or one for all.
	Propose func(context.Context, ...state.Command) ([]error, error)
	Logger  *slog.Logger
}

// passSize bounds the commands that one pass proposes.
const passSize = 1024

// maxSleep bounds the runner's sleep while an action is scheduled.
const maxSleep = 30 * time.Second

// retryAfter is the delay after a failed proposal.
const retryAfter = time.Second

// Run drives the controllers until ctx ends.
func Run(ctx context.Context, env Env, controllers ...Controller) {
	var wg sync.WaitGroup
	defer wg.Wait()
	loops := make(loops, len(controllers))
	for i, c := range controllers {
		l := newLoop(env, c)
		loops[i] = l
		wg.Go(func() { l.run(ctx) })
	}
	wg.Go(func() { _ = feed.Follow(ctx, env.Store, loops.start, loops.apply) })
}

// loops are the loops of all controllers. One goroutine reads the change feed for them: with
// a goroutine per controller, every log entry would wake each of them.
type loops []*loop

func (ls loops) start(snap *state.Snapshot) {
	var wg sync.WaitGroup
	defer wg.Wait()
	for _, l := range ls {
		wg.Go(func() { l.start(snap) })
	}
}

func (ls loops) apply(b *state.Batch) {
	for _, l := range ls {
		l.apply(b)
	}
}

// loop drives one controller.
type loop struct {
	env Env
	c   Controller
	add func(key string) // touch, bound once

	mu     sync.Mutex
	dirty  map[string]bool
	queue  []string // dirty keys, oldest first
	signal chan struct{}

	wakes map[string]*wake // only used by run
	times heap.Indexed[*wake]
	brake brake
}

func newLoop(env Env, c Controller) *loop {
	l := &loop{env: env, c: c, dirty: map[string]bool{}, wakes: map[string]*wake{}, brake: brake{paid: map[string]time.Time{}}, signal: make(chan struct{}, 1),
		times: heap.NewIndexed(
			func(a, b *wake) bool { return a.at.Before(b.at) },
			func(w *wake) *int { return &w.index },
		)}
	l.add = l.touch
	return l
}

func (l *loop) start(snap *state.Snapshot) {
	for _, key := range l.c.All(snap) {
		l.touch(key)
	}
}

func (l *loop) apply(b *state.Batch) {
	for i := range b.Changes {
		l.c.Touched(&b.Changes[i], l.add)
	}
}

// touch marks a key as dirty.
func (l *loop) touch(key string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.dirty[key] {
		return
	}
	l.dirty[key] = true
	l.queue = append(l.queue, key)
	select {
	case l.signal <- struct{}{}:
	default:
	}
}

func (l *loop) run(ctx context.Context) {
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	for {
		timer.Reset(l.untilWake(time.Now()))
		select {
		case <-ctx.Done():
			return
		case <-l.signal:
		case <-timer.C:
		}
		for l.pass(ctx) && ctx.Err() == nil {
		}
	}
}

// pass acts on dirty and due keys, and reports whether some remain.
func (l *loop) pass(ctx context.Context) bool {
	now := time.Now()
	keys := l.take(now)
	if len(keys) == 0 {
		return false
	}
	l.brake.forget(now)
	snap := l.env.Store.Snapshot()
	var cmds []state.Command
	var owners []string // key by command
	for i, key := range keys {
		if len(cmds) >= passSize {
			l.putBack(keys[i:])
			break
		}
		if free := l.brake.release(key, now); free.After(now) {
			l.setWake(key, free)
			continue
		}
		more, wake := l.c.Act(snap, key, now)
		l.setWake(key, wake)
		if len(more) > 0 || !wake.IsZero() && !wake.After(now) {
			l.brake.charge(key, now)
		}
		cmds = append(cmds, more...)
		for range more {
			owners = append(owners, key)
		}
	}
	if len(cmds) == 0 {
		return true
	}
	errs, err := l.env.Propose(ctx, cmds...)
	if err != nil {
		if !errors.Is(err, context.Canceled) {
			l.env.Logger.Warn("a controller cannot write", "controller", l.c.Name(), "error", err)
		}
		for _, key := range owners {
			l.setWake(key, now.Add(retryAfter))
		}
		return true
	}
	for i, err := range errs {
		if err != nil {
			// The object has changed since the snapshot: call Act again.
			l.env.Logger.Debug("a controller's command was rejected", "controller", l.c.Name(), "key", owners[i], "error", err)
			l.setWake(owners[i], now.Add(retryAfter))
		}
	}
	return true
}

// take empties the queue of dirty keys, and adds the due keys.
func (l *loop) take(now time.Time) []string {
	l.mu.Lock()
	keys := l.queue
	l.queue = nil
	for _, key := range keys {
		delete(l.dirty, key)
	}
	l.mu.Unlock()
	for {
		w, ok := l.times.First()
		if !ok || w.at.After(now) {
			return keys
		}
		l.times.Remove(w)
		delete(l.wakes, w.key)
		keys = append(keys, w.key)
	}
}

func (l *loop) putBack(keys []string) {
	for _, key := range keys {
		l.touch(key)
	}
}

func (l *loop) untilWake(now time.Time) time.Duration {
	first, ok := l.times.First()
	if !ok {
		return time.Hour
	}
	// Bound the sleep: a timer stops while the machine is suspended, and does not notice that
	// the clock was set.
	return min(first.at.Sub(now), maxSleep)
}

// setWake sets the time of a key's next action.
func (l *loop) setWake(key string, at time.Time) {
	w := l.wakes[key]
	switch {
	case at.IsZero() && w != nil:
		l.times.Remove(w)
		delete(l.wakes, key)
	case at.IsZero():
	case w != nil:
		w.at = at
		l.times.Put(w)
	default:
		w = &wake{key: key, at: at, index: -1}
		l.wakes[key] = w
		l.times.Put(w)
	}
}

// A wake is the scheduled time of a key's action.
type wake struct {
	key   string
	at    time.Time
	index int // in the heap
}
