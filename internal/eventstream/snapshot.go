// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package eventstream

import (
	"iter"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/state"
)

// eventsPerPart is the number of objects in one part of a snapshot.
const eventsPerPart = 256

// sendState sends the current objects. The stream continues with the changes after the
// snapshot.
func (s *Stream) sendState(v *state.Snapshot) error {
	index := v.Index()
	s.fresh = false
	if err := s.out.mark("snapshot", "", &api.EventBatch{Index: index, Snapshot: api.SnapshotBegin}); err != nil {
		return err
	}
	part := make([]*event, 0, eventsPerPart)
	for e := range Current(v, s.Topics) {
		e.Index = index
		ok, err := s.admits(e)
		if err != nil {
			return err
		}
		if !ok {
			continue
		}
		if part = append(part, &event{Event: e}); len(part) == eventsPerPart {
			if err := s.out.part(index, api.SnapshotPart, part); err != nil {
				return err
			}
			clear(part)
			part = part[:0]
		}
	}
	if err := s.out.part(index, api.SnapshotPart, part); err != nil {
		return err
	}
	if err := s.sendStepsOf(v); err != nil {
		return err
	}
	s.after = index
	return s.out.mark("snapshot", formatID(index, 0), &api.EventBatch{Index: index, Snapshot: api.SnapshotEnd})
}

// Current yields every object of the selected topics as an event.
func Current(v *state.Snapshot, selected Selection) iter.Seq[*api.Event] {
	return func(yield func(*api.Event) bool) {
		for _, t := range topics {
			if !selected.hasTopic(t.name) {
				continue
			}
			for e := range t.events(v) {
				e.Type = t.name + api.EventTypeSnapshot
				if !yield(e) {
					return
				}
			}
		}
	}
}
