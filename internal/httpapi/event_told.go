// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"encoding/json"
	"iter"
	"sync"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/state"
)

// A toldEvent is an event that is written as JSON once for all who want it.
type toldEvent struct {
	*api.Event
	once sync.Once
	json []byte
	err  error
}

func (t *toldEvent) line() ([]byte, error) {
	t.once.Do(func() { t.json, t.err = json.Marshal(t.Event) })
	return t.json, t.err
}

// eventsOf yields the events of a batch: of what changed, in order, and then
// what follows from it, if the subscriber wants that.
func eventsOf(b *state.Batch, wanted topics) iter.Seq[*toldEvent] {
	return func(yield func(*toldEvent) bool) {
		for _, change := range b.Changes {
			if e := eventOf(b.Index, change); e != nil && !yield(&toldEvent{Event: e}) {
				return
			}
		}
		instances, services := wanted.wantsTopic(api.TopicInstance), wanted.wantsTopic(api.TopicService)
		if !instances && !services {
			return
		}
		turns := turnsOf(b)
		if instances {
			for _, e := range instanceEvents(b.Index, turns) {
				if !yield(&toldEvent{Event: e}) {
					return
				}
			}
		}
		if services {
			for _, e := range serviceEvents(b.Index, turns) {
				if !yield(&toldEvent{Event: e}) {
					return
				}
			}
		}
	}
}

// Batches of more changes are told to each subscriber anew: they are rare, and
// what was made of them would stay in memory for as long as nothing happens.
const sharedChanges = 256

// sharedBatches is how many batches are kept as told: those who follow read the
// newest, all at about the same time.
const sharedBatches = 16

// teller makes the events of the newest batches once for all subscribers.
type teller struct {
	slots [sharedBatches]struct {
		mu    sync.Mutex
		of    *state.Batch
		plain []*toldEvent // without what follows from the changes
		all   []*toldEvent // the same, and more
	}
}

// events yields the events of a batch that could be wanted.
func (t *teller) events(b *state.Batch, wanted topics) iter.Seq[*toldEvent] {
	if len(b.Changes) > sharedChanges {
		return eventsOf(b, wanted)
	}
	return func(yield func(*toldEvent) bool) {
		for _, e := range t.shared(b, wanted.wantsTopic(api.TopicInstance) || wanted.wantsTopic(api.TopicService)) {
			if !yield(e) {
				return
			}
		}
	}
}

func (t *teller) shared(b *state.Batch, derived bool) []*toldEvent {
	slot := &t.slots[b.Index%sharedBatches]
	slot.mu.Lock()
	defer slot.mu.Unlock()
	if slot.of != b {
		slot.of, slot.plain, slot.all = b, nil, nil
	}
	if slot.plain == nil {
		for e := range eventsOf(b, topics{}) {
			slot.plain = append(slot.plain, e)
		}
	}
	if !derived {
		return slot.plain
	}
	if slot.all == nil {
		slot.all = append(slot.all, slot.plain...)
		turns := turnsOf(b)
		for _, e := range append(instanceEvents(b.Index, turns), serviceEvents(b.Index, turns)...) {
			slot.all = append(slot.all, &toldEvent{Event: e})
		}
	}
	return slot.all
}
