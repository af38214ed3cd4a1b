// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package node

import (
	"context"
	"sync"
	"time"

	"github.com/reeve-run/reeve/api"
)

const (
	reportDelay = 200 * time.Millisecond // longest delay of a report that is not urgent
	reportBatch = 500                    // allocations in one request
)

// A reporter reports the states of allocations to the servers.
//
// One request is in flight at a time. Changes in the meantime mark an allocation, and its
// state is read when the next request is made. So an older state is never sent after a newer
// one, a thousand changes of one allocation cost one line, and an idle reporter sends
// immediately. Unacknowledged allocations stay marked.
type reporter struct {
	send  func(ctx context.Context, allocs []*api.Allocation) error
	acked func(allocs []*api.Allocation)

	mu     sync.Mutex
	marked map[string]func() *api.Allocation
	urgent bool
	wake   chan struct{}
}

func newReporter(send func(context.Context, []*api.Allocation) error, acked func([]*api.Allocation)) *reporter {
	return &reporter{send: send, acked: acked, marked: map[string]func() *api.Allocation{}, wake: make(chan struct{}, 1)}
}

// mark notes that an allocation has changed. look is called later to read its state.
func (p *reporter) mark(id string, look func() *api.Allocation, urgent bool) {
	p.mu.Lock()
	p.marked[id] = look
	p.urgent = p.urgent || urgent
	p.mu.Unlock()
	select {
	case p.wake <- struct{}{}:
	default:
	}
}

// forget drops the mark of an allocation that the servers do not know.
func (p *reporter) forget(id string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.marked, id)
}

// run sends reports until ctx ends, starting when ready is closed.
func (p *reporter) run(ctx context.Context, ready <-chan struct{}) {
	select {
	case <-ready:
	case <-ctx.Done():
		return
	}
	pause := newBackoff(50*time.Millisecond, 5*time.Second)
	for p.wait(ctx) {
		batch := p.take()
		if len(batch) == 0 {
			continue
		}
		allocs := make([]*api.Allocation, 0, len(batch))
		for _, look := range batch {
			allocs = append(allocs, look())
		}
		if err := p.send(ctx, allocs); err != nil {
			p.putBack(batch)
			if !pause.wait(ctx) {
				return
			}
			continue
		}
		pause.reset()
		p.acked(allocs)
	}
}

// wait blocks until a report is due. It returns false if ctx has ended.
func (p *reporter) wait(ctx context.Context) bool {
	var lazily <-chan time.Time
	for {
		p.mu.Lock()
		some, urgent := len(p.marked) > 0, p.urgent
		p.mu.Unlock()
		if some && urgent {
			return ctx.Err() == nil
		}
		if some && lazily == nil {
			lazily = time.After(reportDelay)
		}
		select {
		case <-p.wake:
		case <-lazily:
			return true
		case <-ctx.Done():
			return false
		}
	}
}

func (p *reporter) take() map[string]func() *api.Allocation {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.marked) <= reportBatch {
		batch := p.marked
		p.marked, p.urgent = map[string]func() *api.Allocation{}, false
		return batch
	}
	batch := make(map[string]func() *api.Allocation, reportBatch)
	for id, look := range p.marked {
		if len(batch) == reportBatch {
			break
		}
		batch[id] = look
		delete(p.marked, id)
	}
	return batch
}

func (p *reporter) putBack(batch map[string]func() *api.Allocation) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.urgent = true
	for id, look := range batch {
		if p.marked[id] == nil {
			p.marked[id] = look
		}
	}
}
