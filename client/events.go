// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package client

import (
	"context"
	"encoding/json"
	"io"
	"iter"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/reeve-run/reeve/api"
)

// Events calls the routes of the event stream.
type Events struct{ c *Client }

// Events returns the calls for events.
func (c *Client) Events() Events { return Events{c} }

// EventOptions select events.
type EventOptions struct {
	Topics    map[string][]string // topic -> keys (ids), none or "*" for all; nil: every topic
	Filter    string              // an expression about events
	Index     uint64              // start with the events of this index if the server still has them; 0: now
	Timeline  string              // timeline of Index; "": any
	Snapshot  bool                // start with all objects unless the server still has the events from Index, and send all again after missed events
	Complete  bool                // without Snapshot: fail with api.CodeNotFound if events are no longer available, instead of starting later
	Namespace string              // "*" for all; default: the client's

	// OnBreak, if set, is called with the reason when Follow is about to reopen a broken
	// stream.
	OnBreak func(error)
	// OnResume, if set, is called when the stream continues after a break.
	OnResume func()
}

func (o *EventOptions) values() url.Values {
	v := url.Values{"progress": {"true"}}
	for topic, keys := range o.Topics {
		if len(keys) == 0 {
			v.Add("topic", topic)
		}
		for _, key := range keys {
			v.Add("topic", topic+":"+key)
		}
	}
	set := func(name, value string) {
		if value != "" {
			v.Set(name, value)
		}
	}
	set("filter", o.Filter)
	set("timeline", o.Timeline)
	set("namespace", o.Namespace)
	if o.Index > 0 {
		v.Set("index", strconv.FormatUint(o.Index, 10))
	}
	if o.Snapshot {
		v.Set("snapshot", "true")
	}
	if o.Complete {
		v.Set("complete", "true")
	}
	return v
}

// Stream yields the messages of the stream in order until it ends, except for heartbeats.
// Slow readers, and readers that set Snapshot, must check the fields of a message besides its
// events.
func (e Events) Stream(ctx context.Context, o EventOptions) iter.Seq2[*api.EventBatch, error] {
	return func(yield func(*api.EventBatch, error) bool) {
		for batch, err := range e.messages(ctx, o, func(http.Header) {}) {
			if err == nil && isSignOfLife(batch) {
				continue
			}
			if !yield(batch, err) {
				return
			}
		}
	}
}

func isSignOfLife(b *api.EventBatch) bool {
	return len(b.Events) == 0 && b.Snapshot == "" && b.Missed == nil
}

// messages yields all messages of one stream.
func (e Events) messages(ctx context.Context, o EventOptions, began func(http.Header)) iter.Seq2[*api.EventBatch, error] {
	return streamOf(ctx, e.c, "/v1/event/stream", o.values(), nil, func(resp *http.Response, body io.Reader) func() (*api.EventBatch, error) {
		began(resp.Header)
		dec := json.NewDecoder(body)
		return func() (*api.EventBatch, error) {
			batch := new(api.EventBatch)
			return batch, dec.Decode(batch)
		}
	})
}

// Follow is Stream that reopens a broken stream at its last position. It ends with ctx, or
// with an error that a retry cannot resolve: a failure of the first stream to open, or a
// rejection. With Snapshot it ends only because of an invalid request, and never omits a
// change.
func (e Events) Follow(ctx context.Context, o EventOptions) iter.Seq2[*api.EventBatch, error] {
	return func(yield func(*api.EventBatch, error) bool) {
		began, broken, wait := false, false, streamAgain
		within := false // in a snapshot, which is useless if incomplete
		for {
			var broke error
			for batch, err := range e.messages(ctx, o, func(h http.Header) {
				began, wait = true, streamAgain
				if broken && o.OnResume != nil {
					o.OnResume()
				}
				broken = false
				o.Timeline = h.Get("X-Reeve-Timeline")
				if after, err := strconv.ParseUint(h.Get("X-Reeve-Events-After"), 10, 64); err == nil && !o.Snapshot {
					o.Index = after + 1
				}
			}) {
				if err != nil {
					broke = err
					break
				}
				switch batch.Snapshot {
				case api.SnapshotBegin:
					within, o.Index = true, 0
				case api.SnapshotEnd:
					within = false
				}
				if !within && batch.Index > 0 {
					o.Index = batch.Index + 1
				}
				if !isSignOfLife(batch) && !yield(batch, nil) {
					return
				}
				if m := batch.Missed; m != nil && o.Complete && !o.Snapshot {
					yield(nil, api.Errorf(api.CodeNotFound, "the events from index %d to %d are no longer available", m.From, m.To))
					return
				}
			}
			switch {
			case ctx.Err() != nil:
				yield(nil, ctx.Err())
				return
			case !began && broke != nil, isFinal(broke):
				yield(nil, broke)
				return
			case broke == nil:
				broke = api.Errorf(api.CodeUnavailable, "%s ended the stream of events", e.c.base.Host)
			}
			broken = true
			if o.OnBreak != nil {
				o.OnBreak(broke)
			}
			select {
			case <-ctx.Done():
			case <-time.After(wait):
			}
			wait = min(2*wait, streamAgainLast)
			within = false
		}
	}
}

// isFinal reports whether every retry would fail with the same error.
func isFinal(err error) bool {
	switch api.CodeOf(err) {
	case api.CodeInvalid, api.CodeNotFound, api.CodeForbidden:
		return true
	}
	return false
}
