// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package server

import (
	"context"
	"sync"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/server/feed"
	"github.com/reeve-run/reeve/internal/state"
)

// streams routes changes of allocations to the streams of their nodes. One
// goroutine reads the change feed for all of them, so that a change costs one
// map lookup however many nodes there are.
type streams struct {
	mu     sync.Mutex
	byNode map[string]*stream // the first of a list: nearly every node has one
	texts  *jobTexts
}

// stream is what one node has still to be sent. It holds at most one entry
// per allocation, however slowly the node reads.
type stream struct {
	nodeID string
	notify func()  // called when something is pending, with locks held; it must not block
	next   *stream // of the same node

	mu       sync.Mutex
	complete bool           // everything has to be sent again
	volumes  bool           // the node's volumes have to be sent again
	ahead    bool           // the node's prefetches have to be sent again
	from     uint64         // changes up to here are in what was sent
	index    uint64         // newest pending change
	pending  []streamChange // in the order of their first change
	at       map[string]int // position in pending, by allocation; nil: nothing is pending
}

type streamChange struct {
	id    string
	alloc *api.Allocation // nil: forget it
	index uint64
}

// streamBatch is what a stream sends in one message.
type streamBatch struct {
	complete bool
	volumes  bool
	ahead    bool
	index    uint64
	changes  []streamChange
}

func newStreams() *streams {
	return &streams{byNode: map[string]*stream{}, texts: newJobTexts()}
}

// run feeds all streams until ctx ends.
func (h *streams) run(ctx context.Context, store *state.Store) {
	_ = feed.Follow(ctx, store, func(*state.Snapshot) { h.restart() }, h.apply)
}

// open returns the stream of a node, which calls notify whenever something is pending.
func (h *streams) open(nodeID string, notify func()) *stream {
	st := &stream{nodeID: nodeID, notify: notify, complete: true}
	h.mu.Lock()
	defer h.mu.Unlock()
	st.next = h.byNode[nodeID]
	h.byNode[nodeID] = st
	return st
}

func (h *streams) close(st *stream) {
	h.mu.Lock()
	defer h.mu.Unlock()
	first := h.byNode[st.nodeID]
	switch {
	case first != st:
		for s := first; s != nil; s = s.next {
			if s.next == st {
				s.next = st.next
			}
		}
	case st.next == nil:
		delete(h.byNode, st.nodeID)
	default:
		h.byNode[st.nodeID] = st.next
	}
}

// restart has every stream send all again: changes may have been missed.
func (h *streams) restart() {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, first := range h.byNode {
		for st := first; st != nil; st = st.next {
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
		if c.Table == state.TableHostVolumes {
			for st := h.byNode[volumeNode(c)]; st != nil; st = st.next {
				st.addVolumes(b.Index)
			}
			continue
		}
		if c.Table != state.TableAllocations {
			continue
		}
		old, _ := c.Old.(*api.Allocation)
		a, _ := c.New.(*api.Allocation)
		switch {
		case a == nil:
			for st := h.byNode[old.NodeID]; st != nil; st = st.next {
				st.add(streamChange{id: old.ID, index: b.Index})
			}
		case old != nil && old.AllocModifyIndex == a.AllocModifyIndex && a.AllocModifyIndex != b.Index:
			// The node itself said so. All commands of one entry have its index, so an allocation that the servers changed in
			// this entry is sent as the last of them left it.
		default:
			for st := h.byNode[a.NodeID]; st != nil; st = st.next {
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
		if st.at == nil {
			st.at = map[string]int{}
		}
		st.at[c.id] = len(st.pending)
		st.pending = append(st.pending, c)
	}
	st.notify()
}

// addVolumes notes that the volumes of the node changed.
func (st *stream) addVolumes(index uint64) {
	st.mu.Lock()
	defer st.mu.Unlock()
	if !st.complete {
		st.volumes, st.index = true, max(st.index, index)
		st.notify()
	}
}

// addPrefetches has the streams of a node send its prefetches.
func (h *streams) addPrefetches(node string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for st := h.byNode[node]; st != nil; st = st.next {
		st.addPrefetches()
	}
}

func (st *stream) addPrefetches() {
	st.mu.Lock()
	defer st.mu.Unlock()
	if !st.complete {
		st.ahead = true
		st.notify()
	}
}

// volumeNode returns the node of a changed volume.
func volumeNode(c *state.Change) string {
	for _, object := range []any{c.New, c.Old} {
		if v, _ := object.(*api.HostVolume); v != nil {
			return v.NodeID
		}
	}
	return ""
}

func (st *stream) reset() {
	st.mu.Lock()
	defer st.mu.Unlock()
	st.complete = true
	st.notify()
}

func (b streamBatch) isEmpty() bool {
	return !b.complete && !b.volumes && !b.ahead && len(b.changes) == 0
}

// take returns what is pending; an empty batch if nothing is.
func (st *stream) take() streamBatch {
	st.mu.Lock()
	defer st.mu.Unlock()
	b := streamBatch{complete: st.complete, volumes: st.volumes, ahead: st.ahead, index: max(st.index, st.from), changes: st.pending}
	st.complete, st.volumes, st.ahead, st.pending, st.at = false, false, false, nil, nil
	return b
}

// completed notes that a message holds everything up to the index. Changes
// that came in between are dropped if the message has them.
func (st *stream) completed(index uint64) {
	st.mu.Lock()
	defer st.mu.Unlock()
	st.from = index
	kept := st.pending[:0]
	st.at = nil
	for _, c := range st.pending {
		if c.index > index {
			if st.at == nil {
				st.at = map[string]int{}
			}
			st.at[c.id] = len(kept)
			kept = append(kept, c)
		}
	}
	if st.pending = kept; len(kept) == 0 {
		st.pending = nil
	}
}
