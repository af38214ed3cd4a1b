// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/state"
)

// topics are what a subscriber wants: by topic, the keys; a nil list is all.
type topics map[string][]string

var knownTopics = []string{api.TopicJob, api.TopicEvaluation, api.TopicAllocation, api.TopicDeployment, api.TopicNode, api.TopicNodePool, api.TopicPlan, api.TopicRestart, api.TopicDomain}

// parseTopics reads "Topic", "Topic:key" and "*".
func parseTopics(params []string) (topics, error) {
	wanted := topics{}
	for _, param := range params {
		topic, key, keyed := strings.Cut(param, ":")
		if topic != api.TopicAll && !slices.Contains(knownTopics, topic) {
			return nil, api.Errorf(api.CodeInvalid, "topic: there is no %q: use %s or %s", topic, strings.Join(knownTopics, ", "), api.TopicAll)
		}
		keys, known := wanted[topic]
		switch {
		case !keyed || key == "" || key == "*":
			wanted[topic] = nil
		case !known || keys != nil:
			wanted[topic] = append(keys, key)
		}
	}
	if len(wanted) == 0 {
		wanted[api.TopicAll] = nil
	}
	return wanted, nil
}

// want reports whether an event is one that was asked for.
func (t topics) want(e *api.Event) bool {
	for _, topic := range []string{e.Topic, api.TopicAll} {
		keys, ok := t[topic]
		if ok && (keys == nil || slices.Contains(keys, e.Key) || slices.ContainsFunc(e.FilterKeys, func(k string) bool { return slices.Contains(keys, k) })) {
			return true
		}
	}
	return false
}

// streamEvents sends what changes, one line for each index that has anything
// the caller asked for.
func streamEvents(c *call) error {
	wanted, err := parseTopics(c.query["topic"])
	if err != nil {
		return err
	}
	subscription, after, err := c.subscribe()
	if err != nil {
		return err
	}
	defer subscription.Close()
	c.setIndex(c.Server.Store().Index())
	c.w.Header().Set("X-Reeve-Events-After", strconv.FormatUint(after, 10))
	s := newStream(c, "application/x-ndjson")
	if err := s.start(); err != nil {
		return nil
	}
	stop := s.keepAlive("{}\n")
	err = c.sendEvents(s, subscription, wanted)
	stop()
	return s.end(err)
}

// subscribe follows the changes from now on, or from those at the index asked
// for. What is older than the server remembers is left out, unless the caller
// said that it wants all or nothing. The first event's index is above after.
func (c *call) subscribe() (subscription *state.Subscription, after uint64, err error) {
	store := c.Server.Store()
	if c.index == 0 {
		after = store.Index()
		return store.Subscribe(), after, nil
	}
	complete, err := c.flag("complete")
	if err != nil {
		return nil, 0, err
	}
	after = c.index - 1
	for {
		subscription, err = store.SubscribeFrom(after)
		if !errors.Is(err, state.ErrHistoryGone) {
			return subscription, after, err
		}
		if complete {
			return nil, 0, api.Errorf(api.CodeNotFound, "events of index %d are not kept any more: the oldest are after index %d; read the lists anew, and follow from their index", c.index, store.HistoryFrom())
		}
		after = store.HistoryFrom()
	}
}

func (c *call) sendEvents(s *stream, subscription *state.Subscription, wanted topics) error {
	for {
		batch, err := subscription.Next(c.r.Context())
		if err != nil {
			return err
		}
		line := api.EventBatch{Index: batch.Index}
		for _, change := range batch.Changes {
			if e := eventOf(batch.Index, change); e != nil && c.sees(e) && wanted.want(e) {
				line.Events = append(line.Events, e)
			}
		}
		if len(line.Events) == 0 {
			continue
		}
		if err := s.send(line); err != nil {
			return err
		}
	}
}

// sees reports whether an event is of the namespace asked for, or of none.
func (c *call) sees(e *api.Event) bool { return e.Namespace == "" || c.inNamespace(e.Namespace) }
