// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package eventstream

import (
	"iter"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/catalogentry"
	"github.com/reeve-run/reeve/internal/state"
)

// serviceEvents returns the events of the services of allocations. Registrations precede
// deregistrations, so that a service does not become empty when one entry replaces its
// instance.
func serviceEvents(index uint64, transitions []transition) (events []*api.Event) {
	var removed []*api.Event
	for _, t := range transitions {
		before, after := servicesOf(t.old), servicesOf(t.new)
		if len(before)+len(after) == 0 {
			continue
		}
		for _, r := range after {
			if old := serviceIn(before, r.ID); old == nil || !catalogentry.IsSameService(old, r) {
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

// servicesOf returns the services that traffic to the allocation may use.
func servicesOf(a *api.Allocation) []*api.ServiceRegistration {
	if a == nil {
		return nil
	}
	if e := catalogentry.Of(a); e != nil {
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

// servicesOfState yields an event for each current service.
func servicesOfState(v *state.Snapshot) iter.Seq[*api.Event] {
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
