// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package eventstream

import (
	"slices"
	"strconv"
	"strings"

	"github.com/reeve-run/reeve/api"
)

// A Selection says which events a subscriber wants: the keys by topic. A nil list selects
// all events of the topic.
type Selection map[string][]string

// ParseSelection reads "Topic", "Topic:key" and "*". No parameter selects everything.
func ParseSelection(params []string) (Selection, error) {
	selected := Selection{}
	var unknown []string
	names := TopicNames()
	for _, param := range params {
		topic, key, keyed := strings.Cut(param, ":")
		if topic != api.TopicAll && !slices.Contains(names, topic) && !slices.Contains(foreignTopics, topic) {
			unknown = append(unknown, strconv.Quote(topic))
			continue
		}
		keys, known := selected[topic]
		switch {
		case !keyed || key == "" || key == "*":
			selected[topic] = nil
		case !known || keys != nil:
			selected[topic] = append(keys, key)
		}
	}
	if len(unknown) > 0 {
		return nil, api.Errorf(api.CodeInvalid, "topic: unknown topic %s; use %s or %s", strings.Join(unknown, ", "), strings.Join(names, ", "), api.TopicAll)
	}
	if len(selected) == 0 {
		selected[api.TopicAll] = nil
	}
	return selected, nil
}

// hasTopic reports whether events of a topic may be selected. Only its name selects the topic
// Step, because steps are derived for each reader.
func (s Selection) hasTopic(topic string) bool {
	_, ok := s[topic]
	_, all := s[api.TopicAll]
	return ok || all && topic != api.TopicStep
}

// hasSteps reports whether events of steps may be selected.
func (s Selection) hasSteps() bool { return s.hasTopic(api.TopicStep) }

// hasDerived reports whether events of derived topics may be selected.
func (s Selection) hasDerived() bool {
	return s.hasTopic(api.TopicInstance) || s.hasTopic(api.TopicService)
}

// has reports whether an event is selected.
func (s Selection) has(e *api.Event) bool {
	return s.hasIn(e.Topic, e) || e.Topic != api.TopicStep && s.hasIn(api.TopicAll, e)
}

func (s Selection) hasIn(topic string, e *api.Event) bool {
	keys, ok := s[topic]
	if !ok {
		return false
	}
	return keys == nil || slices.Contains(keys, e.Key) || slices.ContainsFunc(e.FilterKeys, func(k string) bool { return slices.Contains(keys, k) })
}
