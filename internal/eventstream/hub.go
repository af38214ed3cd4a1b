// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package eventstream

import (
	"context"
	"errors"
	"sync"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/state"
)

// A Hub wakes the streams of one server. One goroutine reads every batch of the change
// feed and wakes the streams that may select one of its events. The others keep sleeping:
// a stream without pending events has seen everything up to the hub's index.
//
// The hub hands over an index only. A stream reads the batches from the store's history at
// its own speed, so a slow stream delays no other and costs no memory. If the history no
// longer has a batch, the stream reports the missed range.
type Hub struct {
	store func() *state.Store
	cache eventCache
	steps stepCache

	mu        sync.Mutex
	interests map[string]*interest // by topic, or api.TopicAll
	followers int
	derived   int // followers that select instances or services
	watching  int // followers that select steps
	run       *hubRun
	seen      uint64 // index of the last batch that the hub read
}

// NewHub returns a hub without streams. It calls store when the first stream opens, and steps
// while a reader selects the topic Step.
func NewHub(store func() *state.Store, steps StepSource) *Hub {
	return &Hub{store: store, steps: stepCache{source: steps}}
}

// An interest holds the followers of a topic: of all its events, or of some keys.
type interest struct {
	all   map[*follower]struct{}
	keyed map[string]map[*follower]struct{}
}

// A hubRun is the hub's activity from the first follower to the last.
type hubRun struct {
	cancel context.CancelFunc
	ended  chan struct{}
}

// A follower is a stream's entry in the hub.
type follower struct {
	selected Selection
	woken    chan struct{} // has capacity 1
	pending  uint64        // index of the first batch with possible events; 0: none. Guarded by Hub.mu
	replaced bool          // reports whether another state replaced the store's. Guarded by Hub.mu
}

// join adds a follower of the selected events after an index.
func (h *Hub) join(selected Selection, after uint64) *follower {
	f := &follower{selected: selected, woken: make(chan struct{}, 1)}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.followers == 0 {
		h.begin()
	}
	h.followers++
	if selected.hasDerived() {
		h.derived++
	}
	if selected.hasSteps() {
		if h.watching == 0 {
			h.steps.drop(h.seen, nil)
		}
		h.watching++
	}
	h.each(f, func(set *map[*follower]struct{}) {
		if *set == nil {
			*set = map[*follower]struct{}{}
		}
		(*set)[f] = struct{}{}
	})
	if after < h.seen {
		f.pending = after + 1
	}
	return f
}

// each calls do with every set that holds the follower.
func (h *Hub) each(f *follower, do func(*map[*follower]struct{})) {
	if h.interests == nil {
		h.interests = map[string]*interest{}
	}
	for topic, keys := range f.selected {
		i := h.interests[topic]
		if i == nil {
			i = &interest{keyed: map[string]map[*follower]struct{}{}}
			h.interests[topic] = i
		}
		if keys == nil {
			do(&i.all)
		}
		for _, key := range keys {
			set := i.keyed[key]
			do(&set)
			i.keyed[key] = set
			if len(set) == 0 {
				delete(i.keyed, key)
			}
		}
	}
}

// leave removes a follower. The hub stops with its last follower.
func (h *Hub) leave(f *follower) {
	h.mu.Lock()
	h.each(f, func(set *map[*follower]struct{}) { delete(*set, f) })
	h.followers--
	if f.selected.hasDerived() {
		h.derived--
	}
	if f.selected.hasSteps() {
		h.watching--
	}
	var run *hubRun
	if h.followers == 0 {
		run, h.run = h.run, nil
		run.cancel()
	}
	h.mu.Unlock()
	if run != nil {
		<-run.ended
	}
}

// take returns the index from which the follower may have events, 0 if it has none, and
// the index up to which the hub has read.
func (h *Hub) take(f *follower) (from, to uint64, replaced bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	from, replaced = f.pending, f.replaced
	f.pending, f.replaced = 0, false
	return from, h.seen, replaced
}

func (h *Hub) begin() {
	ctx, cancel := context.WithCancel(context.Background())
	run := &hubRun{cancel, make(chan struct{})}
	h.run = run
	var subscription *state.Subscription
	for subscription == nil { // the history may advance between the two calls
		h.seen = h.store().HistoryTo()
		subscription, _ = h.store().SubscribeFrom(h.seen)
	}
	go func() {
		defer close(run.ended)
		h.follow(ctx, run, subscription)
	}()
}

func (h *Hub) follow(ctx context.Context, run *hubRun, subscription *state.Subscription) {
	for {
		b, err := subscription.Next(ctx)
		switch {
		case errors.Is(err, state.ErrFellBehind):
			subscription = h.resubscribe(run)
		case err != nil:
			return
		default:
			h.read(run, b)
		}
	}
}

// resubscribe follows the state that replaced the former one. The changes between the two
// are unknown, so every follower starts again.
func (h *Hub) resubscribe(run *hubRun) *state.Subscription {
	h.mu.Lock()
	defer h.mu.Unlock()
	subscription := h.store().Subscribe()
	if h.run != run {
		return subscription
	}
	h.seen = h.store().HistoryTo()
	h.steps.drop(h.seen, nil)
	for _, i := range h.interests {
		i.each(func(f *follower) {
			f.replaced = true
			f.wake(1)
		})
	}
	return subscription
}

// read wakes the followers that may select an event of a batch.
func (h *Hub) read(run *hubRun, b *state.Batch) {
	h.mu.Lock()
	derived, watched := h.derived > 0, h.watching > 0
	h.mu.Unlock()
	var jobs map[api.NamespacedID]struct{}
	if watched {
		jobs = jobsOf(h.store().Snapshot(), b)
		h.steps.drop(b.Index, jobs)
	}
	var events []*event
	large := len(b.Changes) > maxCachedChanges
	if !large {
		events = h.cache.load(b, derived)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.run != run {
		return
	}
	h.seen = b.Index
	if large || derived != (h.derived > 0) || watched != (h.watching > 0) { // every follower filters the batch itself
		for _, i := range h.interests {
			i.each(func(f *follower) { f.wake(b.Index) })
		}
		return
	}
	for _, e := range events {
		h.interests[e.Topic].wake(e.Event)
		h.interests[api.TopicAll].wake(e.Event)
	}
	for job := range jobs {
		h.interests[api.TopicStep].wakeJob(job.ID, b.Index)
	}
}

func (i *interest) each(do func(*follower)) {
	for f := range i.all {
		do(f)
	}
	for _, set := range i.keyed {
		for f := range set {
			do(f)
		}
	}
}

func (i *interest) wake(e *api.Event) {
	if i == nil {
		return
	}
	for f := range i.all {
		f.wake(e.Index)
	}
	if len(i.keyed) == 0 {
		return
	}
	for f := range i.keyed[e.Key] {
		f.wake(e.Index)
	}
	for _, key := range e.FilterKeys {
		for f := range i.keyed[key] {
			f.wake(e.Index)
		}
	}
}

// wakeJob wakes the followers of the steps of a job.
func (i *interest) wakeJob(job string, index uint64) {
	if i == nil {
		return
	}
	for f := range i.all {
		f.wake(index)
	}
	for key, set := range i.keyed {
		if isKeyOfJob(key, job) {
			for f := range set {
				f.wake(index)
			}
		}
	}
}

func (f *follower) wake(index uint64) {
	if f.pending != 0 {
		return
	}
	f.pending = index
	select {
	case f.woken <- struct{}{}:
	default:
	}
}
