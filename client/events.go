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

// Events are changes of objects, as they happen.
type Events struct{ c *Client }

// Events returns the calls about events.
func (c *Client) Events() Events { return Events{c} }

// EventOptions say which events are wanted.
type EventOptions struct {
	Topics    map[string][]string // topic -> keys (ids), none or "*" for all; nil: every topic
	Filter    string              // an expression about events
	Index     uint64              // begin with what happened at this index, when it is still known; 0: now
	Timeline  string              // of what was told before Index; "": any
	Snapshot  bool                // begin with all objects, unless Index is still known, and with them anew whenever events were missed
	Complete  bool                // without Snapshot: fail with api.CodeNotFound when events are not known any more, rather than begin later
	Namespace string              // "*" for all; default: the client's

	// Broke is told why a stream broke that Follow is about to begin again; may be
	// nil.
	Broke func(error)
	// Resumed is told when the stream goes on after a break; may be nil.
	Resumed func()
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

// Stream yields the messages of the stream, in order, until it ends. Signs of
// life are left out. Whoever sets Snapshot, or is slow, minds what a message says
// beside its events.
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

// messages yields everything that one stream says.
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

// Follow is Stream without an end: after a break it goes on where it was. It ends
// with ctx, or with what trying again does not help: a first stream that does not
// begin, or a refusal. With Snapshot there is none but for mistakes, and nothing
// is ever left out.
func (e Events) Follow(ctx context.Context, o EventOptions) iter.Seq2[*api.EventBatch, error] {
	return func(yield func(*api.EventBatch, error) bool) {
		began, broken, wait := false, false, streamAgain
		within := false // a snapshot, of which a piece is worth nothing
		for {
			var broke error
			for batch, err := range e.messages(ctx, o, func(h http.Header) {
				began, wait = true, streamAgain
				if broken && o.Resumed != nil {
					o.Resumed()
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
					yield(nil, api.Errorf(api.CodeNotFound, "what happened from index %d to %d is not kept any more", m.From, m.To))
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
			if o.Broke != nil {
				o.Broke(broke)
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

// isFinal reports whether an error comes again however often one tries.
func isFinal(err error) bool {
	switch api.CodeOf(err) {
	case api.CodeInvalid, api.CodeNotFound, api.CodeForbidden:
		return true
	}
	return false
}
