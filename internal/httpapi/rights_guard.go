// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"context"
	"time"

	"github.com/reeve-run/reeve/internal/state"
)

// workloadRecheck is the interval at which the allocation of a task that reads a stream is checked.
const workloadRecheck = time.Second

// guard ends the request when the caller's token no longer permits it. The caller calls stop when the
// request has been answered.
func (c *call) guard() (stop func()) { return c.guardBy((*call).authorizeRights) }

// guardBy ends the request when a check of its caller's rights fails.
func (c *call) guardBy(check func(*call) error) (stop func()) {
	r := c.rights()
	if r == nil {
		return func() {}
	}
	ctx, cancel := context.WithCancel(c.r.Context())
	c.r = c.r.WithContext(ctx)
	watched := *c // the request's fields change while it is served
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer cancel()
		store := c.Server.Store()
		for ctx.Err() == nil {
			index := store.Snapshot().TableIndex(state.ACLTables...)
			if check(&watched) != nil {
				return
			}
			until := r.Expires()
			if r.Workload != nil {
				until = time.Now().Add(workloadRecheck) // its rights end with its allocation
			}
			awaitChangedRights(ctx, store, index, until)
		}
	}()
	return func() {
		cancel()
		<-done
	}
}

// awaitChangedRights returns when a policy, a role or a token has changed since an index, at the expiry
// of a token, or when the context ends.
func awaitChangedRights(ctx context.Context, store *state.Store, index uint64, expires time.Time) {
	if !expires.IsZero() {
		var cancel context.CancelFunc
		ctx, cancel = context.WithDeadline(ctx, expires)
		defer cancel()
	}
	_, _ = store.WaitChange(ctx, index, state.ACLTables...)
}
