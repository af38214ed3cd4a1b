// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package latency_test

import (
	"math"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/reeve-run/reeve/internal/latency"
)

func TestEveryDurationIsBelowTheBoundOfItsBucket(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := time.Duration(rapid.Int64().Draw(t, "duration"))
		i := latency.Bucket(d)
		if i < 0 || i >= latency.Buckets {
			t.Fatalf("bucket %d of %s does not exist", i, d)
		}
		if i == latency.Buckets-1 {
			return
		}
		if d >= latency.Below(i) || i > 0 && d < latency.Below(i-1) {
			t.Fatalf("%s is not in its bucket %d, from %s to %s", d, i, latency.Below(i-1), latency.Below(i))
		}
	})
}

func TestPercentilesAreAccurate(t *testing.T) {
	var c latency.Counts
	if got := c.Percentile(0.99); got != 0 {
		t.Errorf("percentile %s of nothing, want 0", got)
	}
	for ms := 1; ms <= 1000; ms++ {
		c[latency.Bucket(time.Duration(ms)*time.Millisecond)]++
	}
	for p, want := range map[float64]float64{0.5: 500, 0.9: 900, 0.99: 990} {
		if got := float64(c.Percentile(p)) / float64(time.Millisecond); math.Abs(got-want) > want/20 {
			t.Errorf("percentile %v is %.0f ms, want about %.0f ms", p, got, want)
		}
	}
}
