// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package replica

import (
	"errors"
	"time"

	"github.com/hashicorp/raft"

	"github.com/reeve-run/reeve/internal/state"
)

// packer collects proposals into entries.
type packer struct {
	queue    <-chan *proposal
	deferred []*proposal           // write what an earlier entry writes; oldest first
	written  map[state.Object]bool // by the entry that is being collected
	entry    []*proposal
	size     int // of the entry, in bytes
}

// wait returns true when an entry can begin, and false if stop is closed before.
func (k *packer) wait(stop <-chan struct{}) bool {
	if len(k.deferred) > 0 {
		return true
	}
	select {
	case p := <-k.queue:
		k.deferred = append(k.deferred, p)
		return true
	case <-stop:
		return false
	}
}

// collect returns the next entry's proposals and their size. Deferred proposals come
// first, so none is deferred indefinitely.
func (k *packer) collect() ([]*proposal, int) {
	k.entry, k.size = nil, 0
	clear(k.written)
	waiting := k.deferred
	k.deferred = nil
	for _, p := range waiting {
		k.add(p)
	}
	for k.size < maxEntryBytes {
		select {
		case p := <-k.queue:
			k.add(p)
		default:
			return k.entry, k.size
		}
	}
	return k.entry, k.size
}

// add adds the proposal to the entry, or defers it if the entry is full or already writes
// one of its objects.
func (k *packer) add(p *proposal) {
	full := len(k.entry) > 0 && k.size >= maxEntryBytes
	for _, o := range p.writes {
		full = full || k.written[o]
	}
	if full {
		k.deferred = append(k.deferred, p)
		return
	}
	for _, o := range p.writes {
		k.written[o] = true
	}
	k.entry = append(k.entry, p)
	k.size += len(p.body)
}

// refuse rejects the proposals that wait to be packed.
func (k *packer) refuse() {
	for _, p := range k.deferred {
		p.done <- outcome{err: errShutdown()}
	}
	for {
		select {
		case p := <-k.queue:
			p.done <- outcome{err: errShutdown()}
		default:
			return
		}
	}
}

// pack combines proposals into entries.
func (r *Replica) pack() {
	defer r.running.Done()
	k := &packer{queue: r.proposals, written: map[state.Object]bool{}}
	defer k.refuse()
	free := make(chan struct{}, entriesInFlight)
	for k.wait(r.stop) {
		select {
		case free <- struct{}{}:
		case <-r.stop:
			return
		}
		proposals, size := k.collect()
		e := &entry{proposals: proposals}
		data := append(make([]byte, 0, size+8), state.BeginEntry()...)
		for _, p := range e.proposals {
			data = append(data, p.body...)
		}
		ready := r.machine.expect(data)
		begun := time.Now()
		e.future = r.raft.Apply(data, 0)
		r.counters.packed(len(data))
		r.counters.proposals.Add(uint64(len(e.proposals)))
		r.running.Add(1)
		go func() {
			defer r.running.Done()
			ready.decode(e.proposals) // while the disk writes
			err := e.future.Error()
			r.counters.commits.Observe(time.Since(begun))
			r.machine.forget(data)
			<-free
			if !errors.Is(err, raft.ErrLeadershipLost) {
				r.answer(e, e.future.Response, err)
				return
			}
			settled, err := r.fate(e.future.Index(), ready.term.Load())
			r.answer(e, func() any { return settled }, err)
		}()
	}
}
