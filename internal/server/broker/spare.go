// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package broker

import (
	"context"
	"time"
)

// DequeueSpare waits for evaluations that are more than the idle workers of this server can
// take, and returns at most limit deliveries. They are for the workers of another server, which
// answers later than a worker of this one: while a worker here is idle, the evaluation is its.
func (b *Broker) DequeueSpare(ctx context.Context, types Types, limit int) ([]*Delivery, error) {
	defer context.AfterFunc(ctx, func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.spare.Broadcast()
	})()
	b.mu.Lock()
	defer b.mu.Unlock()
	for {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if b.closed {
			return nil, context.Canceled
		}
		if list := b.takeSpare(types, limit, time.Now()); len(list) > 0 {
			b.setTimer()
			return list, nil
		}
		b.spare.Wait()
	}
}

func (b *Broker) takeSpare(types Types, limit int, now time.Time) (list []*Delivery) {
	for len(list) < limit {
		d := b.q.dequeue(b.spareTypes(types), false, now)
		if d == nil {
			break
		}
		list = append(list, d)
	}
	return list
}

// spareTypes returns those of the types of which another server may take an evaluation now.
func (b *Broker) spareTypes(types Types) (spare Types) {
	if b.q.ready.count(b.cfg.Types, true) > b.idle {
		spare = types
	} else {
		spare = types &^ b.cfg.Types // this server never processes them
	}
	if b.q.ready.count(spare, false) == 0 {
		return 0
	}
	return spare
}

// Return takes back a delivery that no worker has evaluated. Unlike Nack, Return counts no
// failure.
func (b *Broker) Return(d *Delivery) { b.giveBack(d, false) }

// ReturnHere takes back a delivery whose placements another server could not commit, because
// placements of further servers took the same room. The workers of this server share one view of
// all placements, so the next delivery is theirs.
func (b *Broker) ReturnHere(d *Delivery) { b.giveBack(d, true) }

func (b *Broker) giveBack(d *Delivery, here bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.q.giveBack(d, here && b.cfg.Types&TypesOf(d.Evaluation.Type) != 0, time.Now())
	b.changed()
}
