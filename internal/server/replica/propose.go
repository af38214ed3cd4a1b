// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package replica

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/hashicorp/raft"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/latency"
	"github.com/reeve-run/reeve/internal/state"
)

// Group commit.
//
// An acknowledged command is on the disk, and a disk performs only some thousands of
// syncs per second. One log entry per command would limit the throughput to that;
// collecting commands for a fixed time would delay every proposer, even a lone one.
//
// Instead, all commands that arrive while an entry is being written form the next entry.
// A lone proposer finds no entry in flight and starts immediately: one sync. Under load,
// entries grow until they fill the time of a sync. Proposers
// encode their own commands, in parallel; an entry is the concatenation. Two
// entries may be in flight: while the store applies one, the disk writes the
// next.
//
// Order: proposals of one goroutine that waits for each are in order, those of
// several are in any order. Each is applied whole, within one entry, so no reader
// sees a state between two of its commands.
//
// Two proposals that write one object never share an entry. An entry's index is
// the modify index of all objects that it writes, and distinguishes a write from a
// later one: a check-and-set with the index of an overwritten write must fail.
const (
	entriesInFlight = 2
	maxEntryBytes   = 4 << 20  // a larger entry takes no more commands
	maxProposal     = 64 << 20 // a larger proposal is refused
)

// proposal holds the commands that one caller proposes.
type proposal struct {
	body     []byte
	buffer   *[]byte         // that the body began in
	commands []state.Command // what the body decodes to; nil: not known yet
	count    int             // commands in it
	writes   []state.Object  // that the commands write
	done     chan outcome
}

type outcome struct {
	index uint64
	errs  []error // one per command
	err   error   // why none was applied, as far as is known
}

// entry is a log entry in flight.
type entry struct {
	future    raft.ApplyFuture
	proposals []*proposal
}

// Propose writes and applies the commands, together and in order, and returns the index
// of their entry. If the store rejects commands, it returns the first rejection; the other
// commands are applied nevertheless. If ctx ends before the outcome is known, it returns
// the error of ctx: the commands may still be applied.
func (r *Replica) Propose(ctx context.Context, commands ...state.Command) (uint64, error) {
	index, errs, err := r.ProposeEach(ctx, commands...)
	if err != nil {
		return 0, err
	}
	for _, err := range errs {
		if err != nil {
			return index, err
		}
	}
	return index, nil
}

// bodies pools the buffers of encoded proposals that wait to be packed.
var bodies = sync.Pool{New: func() any { return new([]byte) }}

// maxBody bounds the pooled buffers, in bytes.
const maxBody = 1 << 20

// ProposeEach is Propose with the outcome of each command. The caller must not modify the
// commands or their objects later: see state.Verbatim.
func (r *Replica) ProposeEach(ctx context.Context, commands ...state.Command) (index uint64, errs []error, err error) {
	if !r.leading.Load() {
		return 0, nil, r.notLeading()
	}
	if len(commands) == 0 {
		return r.config.Store.Index(), nil, nil
	}
	buffer := bodies.Get().(*[]byte)
	p := &proposal{body: (*buffer)[:0], buffer: buffer, commands: commands, count: len(commands), done: make(chan outcome, 1)}
	for _, c := range commands {
		p.body = state.AppendCommand(p.body, c)
		p.writes = state.AppendWrites(p.writes, c)
		if p.commands != nil && !state.Verbatim(c) {
			p.commands = nil
		}
	}
	if len(p.body) > maxProposal {
		return 0, nil, api.Errorf(api.CodeTooLarge, "a change of %d MB is too large for the log: the limit is %d MB; split it", len(p.body)>>20, maxProposal>>20)
	}
	select {
	case r.proposals <- p:
	case <-r.stop:
		return 0, nil, errShutdown()
	case <-ctx.Done():
		return 0, nil, ctx.Err()
	}
	select {
	case o := <-p.done:
		return o.index, o.errs, o.err
	case <-r.answered:
		select {
		case o := <-p.done:
			return o.index, o.errs, o.err
		default:
			return 0, nil, errShutdown()
		}
	case <-ctx.Done():
		return 0, nil, ctx.Err()
	}
}

// answer sends the proposers the outcomes of their commands. response is called if there is no
// error.
func (r *Replica) answer(e *entry, response func() any, err error) {
	var index uint64
	var errs []error
	if err == nil {
		switch response := response().(type) {
		case applied:
			index, errs = response.index, response.errs
		case error:
			err = response
		default:
			err = fmt.Errorf("no answer to log entry %d", e.future.Index())
		}
	}
	if err != nil {
		err = r.explain(err)
	}
	for _, p := range e.proposals {
		o := outcome{err: err}
		if err == nil {
			o.index, o.errs = index, errs[:p.count:p.count]
			errs = errs[p.count:]
		}
		p.done <- o
	}
}

// explain converts the log's errors to messages for users.
func (r *Replica) explain(err error) error {
	switch failure := r.log.Failure(); {
	case errors.Is(err, raft.ErrLeadershipLost): // also if a later entry could not be written
		return api.Errorf(api.CodeUnavailable, "this server stopped being the leader: the change may have been made; look, and try again")
	case failure != nil:
		return api.Errorf(api.CodeUnavailable, "the change was not made: the log in %s cannot be written: %v; free or repair the disk, and the server continues by itself", r.config.Dir, failure)
	case errors.Is(err, raft.ErrRaftShutdown):
		return errShutdown()
	case errors.Is(err, raft.ErrNotLeader), errors.Is(err, raft.ErrLeadershipTransferInProgress):
		return r.notLeading()
	}
	return err
}

func (r *Replica) notLeading() error {
	if failure := r.log.Failure(); failure != nil {
		return r.explain(failure)
	}
	if err := r.machine.failure.Load(); err != nil {
		return *err
	}
	return ErrNotLeading
}

// ErrNotLeading rejects a proposal of which nothing was written, and nothing will be.
var ErrNotLeading = api.Errorf(api.CodeUnavailable, "this server is not the leader, or not ready yet: try again")

func errShutdown() error {
	return api.Errorf(api.CodeUnavailable, "the server is shutting down")
}

// counters holds the counters of Stats.
type counters struct {
	entries, proposals, snapshots atomic.Uint64
	entryBytes, largestEntry      atomic.Uint64
	elections                     atomic.Uint64 // in which this server stood
	commits                       latency.Histogram
}

// packed counts an entry that is to be written. Only the packer calls it.
func (c *counters) packed(size int) {
	c.entries.Add(1)
	c.entryBytes.Add(uint64(size))
	c.largestEntry.Store(max(c.largestEntry.Load(), uint64(size)))
}
