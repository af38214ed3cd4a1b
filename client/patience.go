// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package client

import (
	"context"
	"sync"
	"time"

	"github.com/reeve-run/reeve/api"
)

// Patience has the reads of a client outlast an outage of the server: a read
// that gets no answer is repeated until it gets one. A blocking query then
// returns what the server says at once, because a server that lost its data
// counts from another index.
type Patience struct {
	For  time.Duration // of one outage; 0 or less: reads fail at once
	Lost func(error)   // told why, once an outage; may be nil
	Back func()        // told when the last read that waits has its answer; may be nil
}

// WithPatience returns a client of the same connections whose reads wait for the
// server. Writes do not: the server may have carried out what it did not answer.
func (c *Client) WithPatience(p Patience) *Client {
	other := *c
	other.outage = nil
	if p.For > 0 {
		other.outage = &outage{Patience: p}
	}
	return &other
}

// IsLost reports whether reads wait for the server now.
func (c *Client) IsLost() bool {
	if c.outage == nil {
		return false
	}
	c.outage.mu.Lock()
	defer c.outage.mu.Unlock()
	return c.outage.waiting > 0
}

// Outlast repeats an attempt that failed with err until it gets an answer, a
// refusal too, or the client's patience is over. Without patience, it returns
// err.
func (c *Client) Outlast(ctx context.Context, err error, try func(context.Context) error) error {
	if c.outage == nil || api.CodeOf(err) != api.CodeUnavailable {
		return err
	}
	return c.outage.outlast(ctx, err, try)
}

// outage is what the reads of a client have in common while the server is away.
type outage struct {
	Patience
	mu      sync.Mutex
	waiting int // reads
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
	if o.waiting++; o.waiting == 1 && o.Lost != nil {
		o.Lost(err)
	}
}

func (o *outage) end(answered bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.waiting--; o.waiting == 0 && answered && o.Back != nil {
		o.Back()
	}
}
