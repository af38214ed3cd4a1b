// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package wait_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/reeve-run/reeve/internal/testbed/bubble"
	"github.com/reeve-run/reeve/internal/testbed/wait"
)

func TestPollStopsWhenTheConditionHolds(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		begun, checks := time.Now(), 0
		if !wait.Poll(t.Context(), time.Second, func() bool { checks++; return checks == 4 }) {
			t.Error("Poll reports that the condition never held")
		}
		if took := time.Since(begun); took != 3*time.Second {
			t.Errorf("four checks at an interval of a second took %s", took)
		}
	})
}

func TestPollStopsWhenTheContextEnds(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		begun := time.Now()
		if wait.Poll(ctx, time.Second, func() bool { return false }) {
			t.Error("Poll reports a condition that never held")
		}
		if took := time.Since(begun); took != 10*time.Second {
			t.Errorf("Poll returned %s after the start, want 10s", took)
		}
	})
}

func TestLimitEndsAfterItsTime(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		limit := wait.Limit(t, time.Hour)
		time.Sleep(time.Hour - 1)
		select {
		case <-limit:
			t.Error("the limit ended early")
		default:
		}
		time.Sleep(time.Nanosecond)
		synctest.Wait()
		select {
		case <-limit:
		default:
			t.Error("the limit did not end")
		}
	})
}

func TestPassEndsWithItsContext(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		begun := time.Now()
		wait.Pass(ctx, time.Hour)
		if took := time.Since(begun); took != time.Second {
			t.Errorf("Pass returned %s after the start, want 1s", took)
		}
	})
}
