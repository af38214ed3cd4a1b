// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package replica

import (
	"context"
	"sync"
)

// appliedIndex is the index up to which the store has every entry of the log. Raft does not deliver all
// entries to the store, so a leader also raises the index when a barrier has passed.
type appliedIndex struct {
	mu     sync.Mutex
	index  uint64
	raised chan struct{} // closed by the next raise; nil: nobody waits
}

func (a *appliedIndex) raise(index uint64) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if index <= a.index {
		return
	}
	a.index = index
	if a.raised != nil {
		close(a.raised)
		a.raised = nil
	}
}

// wait returns when the index has reached a value, or with the error of ctx.
func (a *appliedIndex) wait(ctx context.Context, index uint64) error {
	for {
		a.mu.Lock()
		if a.index >= index {
			a.mu.Unlock()
			return nil
		}
		if a.raised == nil {
			a.raised = make(chan struct{})
		}
		raised := a.raised
		a.mu.Unlock()
		select {
		case <-raised:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}
