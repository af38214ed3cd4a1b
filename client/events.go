// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package client

import (
	"context"
	"iter"
	"net/url"
	"strconv"

	"github.com/reeve-run/reeve/api"
)

// Events are changes of objects, as they happen.
type Events struct{ c *Client }

// Events returns the calls about events.
func (c *Client) Events() Events { return Events{c} }

// EventOptions say which events are wanted.
type EventOptions struct {
	Topics    map[string][]string // topic -> keys (ids), none or "*" for all; nil: every topic
	Index     uint64              // begin with what happened at this index, when it is still known; 0: now
	Complete  bool                // fail with api.CodeNotFound when Index is not known any more, rather than begin later
	Namespace string              // "*" for all; default: the client's
}

// Stream yields the events of each index, in order. Signs of life are left
// out.
func (e Events) Stream(ctx context.Context, o EventOptions) iter.Seq2[*api.EventBatch, error] {
	v := url.Values{}
	for topic, keys := range o.Topics {
		if len(keys) == 0 {
			v.Add("topic", topic)
		}
		for _, key := range keys {
			v.Add("topic", topic+":"+key)
		}
	}
	if o.Index > 0 {
		v.Set("index", strconv.FormatUint(o.Index, 10))
	}
	if o.Complete {
		v.Set("complete", "true")
	}
	if o.Namespace != "" {
		v.Set("namespace", o.Namespace)
	}
	return func(yield func(*api.EventBatch, error) bool) {
		for batch, err := range stream[api.EventBatch](ctx, e.c, "/v1/event/stream", v, nil) {
			if err == nil && len(batch.Events) == 0 {
				continue
			}
			if !yield(batch, err) {
				return
			}
		}
	}
}
