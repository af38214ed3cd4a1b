// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

// Package wait holds the clocks of tests that run in real time. style_test.go forbids
// timers and loops with deadlines in such tests: a test waits for a condition (a channel, a
// blocking query, the end of a process), and bounds that wait with Limit. Poll, Until and
// Pass are the exceptions, with the reasons in their comments.
package wait

import (
	"context"
	"testing"
	"time"
)

// Limit returns a channel that is closed after d. It bounds a select that waits for
// something else.
func Limit(t testing.TB, d time.Duration) <-chan struct{} {
	ctx, cancel := context.WithTimeout(context.Background(), d)
	t.Cleanup(cancel)
	return ctx.Done()
}

// Poll checks a condition at an interval until it holds or the context ends, and reports
// whether it held. It is for state that sends no event: of another process, of the kernel,
// or of a library.
func Poll(ctx context.Context, interval time.Duration, holds func() bool) bool {
	tick := time.NewTicker(interval)
	defer tick.Stop()
	for !holds() {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return holds()
		}
	}
	return true
}

// Until polls a condition every 5 ms, and fails the test if it does not hold within a
// minute. See Poll for what it is for.
func Until(t testing.TB, condition string, holds func() bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if !Poll(ctx, 5*time.Millisecond, holds) {
		t.Fatalf("not within a minute: %s", condition)
	}
}

// Pass returns after d, or when the context ends. It is for tests in which time is the
// input: a crash at a random moment, a client that sends slowly, a load at a pace.
func Pass(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}
