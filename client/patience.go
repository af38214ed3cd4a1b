// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package client

import (
	"context"
	"sync"
	"time"

	"github.com/reeve-run/reeve/api"
)

// Patience lets the reads of a client outlast an outage of the server: a read without an
// answer is retried until it has one. A blocking query then returns the current state
// immediately, because a server that lost its data has other indexes.
type Patience struct {
	For    time.Duration // longest outage; 0 or less: reads fail immediately
	OnLost func(error)   // called with the reason, once per outage; may be nil
	OnBack func()        // called when the last waiting read has its answer; may be nil
}

// WithPatience returns a client with the same connections whose reads wait for the server.
// Writes do not wait: the server may have executed a write without an answer.
func (c *Client) WithPatience(p Patience) *Client {
	other := *c
	other.outage = nil
	if p.For > 0 {
		other.outage = &outage{Patience: p}
	}
	return &other
}

// IsLost reports whether reads are waiting for the server.
func (c *Client) IsLost() bool {
	if c.outage == nil {
		return false
	}
	c.outage.mu.Lock()
	defer c.outage.mu.Unlock()
	return c.outage.waiting > 0
}

// Outlast retries an attempt that failed with err until the server answers, even with a
// rejection, or the client's patience ends. Without patience, it returns err.
func (c *Client) Outlast(ctx context.Context, err error, try func(context.Context) error) error {
	if c.outage == nil || api.CodeOf(err) != api.CodeUnavailable {
		return err
	}
	return c.outage.outlast(ctx, err, try)
}

// An outage is shared by the reads of a client while the server is unreachable.
type outage struct {
	Patience
	mu      sync.Mutex
	waiting int // number of waiting reads
}

func (o *outage) outlast(ctx context.Context, err error, try func(context.Context) error) error {
	o.begin(err)
	within, cancel := context.WithTimeout(ctx, o.For)
	defer cancel()
	last := err
	for wait := streamAgain; ; wait = min(2*wait, streamAgainLast) {
		select {
		case <-within.Done():
		case <-time.After(wait):
			err := try(within)
			if within.Err() == nil && api.CodeOf(err) != api.CodeUnavailable {
				o.end(true)
				return err
			}
			if within.Err() == nil {
				last = err
			}
		}
		if within.Err() == nil {
			continue
		}
		o.end(false)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		return stillLost(last, o.For)
	}
}

func (o *outage) begin(err error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.waiting++; o.waiting == 1 && o.OnLost != nil {
		o.OnLost(err)
	}
}

func (o *outage) end(answered bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.waiting--; o.waiting == 0 && answered && o.OnBack != nil {
		o.OnBack()
	}
}
