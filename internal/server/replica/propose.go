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
	"github.com/reeve-run/reeve/internal/state"
)

// Group commit.
//
// An acknowledged command is on the disk, and a disk does some thousands of
// syncs a second whoever asks. Proposing each command as its own log entry
// would make that the limit; collecting commands for a fixed time would make
// everybody wait, also one who is alone.
//
// Instead, whatever arrives while an entry is being written goes together into
// the next one. A lone proposer finds nothing in flight and starts at once: one
// sync. Under load, entries grow until they fill the time of a sync. Proposers
// encode their own commands, in parallel; an entry is the concatenation. Two
// entries may be in flight: while the store applies one, the disk writes the
// next.
//
// Order: proposals of one goroutine that waits for each are in order, those of
// several are in any order. Each is applied whole, within one entry, so nothing
// is seen between two of its commands.
//
// Two proposals that write one object never share an entry. An entry's index is
// the modify index of everything it writes, and the one thing by which a writer
// tells its own write from a later one: a check-and-set with the index of a
// write that was overwritten has to fail.
const (
	entriesInFlight = 2
	maxEntryBytes   = 4 << 20  // a larger entry takes no more commands
	maxProposal     = 64 << 20 // a larger proposal is refused
)

// proposal is what one caller wants in the log.
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

// entry is a log entry on its way.
type entry struct {
	future    raft.ApplyFuture
	proposals []*proposal
}

// Propose has the commands written and applied, together and in order, and
// returns the index of their entry. If commands were refused it returns the
// first refusal; the others were applied all the same. If ctx ends before the
// outcome is known it returns ctx's error: the commands may be applied yet.
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

// bodies are buffers for what proposals encode to, until they are packed.
var bodies = sync.Pool{New: func() any { return new([]byte) }}

// maxBody bounds the buffers that are kept for later proposals.
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

// answer tells everybody what became of their commands.
func (r *Replica) answer(e *entry, err error) {
	var errs []error
	if err == nil {
		switch response := e.future.Response().(type) {
		case []error:
			errs = response
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
			o.index, o.errs = e.future.Index(), errs[:p.count:p.count]
			errs = errs[p.count:]
		}
		p.done <- o
	}
}

// explain turns the log's errors into what a user is told.
func (r *Replica) explain(err error) error {
	switch failure := r.log.Failure(); {
	case failure != nil:
		return api.Errorf(api.CodeUnavailable, "the change was not made: the log in %s cannot be written: %v; free or repair the disk, and the server continues by itself", r.config.Dir, failure)
	case errors.Is(err, raft.ErrRaftShutdown):
		return errShutdown()
	case errors.Is(err, raft.ErrNotLeader), errors.Is(err, raft.ErrLeadershipTransferInProgress):
		return r.notLeading()
	case errors.Is(err, raft.ErrLeadershipLost):
		return api.Errorf(api.CodeUnavailable, "this server stopped being the leader: the change may have been made; look, and try again")
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
	return api.Errorf(api.CodeUnavailable, "this server is not the leader, or not ready yet: try again")
}

func errShutdown() error {
	return api.Errorf(api.CodeUnavailable, "the server is shutting down")
}

// counters are what Stats shows.
type counters struct {
	entries, proposals, snapshots atomic.Uint64
}
