// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"context"
	"errors"
	"sync"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/state"
)

// An eventHub wakes the streams of events. One goroutine looks at every batch
// and wakes those who may want something of it; thousands that wait for
// something else sleep on, and are no further behind for it: whoever has nothing
// pending has seen all that the hub has.
//
// Nothing is handed over but an index. A stream reads the batches out of the
// store's feed at its own speed, so a slow one holds up nobody and costs no
// memory; what the feed has dropped in the meantime it is told to have missed.
type eventHub struct {
	store func() *state.Store
	teller

	mu        sync.Mutex
	interests map[string]*interest // by topic, or api.TopicAll
	followers int
	derived   int // followers that want what follows from changes
	run       *hubRun
	seen      uint64 // index of the last batch looked at
}

// interest is who wants something of a topic: everything, or some keys.
type interest struct {
	all   map[*follower]struct{}
	keyed map[string]map[*follower]struct{}
}

// hubRun is the time from the first follower to the last.
type hubRun struct {
	cancel context.CancelFunc
	ended  chan struct{}
}

// A follower is a stream's place in the hub.
type follower struct {
	wanted  topics
	woken   chan struct{} // holds one
	pending uint64        // guarded by hub.mu: nothing is wanted of what lies before, something may be here; 0: nothing anywhere
	anew    bool          // guarded by hub.mu: the state was replaced
}

// join has a stream woken for what is wanted after an index.
func (h *eventHub) join(wanted topics, after uint64) *follower {
	f := &follower{wanted: wanted, woken: make(chan struct{}, 1)}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.followers == 0 {
		h.begin()
	}
	h.followers++
	if wanted.isDerived() {
		h.derived++
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

func (t topics) isDerived() bool {
	return t.wantsTopic(api.TopicInstance) || t.wantsTopic(api.TopicService)
}

// each calls do with every set that the follower is in.
func (h *eventHub) each(f *follower, do func(*map[*follower]struct{})) {
	if h.interests == nil {
		h.interests = map[string]*interest{}
	}
	for topic, keys := range f.wanted {
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

// leave forgets a follower; with the last one the hub rests.
func (h *eventHub) leave(f *follower) {
	h.mu.Lock()
	h.each(f, func(set *map[*follower]struct{}) { delete(*set, f) })
	h.followers--
	if f.wanted.isDerived() {
		h.derived--
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

// take returns from where on there may be something for the follower, 0 if
// there is not, and how far the hub has looked.
func (h *eventHub) take(f *follower) (from, to uint64, anew bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	from, anew = f.pending, f.anew
	f.pending, f.anew = 0, false
	return from, h.seen, anew
}

func (h *eventHub) begin() {
	ctx, cancel := context.WithCancel(context.Background())
	run := &hubRun{cancel, make(chan struct{})}
	h.run = run
	var subscription *state.Subscription
	for subscription == nil { // the feed moves on only while we look
		h.seen = h.store().HistoryTo()
		subscription, _ = h.store().SubscribeFrom(h.seen)
	}
	go func() {
		defer close(run.ended)
		h.follow(ctx, run, subscription)
	}()
}

func (h *eventHub) follow(ctx context.Context, run *hubRun, subscription *state.Subscription) {
	for {
		b, err := subscription.Next(ctx)
		switch {
		case errors.Is(err, state.ErrFellBehind):
			subscription = h.startOver(run)
		case err != nil:
			return
		default:
			h.look(run, b)
		}
	}
}

// startOver is for when the state was replaced by another one: nobody knows what
// changed between the two.
func (h *eventHub) startOver(run *hubRun) *state.Subscription {
	h.mu.Lock()
	defer h.mu.Unlock()
	subscription := h.store().Subscribe()
	if h.run != run {
		return subscription
	}
	h.seen = h.store().HistoryTo()
	for _, i := range h.interests {
		i.each(func(f *follower) {
			f.anew = true
			f.wake(1)
		})
	}
	return subscription
}

// look wakes those who may want something of a batch.
func (h *eventHub) look(run *hubRun, b *state.Batch) {
	h.mu.Lock()
	derived := h.derived > 0
	h.mu.Unlock()
	var events []*toldEvent
	large := len(b.Changes) > sharedChanges
	if !large {
		events = h.shared(b, derived)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.run != run {
		return
	}
	h.seen = b.Index
	if large || derived != (h.derived > 0) { // each sees for itself
		for _, i := range h.interests {
			i.each(func(f *follower) { f.wake(b.Index) })
		}
		return
	}
	for _, e := range events {
		h.interests[e.Topic].wake(e.Event)
		h.interests[api.TopicAll].wake(e.Event)
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
