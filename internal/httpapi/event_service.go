// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"iter"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/catalog"
	"github.com/reeve-run/reeve/internal/state"
)

// A turn is what one allocation was before a log entry and what it is after it,
// nil where it is not there.
type turn struct{ old, new *api.Allocation }

// turnsOf joins the changes of each allocation in a batch, in the order in which
// they first changed.
func turnsOf(b *state.Batch) []turn {
	var turns []turn
	var at map[string]int // several changes of one allocation are rare
	for i, change := range b.Changes {
		if change.Table != state.TableAllocations {
			continue
		}
		before, _ := change.Old.(*api.Allocation)
		after, _ := change.New.(*api.Allocation)
		id := allocationOf(before, after)
		if at == nil {
			at = make(map[string]int, len(b.Changes)-i)
		}
		if j, ok := at[id]; ok {
			turns[j].new = after
			continue
		}
		at[id] = len(turns)
		turns = append(turns, turn{before, after})
	}
	return turns
}

func allocationOf(a, b *api.Allocation) string {
	if a != nil {
		return a.ID
	}
	return b.ID
}

// serviceEvents are what turns did to services: what is offered now first, so
// that a service whose instance is replaced in one entry is never without any.
func serviceEvents(index uint64, turns []turn) (events []*api.Event) {
	var removed []*api.Event
	for _, t := range turns {
		before, after := servicesOf(t.old), servicesOf(t.new)
		if len(before)+len(after) == 0 {
			continue
		}
		for _, r := range after {
			if old := serviceIn(before, r.ID); old == nil || !catalog.IsSameService(old, r) {
				events = append(events, serviceEvent(index, r, api.EventTypeServiceAdded))
			}
		}
		for _, r := range before {
			if serviceIn(after, r.ID) == nil {
				removed = append(removed, serviceEvent(index, r, api.EventTypeServiceRemoved))
			}
		}
	}
	return append(events, removed...)
}

func servicesOf(a *api.Allocation) []*api.ServiceRegistration {
	if a == nil {
		return nil
	}
	if e := catalog.Of(a); e != nil {
		return e.Services
	}
	return nil
}

func serviceIn(all []*api.ServiceRegistration, id string) *api.ServiceRegistration {
	for _, r := range all {
		if r.ID == id {
			return r
		}
	}
	return nil
}

func serviceEvent(index uint64, r *api.ServiceRegistration, kind string) *api.Event {
	return &api.Event{
		Topic: api.TopicService, Type: kind, Key: r.ID, Namespace: r.Namespace, Index: index,
		FilterKeys: keys(r.ServiceName, r.JobID, r.AllocID, r.NodeID),
		Deleted:    kind == api.EventTypeServiceRemoved,
		Payload:    map[string]any{api.TopicService: r},
	}
}

func stateServices(v *state.Snapshot) iter.Seq[*api.Event] {
	return func(yield func(*api.Event) bool) {
		for a := range v.Allocations() {
			for _, r := range servicesOf(a) {
				if !yield(serviceEvent(0, r, api.EventTypeServiceAdded)) {
					return
				}
			}
		}
	}
}
