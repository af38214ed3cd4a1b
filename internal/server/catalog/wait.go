// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package catalog

import (
	"context"
	"sync"
)

// waiters are those who wait for a service to change, kept by its key, so that
// they sleep through the changes of all others, and those who wait for the
// picture to have seen an index.
type waiters struct {
	mu    sync.Mutex
	byKey map[string]*watch
	seen  chan struct{} // closed when the picture advances; nil if nobody waits
}

// watch is closed at the next change of one key.
type watch struct {
	ch chan struct{}
	n  int // who wait for it
}

func (w *waiters) join(key string) *watch {
	w.mu.Lock()
	defer w.mu.Unlock()
	x := w.byKey[key]
	if x == nil {
		if w.byKey == nil {
			w.byKey = map[string]*watch{}
		}
		x = &watch{ch: make(chan struct{})}
		w.byKey[key] = x
	}
	x.n++
	return x
}

func (w *waiters) leave(key string, x *watch) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if x.n--; x.n == 0 && w.byKey[key] == x {
		delete(w.byKey, key)
	}
}

func (w *waiters) wake(key string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, k := range []string{key, ""} {
		if x := w.byKey[k]; x != nil {
			close(x.ch)
			delete(w.byKey, k)
		}
	}
}

func (w *waiters) wakeAll() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for k, x := range w.byKey {
		close(x.ch)
		delete(w.byKey, k)
	}
	w.wakeLocked()
}

func (w *waiters) wakeSeen() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.wakeLocked()
}

func (w *waiters) wakeLocked() {
	if w.seen != nil {
		close(w.seen)
		w.seen = nil
	}
}

// WaitSeen returns when the picture has all changes up to a log index, or with
// ctx's error. It takes microseconds: reading what a write has just changed
// waits for it.
func (c *Catalog) WaitSeen(ctx context.Context, index uint64) error {
	for max(index, 1) > c.seen.Load() {
		c.waiters.mu.Lock()
		if c.waiters.seen == nil {
			c.waiters.seen = make(chan struct{})
		}
		more := c.waiters.seen
		c.waiters.mu.Unlock()
		if max(index, 1) <= c.seen.Load() {
			return nil
		}
		select {
		case <-more:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

// Wait calls look until that says that it is content, once now and then after
// each change of a service, or of any if name is "". It returns ctx's error if
// that comes first.
func (c *Catalog) Wait(ctx context.Context, namespace, name string, look func() bool) error {
	k := ""
	if name != "" {
		k = key(namespace, name)
	}
	for {
		w := c.waiters.join(k)
		if look() {
			c.waiters.leave(k, w)
			return nil
		}
		select {
		case <-w.ch:
		case <-ctx.Done():
			c.waiters.leave(k, w)
			return ctx.Err()
		}
	}
}
