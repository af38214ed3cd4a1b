// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package server

import (
	"context"
	"sync"

	"github.com/reeve-run/reeve/internal/state"
)

// journal is where commands are written before they are applied: a
// replica.Replica, or memory.
type journal interface {
	ProposeEach(ctx context.Context, cmds ...state.Command) (index uint64, errs []error, err error)
	IsLeader() bool
	LeaderCh() <-chan bool
	Barrier(ctx context.Context) error
	Troubled() <-chan struct{}
	Degraded() (why string, writable bool)
	Close() error
}

// memory is the journal of a server without a data directory: commands are
// applied at once and kept nowhere. It always leads.
type memory struct {
	mu    sync.Mutex
	store *state.Store
}

func (m *memory) ProposeEach(ctx context.Context, cmds ...state.Command) (uint64, []error, error) {
	if err := ctx.Err(); err != nil {
		return 0, nil, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	index := m.store.Index() + 1
	return index, m.store.Apply(index, cmds), nil
}

func (m *memory) IsLeader() bool                { return true }
func (m *memory) LeaderCh() <-chan bool         { return nil }
func (m *memory) Barrier(context.Context) error { return nil }
func (m *memory) Troubled() <-chan struct{}     { return nil }
func (m *memory) Degraded() (string, bool)      { return "", true }
func (m *memory) Close() error                  { return nil }
