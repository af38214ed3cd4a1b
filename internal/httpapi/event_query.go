// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"mime"
	"slices"
	"strconv"
	"strings"

	"github.com/hashicorp/go-bexpr"
	"github.com/reeve-run/reeve/api"
)

// eventQuery is what a subscriber wants.
type eventQuery struct {
	topics   topics
	only     *bexpr.Evaluator // nil: everything
	sse      bool
	snapshot bool   // begin with what is, and whenever something was missed
	complete bool   // rather nothing than less than everything
	progress bool   // signs of life say how far the stream is
	replay   bool   // begin with the oldest that is kept
	timeline string // of what was told before from; "": not said
	from     uint64 // the index of the first that is wanted; 0: from now on
	skip     int    // events of that index that the subscriber has
}

// eventParams are the query parameters of the stream.
var eventParams = []string{"topic", "index", "complete", "snapshot", "filter", "format", "timeline", "progress"}

// parseEventQuery reads what a subscriber wants.
func (c *call) parseEventQuery() (q eventQuery, err error) {
	if q.topics, err = parseTopics(c.query["topic"]); err != nil {
		return q, err
	}
	if s := c.query.Get("filter"); s != "" {
		if q.only, err = parseEventFilter(s, q.topics); err != nil {
			return q, err
		}
	}
	if q.sse, err = c.wantsSSE(); err != nil {
		return q, err
	}
	if q.snapshot, err = c.flag("snapshot"); err != nil {
		return q, err
	}
	if q.complete, err = c.flag("complete"); err != nil {
		return q, err
	}
	if q.progress, err = c.flag("progress"); err != nil {
		return q, err
	}
	q.timeline, q.from = c.query.Get("timeline"), c.index
	q.replay = c.query.Get("index") != "" && c.index == 0
	// A browser that connects again asks as it did at first, and says with the
	// header how far it came.
	if s := c.r.Header.Get("Last-Event-ID"); s != "" {
		if q.from, q.skip, err = parseEventID(s); err != nil {
			return q, err
		}
	}
	return q, nil
}

// wantsSSE reports whether the answer is to be of server-sent events.
func (c *call) wantsSSE() (bool, error) {
	switch format := c.query.Get("format"); format {
	case "sse":
		return true, nil
	case "ndjson":
		return false, nil
	case "":
	default:
		return false, api.Errorf(api.CodeInvalid, "format: there is no %q: use ndjson or sse", format)
	}
	for part := range strings.SplitSeq(c.r.Header.Get("Accept"), ",") {
		if kind, _, err := mime.ParseMediaType(part); err == nil && kind == sseMedia {
			return true, nil
		}
	}
	return false, nil
}

// eventID names a place in the stream: after the event of an index that is the
// n-th of those that the subscriber wants, or after all of them.
func eventID(index uint64, n int) string {
	if n == 0 {
		return strconv.FormatUint(index, 10)
	}
	return strconv.FormatUint(index, 10) + "." + strconv.Itoa(n)
}

// parseEventID returns the index to go on with, and how many of its events the
// subscriber has.
func parseEventID(s string) (index uint64, skip int, err error) {
	head, tail, within := strings.Cut(s, ".")
	index, err = strconv.ParseUint(head, 10, 63)
	if within && err == nil {
		skip, err = strconv.Atoi(tail)
	}
	if err != nil || skip < 0 {
		return 0, 0, api.Errorf(api.CodeInvalid, "Last-Event-ID: %q is not an id that this stream gave out", s)
	}
	if within {
		return index, skip, nil
	}
	return index + 1, 0, nil
}

// topics are what a subscriber wants: by topic, the keys; a nil list is all.
type topics map[string][]string

var knownTopics = []string{
	api.TopicJob, api.TopicEvaluation, api.TopicAllocation, api.TopicDeployment, api.TopicNode, api.TopicNodePool,
	api.TopicPlan, api.TopicRestart, api.TopicCallback, api.TopicDomain, api.TopicInstance, api.TopicService,
}

// otherTopics are those of Nomad's that nothing is ever told of here. Its clients
// may ask for them.
var otherTopics = []string{
	"ACLAuthMethod", "ACLBindingRule", "ACLPolicy", "ACLRole", "ACLToken", "CSIPlugin", "CSIVolume", "HostVolume", "Operator", "Variable",
}

// parseTopics reads "Topic", "Topic:key" and "*".
func parseTopics(params []string) (topics, error) {
	wanted := topics{}
	var unknown []string
	for _, param := range params {
		topic, key, keyed := strings.Cut(param, ":")
		if topic != api.TopicAll && !slices.Contains(knownTopics, topic) && !slices.Contains(otherTopics, topic) {
			unknown = append(unknown, strconv.Quote(topic))
			continue
		}
		keys, known := wanted[topic]
		switch {
		case !keyed || key == "" || key == "*":
			wanted[topic] = nil
		case !known || keys != nil:
			wanted[topic] = append(keys, key)
		}
	}
	if len(unknown) > 0 {
		return nil, api.Errorf(api.CodeInvalid, "topic: there is no %s: use %s or %s", strings.Join(unknown, ", "), strings.Join(knownTopics, ", "), api.TopicAll)
	}
	if len(wanted) == 0 {
		wanted[api.TopicAll] = nil
	}
	return wanted, nil
}

// wantsTopic reports whether any event of a topic may be wanted.
func (t topics) wantsTopic(topic string) bool {
	_, ok := t[topic]
	_, all := t[api.TopicAll]
	return ok || all
}

// want reports whether an event is one that was asked for.
func (t topics) want(e *api.Event) bool { return t.wantIn(e.Topic, e) || t.wantIn(api.TopicAll, e) }

func (t topics) wantIn(topic string, e *api.Event) bool {
	keys, ok := t[topic]
	if !ok {
		return false
	}
	return keys == nil || slices.Contains(keys, e.Key) || slices.ContainsFunc(e.FilterKeys, func(k string) bool { return slices.Contains(keys, k) })
}
