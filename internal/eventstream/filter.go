// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package eventstream

import (
	"maps"
	"reflect"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/filter"
)

// filterEvent is an event as filters see it. The names are those of the event's JSON, but
// the payload has an object for every topic: a nil pointer unless the event has this
// topic. So a field of another topic is absent, and a field of no topic is an error.
type filterEvent struct {
	Topic, Type, Key, Namespace string
	FilterKeys                  []string
	Index                       uint64
	Deleted                     bool
	Payload                     map[string]any
}

// absentObjects is the payload of an event without an object.
var absentObjects = func() map[string]any {
	absent := map[string]any{}
	for _, t := range topics {
		absent[t.name] = reflect.Zero(reflect.TypeOf(t.object)).Interface()
	}
	return absent
}()

func matchesEvent(f *filter.Filter, e *api.Event) (bool, error) {
	if f == nil {
		return true, nil
	}
	payload := maps.Clone(absentObjects)
	payload[e.Topic] = e.Payload[e.Topic]
	return f.Matches(&filterEvent{
		Topic: e.Topic, Type: e.Type, Key: e.Key, Namespace: e.Namespace, FilterKeys: e.FilterKeys, Index: e.Index, Deleted: e.Deleted, Payload: payload,
	})
}

// ParseFilter reads an expression about events. It evaluates the expression on an empty
// object of each selected topic, so that a wrong name is an error instead of a silent
// stream.
func ParseFilter(expression string, selected Selection) (*filter.Filter, error) {
	f, err := filter.Parse(expression)
	if err != nil {
		return nil, err
	}
	for _, t := range topics {
		if !selected.hasTopic(t.name) {
			continue
		}
		if _, err := matchesEvent(f, &api.Event{Topic: t.name, Payload: map[string]any{t.name: t.object}}); err != nil {
			return nil, err
		}
	}
	return f, nil
}
