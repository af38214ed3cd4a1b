// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package latency_test

import (
	"testing"
	"time"

	"github.com/reeve-run/reeve/internal/latency"
)

func TestHistogramSumsAndCounts(t *testing.T) {
	var h latency.Histogram
	for ms := 1; ms <= 100; ms++ {
		h.Observe(time.Duration(ms) * time.Millisecond)
	}
	h.Observe(-time.Second) // a clock that was set back
	s := h.Summary()
	if s.Counts.Total() != 101 || s.Sum != 5050*time.Millisecond {
		t.Errorf("%d durations with the sum %s, want 101 and 5.05s", s.Counts.Total(), s.Sum)
	}
	var none *latency.Histogram
	none.Observe(time.Second)
	if s := none.Summary(); s.Counts.Total() != 0 {
		t.Errorf("a nil histogram counted %d durations", s.Counts.Total())
	}
}
