// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package agent

import (
	"testing"
	"time"
)

// TestDifferencesOfClocksAreLowerBounds reads another clock, whose answer has no fractions of a
// second, and needs time.
func TestDifferencesOfClocksAreLowerBounds(t *testing.T) {
	asked := time.Date(2026, 5, 1, 12, 0, 0, 700e6, time.UTC)
	answered := asked.Add(2 * time.Second)
	for _, k := range []struct {
		shift, want time.Duration
	}{
		{0, 0}, {2 * time.Second, 0}, {-time.Second, 0},
		{time.Hour, time.Hour - 2*time.Second}, {-time.Hour, -time.Hour + time.Second},
	} {
		for _, read := range []time.Time{asked, answered} {
			shown := read.Add(k.shift).Truncate(time.Second)
			got := aheadOf(shown, asked, answered)
			if got.Abs() > k.shift.Abs() || (got-k.want).Abs() > 3*time.Second {
				t.Errorf("a clock that is ahead by %s: got %s, want about %s and no more", k.shift, got, k.want)
			}
		}
	}
}
