// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package server

import (
	"context"
	"sync"

	"github.com/reeve-run/reeve/internal/state"
)

// journal is where commands are written before they are applied: a
// replica.Replica, or a memoryJournal.
type journal interface {
	ProposeEach(ctx context.Context, cmds ...state.Command) (index uint64, errs []error, err error)
	// Reign is the number of this server's leadership, 0 while another server leads.
	// LeaderCh receives its newest value.
	Reign() uint64
	LeaderCh() <-chan uint64
	Barrier(ctx context.Context) error
	// ReadIndex returns the index in the log of every acknowledged write once a majority has
	// confirmed that this server leads.
	ReadIndex(ctx context.Context) (uint64, error)
	Troubled() <-chan struct{}
	Degraded() (why string, writable bool)
	Close() error
}

// A memoryJournal is the journal of a server without a data directory: commands are
// applied at once and kept nowhere. It always leads.
type memoryJournal struct {
	mu    sync.Mutex
	store *state.Store
}

func (m *memoryJournal) ProposeEach(ctx context.Context, cmds ...state.Command) (uint64, []error, error) {
	if err := ctx.Err(); err != nil {
		return 0, nil, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	index, errs := m.store.ApplyEntry(m.store.LogIndex()+1, cmds)
	return index, errs, nil
}

func (m *memoryJournal) Reign() uint64                 { return 1 }
func (m *memoryJournal) LeaderCh() <-chan uint64       { return nil }
func (m *memoryJournal) Barrier(context.Context) error { return nil }
func (m *memoryJournal) ReadIndex(context.Context) (uint64, error) {
	return m.store.LogIndex(), nil
}
func (m *memoryJournal) Troubled() <-chan struct{} { return nil }
func (m *memoryJournal) Degraded() (string, bool)  { return "", true }
func (m *memoryJournal) Close() error              { return nil }
