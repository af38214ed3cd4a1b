// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package node

import (
	"context"
	"math/rand/v2"
	"time"
)

// A backoff is a delay that doubles, with jitter so that nodes that lost the same server do
// not reconnect together.
type backoff struct{ first, most, next time.Duration }

func newBackoff(first, most time.Duration) *backoff {
	return &backoff{first: first, most: most, next: first}
}

func (b *backoff) reset() { b.next = b.first }

// wait sleeps for the next delay. It reports whether ctx is still active.
func (b *backoff) wait(ctx context.Context) bool { return b.waitOr(ctx, nil) }

// waitOr is wait, ended early by a message on wake.
func (b *backoff) waitOr(ctx context.Context, wake <-chan struct{}) bool {
	b.next = min(b.next, b.most)
	timer := time.NewTimer(b.next/2 + rand.N(b.next/2+1))
	defer timer.Stop()
	b.next = min(2*b.next, b.most)
	select {
	case <-timer.C:
		return true
	case <-wake:
		return true
	case <-ctx.Done():
		return false
	}
}

func sleep(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}
