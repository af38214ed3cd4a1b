// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package server

import (
	"context"
	"sync"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/server/feed"
	"github.com/reeve-run/reeve/internal/state"
)

// streams routes changes of allocations to the streams of their nodes. One
// goroutine reads the change feed for all of them, so that a change costs one
// map lookup however many nodes there are.
type streams struct {
	mu     sync.Mutex
	byNode map[string]map[*stream]bool
	texts  *jobTexts
}

// stream is what one node has still to be sent. It holds at most one entry
// per allocation, however slowly the node reads.
type stream struct {
	nodeID string
	signal chan struct{} // something is pending

	mu       sync.Mutex
	complete bool           // everything has to be sent again
	from     uint64         // changes up to here are in what was sent
	index    uint64         // newest pending change
	pending  []streamChange // in the order of their first change
	at       map[string]int // position in pending, by allocation
}

type streamChange struct {
	id    string
	alloc *api.Allocation // nil: forget it
	index uint64
}

// streamBatch is what a stream sends in one message.
type streamBatch struct {
	complete bool
	index    uint64
	changes  []streamChange
}

func newStreams() *streams {
	return &streams{byNode: map[string]map[*stream]bool{}, texts: newJobTexts()}
}

// run feeds all streams until ctx ends.
func (h *streams) run(ctx context.Context, store *state.Store) {
	_ = feed.Follow(ctx, store, func(*state.Snapshot) { h.restart() }, h.apply)
}

func (h *streams) open(nodeID string) *stream {
	st := &stream{nodeID: nodeID, signal: make(chan struct{}, 1), complete: true, at: map[string]int{}}
	st.signal <- struct{}{}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.byNode[nodeID] == nil {
		h.byNode[nodeID] = map[*stream]bool{}
	}
	h.byNode[nodeID][st] = true
	return st
}

func (h *streams) close(st *stream) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.byNode[st.nodeID], st)
	if len(h.byNode[st.nodeID]) == 0 {
		delete(h.byNode, st.nodeID)
	}
}

// restart has every stream send all again: changes may have been missed.
func (h *streams) restart() {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, set := range h.byNode {
		for st := range set {
			st.reset()
		}
	}
}

func (h *streams) apply(b *state.Batch) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.byNode) == 0 {
		return
	}
	for i := range b.Changes {
		c := &b.Changes[i]
		if c.Table != state.TableAllocations {
			continue
		}
		old, _ := c.Old.(*api.Allocation)
		a, _ := c.New.(*api.Allocation)
		switch {
		case a == nil:
			for st := range h.byNode[old.NodeID] {
				st.add(streamChange{id: old.ID, index: b.Index})
			}
		case old != nil && old.AllocModifyIndex == a.AllocModifyIndex:
			// The node itself said so.
		default:
			for st := range h.byNode[a.NodeID] {
				st.add(streamChange{id: a.ID, alloc: a, index: b.Index})
			}
		}
	}
}

func (st *stream) add(c streamChange) {
	st.mu.Lock()
	defer st.mu.Unlock()
	if st.complete || c.index <= st.from {
		return // is or will be in the complete message
	}
	st.index = max(st.index, c.index)
	if i, ok := st.at[c.id]; ok {
		st.pending[i] = c
	} else {
		st.at[c.id] = len(st.pending)
		st.pending = append(st.pending, c)
	}
	st.wake()
}

func (st *stream) reset() {
	st.mu.Lock()
	defer st.mu.Unlock()
	st.complete = true
	st.wake()
}

func (st *stream) wake() {
	select {
	case st.signal <- struct{}{}:
	default:
	}
}

func (b streamBatch) isEmpty() bool { return !b.complete && len(b.changes) == 0 }

// take waits for something to send. It returns nothing when quiet fires first.
func (st *stream) take(ctx context.Context, quiet <-chan time.Time) (streamBatch, error) {
	for {
		select {
		case <-ctx.Done():
			return streamBatch{}, ctx.Err()
		case <-quiet:
			return streamBatch{}, nil
		case <-st.signal:
		}
		st.mu.Lock()
		b := streamBatch{complete: st.complete, index: st.index, changes: st.pending}
		if st.complete || len(st.pending) > 0 {
			st.complete, st.pending, st.at = false, nil, map[string]int{}
			st.mu.Unlock()
			return b, nil
		}
		st.mu.Unlock()
	}
}

// completed notes that a message holds everything up to the index. Changes
// that came in between are dropped if the message has them.
func (st *stream) completed(index uint64) {
	st.mu.Lock()
	defer st.mu.Unlock()
	st.from = index
	kept := st.pending[:0]
	clear(st.at)
	for _, c := range st.pending {
		if c.index > index {
			st.at[c.id] = len(kept)
			kept = append(kept, c)
		}
	}
	st.pending = kept
}
