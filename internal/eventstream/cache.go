// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package eventstream

import (
	"encoding/json"
	"iter"
	"sync"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/state"
)

// An event is an api.Event that is encoded once for all subscribers.
type event struct {
	*api.Event
	once sync.Once
	json []byte
	err  error
}

func (e *event) encode() ([]byte, error) {
	e.once.Do(func() { e.json, e.err = json.Marshal(e.Event) })
	return e.json, e.err
}

// eventsOf yields the events of a batch: first the changed objects in order, then the
// derived topics if they are selected.
func eventsOf(b *state.Batch, selected Selection) iter.Seq[*event] {
	return func(yield func(*event) bool) {
		for _, c := range b.Changes {
			if e := eventOf(b.Index, c); e != nil && !yield(&event{Event: e}) {
				return
			}
		}
		instances, services := selected.hasTopic(api.TopicInstance), selected.hasTopic(api.TopicService)
		if !instances && !services {
			return
		}
		transitions := transitionsOf(b)
		if instances {
			for _, e := range instanceEvents(b.Index, transitions) {
				if !yield(&event{Event: e}) {
					return
				}
			}
		}
		if services {
			for _, e := range serviceEvents(b.Index, transitions) {
				if !yield(&event{Event: e}) {
					return
				}
			}
		}
	}
}

// maxCachedChanges is the size of the largest cached batch. Larger batches are rare, and
// their events would stay in memory until the next changes.
const maxCachedChanges = 256

// cachedBatches is the number of cached batches. Subscribers that keep up read the newest
// ones at about the same time.
const cachedBatches = 16

// An eventCache shares the events of the newest batches among all subscribers.
type eventCache struct {
	slots [cachedBatches]struct {
		mu     sync.Mutex
		of     *state.Batch
		stored []*event // events of the changed objects
		all    []*event // the same, and those of the derived topics
	}
}

// events yields the events of a batch that may be selected.
func (c *eventCache) events(b *state.Batch, selected Selection) iter.Seq[*event] {
	if len(b.Changes) > maxCachedChanges {
		return eventsOf(b, selected)
	}
	return func(yield func(*event) bool) {
		for _, e := range c.load(b, selected.hasDerived()) {
			if !yield(e) {
				return
			}
		}
	}
}

// load returns the events of a batch, with those of derived topics if derived is set.
func (c *eventCache) load(b *state.Batch, derived bool) []*event {
	slot := &c.slots[b.Index%cachedBatches]
	slot.mu.Lock()
	defer slot.mu.Unlock()
	if slot.of != b {
		slot.of, slot.stored, slot.all = b, nil, nil
	}
	if slot.stored == nil {
		for e := range eventsOf(b, Selection{}) {
			slot.stored = append(slot.stored, e)
		}
	}
	if !derived {
		return slot.stored
	}
	if slot.all == nil {
		slot.all = append(slot.all, slot.stored...)
		transitions := transitionsOf(b)
		for _, e := range append(instanceEvents(b.Index, transitions), serviceEvents(b.Index, transitions)...) {
			slot.all = append(slot.all, &event{Event: e})
		}
	}
	return slot.all
}
