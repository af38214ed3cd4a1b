// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package replica

import (
	"errors"
	"sync"
	"time"

	"github.com/hashicorp/raft"

	"github.com/reeve-run/reeve/internal/server/replica/wal"
)

// Entries whose leader lost its leadership.
//
// Raft does not tell a leader that loses its leadership what becomes of the entries in flight:
// the next leader may have them, or write others in their place. But this server follows the next
// leader and learns it from the log. An entry of a later term, once committed, settles every
// entry of an earlier one: the logs of all future leaders contain it, and with it everything
// before it. An entry in flight that is not before it will never be committed, since the terms of a
// log never decrease.
//
// So the proposer waits until this server knows such an entry, instead of being told to look for
// itself.

// fatePatience bounds the wait for the fate of an entry, and fateInterval is the pause between
// two looks.
const (
	fatePatience = 10 * time.Second
	fateInterval = 5 * time.Millisecond
)

// keptResults is the number of newest entries whose results are kept.
const keptResults = 64

// results keeps what the newest entries were answered with.
type results struct {
	mu     sync.Mutex
	newest [keptResults]result // at the index modulo keptResults
}

type result struct {
	index, term uint64 // of the entry in the log
	applied     applied
}

// keep remembers the answer to an entry.
func (s *results) keep(l *raft.Log, a applied) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.newest[l.Index%keptResults] = result{l.Index, l.Term, a}
}

// find returns the answer to an entry, if it is still kept.
func (s *results) find(index, term uint64) (a applied, kept bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	r := s.newest[index%keptResults]
	return r.applied, r.index == index && r.term == term
}

// stamped is the log as raft uses it: it tells the entries that this server proposes their term.
type stamped struct {
	*wal.Log
	machine *machine
}

// StoreLogs implements raft.LogStore.
func (s stamped) StoreLogs(entries []*raft.Log) error {
	for _, e := range entries {
		if len(e.Data) == 0 {
			continue
		}
		if d, own := s.machine.early.Load(&e.Data[0]); own {
			d.(*decoded).term.Store(e.Term)
		}
	}
	return s.Log.StoreLogs(entries)
}

// fate returns the answer to an entry of this server that was in flight when its leadership of a
// term ended; ErrNotLeading if it was not committed and never will be; and
// raft.ErrLeadershipLost if that cannot be known, or not soon.
func (r *Replica) fate(index, term uint64) (applied, error) {
	if index == 0 || term == 0 {
		return applied{}, raft.ErrLeadershipLost
	}
	late := time.NewTimer(fatePatience)
	defer late.Stop()
	look := time.NewTicker(fateInterval)
	defer look.Stop()
	for r.log.Failure() == nil && r.machine.failure.Load() == nil {
		if a, kept := r.machine.results.find(index, term); kept {
			return a, nil
		}
		switch lost, err := r.isOverwritten(index, term); {
		case err != nil:
			return applied{}, raft.ErrLeadershipLost
		case lost:
			return applied{}, ErrNotLeading
		}
		select {
		case <-look.C:
		case <-late.C:
			return applied{}, raft.ErrLeadershipLost
		case <-r.stop:
			return applied{}, raft.ErrLeadershipLost
		}
	}
	return applied{}, raft.ErrLeadershipLost
}

// errAppliedUnseen ends the wait for an entry that was committed without an answer here, as in a
// snapshot of the next leader.
var errAppliedUnseen = errors.New("the entry's result is not known")

// isOverwritten reports whether another entry is committed in the place of an entry, or one of a
// later term before it.
func (r *Replica) isOverwritten(index, term uint64) (bool, error) {
	committed := r.raft.CommitIndex()
	var newest raft.Log
	if r.log.GetLog(committed, &newest) != nil || newest.Term <= term {
		return false, nil // it begins with a snapshot, or no leader of a later term has committed anything
	}
	if index > committed {
		return true, nil
	}
	var there raft.Log
	if r.log.GetLog(index, &there) != nil {
		return false, errAppliedUnseen
	}
	if there.Term != term {
		return true, nil
	}
	if r.machine.seen.Load() < index { // raft's index of applied entries is ahead of their results
		return false, nil
	}
	if _, kept := r.machine.results.find(index, term); !kept {
		return false, errAppliedUnseen
	}
	return false, nil
}
