// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package replica

import (
	"fmt"
	"runtime"

	"github.com/hashicorp/raft"

	"github.com/reeve-run/reeve/internal/state"
)

// catchUp applies the entries that are known to be committed, because they were
// acknowledged. So clients can read the state before the election of a leader, and without
// one: an election needs a write, and the disk may be full. Raft applies the same entries
// again, which changes nothing.
//
// Most of the time goes into decoding, which is done for several parts of the log in
// parallel while an earlier part is applied.
func (r *Replica) catchUp(snapshot uint64) error {
	last, _ := r.log.LastIndex()
	parts := make(chan *part, 2*runtime.GOMAXPROCS(0)) // the length bounds the entries in memory
	go r.readParts(parts, snapshot+1, min(last, r.dir.mark.load()))
	var failure error
	for p := range parts { // to the end, because the reader uses the log
		<-p.decoded
		if failure == nil {
			failure = p.err
		}
		if failure != nil {
			continue
		}
		for i, l := range p.logs {
			r.machine.apply(l, p.commands(i))
		}
		if err := r.machine.failure.Load(); err != nil {
			failure = fmt.Errorf("%w; nothing was changed", *err)
		}
	}
	return failure
}

// Bounds of a part: bytes so that entries of megabytes do not add up.
const (
	partEntries = 128
	partBytes   = 1 << 20
)

// A part holds consecutive entries of the log.
type part struct {
	logs    []*raft.Log
	err     error         // of reading the entry behind logs
	decoded chan struct{} // closed when the entries are decoded
	results []decodedEntry
}

type decodedEntry struct {
	commands []state.Command
	err      error
}

// readParts reads and decodes the entries from first to last.
func (r *Replica) readParts(parts chan<- *part, first, last uint64) {
	defer close(parts)
	for first <= last {
		p := &part{decoded: make(chan struct{})}
		for size := 0; first <= last && len(p.logs) < partEntries && size < partBytes; first++ {
			e := new(raft.Log)
			if err := r.log.GetLog(first, e); err != nil {
				p.err, last = fmt.Errorf("read log: %w", err), 0
				break
			}
			p.logs = append(p.logs, e)
			size += len(e.Data)
		}
		go p.decode()
		parts <- p
	}
}

func (p *part) decode() {
	defer close(p.decoded)
	p.results = make([]decodedEntry, len(p.logs))
	for i, l := range p.logs {
		if d := &p.results[i]; l.Type == raft.LogCommand {
			d.commands, d.err = state.DecodeCommands(l.Data)
		}
	}
}

// commands returns the decoder of an entry for machine.apply.
func (p *part) commands(i int) func() ([]state.Command, error) {
	return func() ([]state.Command, error) { return p.results[i].commands, p.results[i].err }
}
