// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"iter"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/state"
)

// eventsPerPart is how many objects of a snapshot are sent together.
const eventsPerPart = 256

// tellSnapshot sends what is, and has the stream go on with what changes after
// exactly that.
func (s *eventStream) tellSnapshot() error { return s.tellState(s.store.Snapshot()) }

func (s *eventStream) tellState(v *state.Snapshot) error {
	index := v.Index()
	s.fresh = false
	if err := s.out.mark("snapshot", "", &api.EventBatch{Index: index, Snapshot: api.SnapshotBegin}); err != nil {
		return err
	}
	part := make([]*toldEvent, 0, eventsPerPart)
	for e := range stateEvents(v, s.topics) {
		e.Index = index
		ok, err := s.admits(s.call, e)
		if err != nil {
			return err
		}
		if !ok {
			continue
		}
		if part = append(part, &toldEvent{Event: e}); len(part) == eventsPerPart {
			if err := s.out.part(index, part); err != nil {
				return err
			}
			clear(part)
			part = part[:0]
		}
	}
	if err := s.out.part(index, part); err != nil {
		return err
	}
	s.after = index
	return s.out.mark("snapshot", eventID(index, 0), &api.EventBatch{Index: index, Snapshot: api.SnapshotEnd})
}

// stateEvents yields every object of the wanted topics as an event.
func stateEvents(v *state.Snapshot, wanted topics) iter.Seq[*api.Event] {
	return func(yield func(*api.Event) bool) {
		for _, all := range []struct {
			topic  string
			events iter.Seq[*api.Event]
		}{
			{api.TopicNodePool, asEvents(v.NodePools())},
			{api.TopicNode, asEvents(v.Nodes())},
			{api.TopicDomain, asEvents(v.Domains())},
			{api.TopicJob, asEvents(v.Jobs())},
			{api.TopicEvaluation, asEvents(v.Evaluations())},
			{api.TopicDeployment, asEvents(v.Deployments())},
			{api.TopicAllocation, asEvents(v.Allocations())},
			{api.TopicPlan, asEvents(v.AllDecisions())},
			{api.TopicRestart, asEvents(v.Restarts())},
			{api.TopicCallback, asEvents(v.CallbacksPrefix(""))},
			{api.TopicInstance, stateInstances(v)},
			{api.TopicService, stateServices(v)},
		} {
			if !wanted.wantsTopic(all.topic) {
				continue
			}
			for e := range all.events {
				e.Type = all.topic + api.EventTypeSnapshot
				if !yield(e) {
					return
				}
			}
		}
	}
}

// asEvents tells objects as if each had just been stored.
func asEvents[T any](objects iter.Seq[*T]) iter.Seq[*api.Event] {
	return func(yield func(*api.Event) bool) {
		for object := range objects {
			if e := eventOf(0, state.Change{Op: state.Put, New: object}); e != nil && !yield(e) {
				return
			}
		}
	}
}
