// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package gcpace

import (
	"runtime"
	"runtime/debug"
	"testing"
	"time"

	"github.com/reeve-run/reeve/internal/testbed/bubble"
	"github.com/reeve-run/reeve/internal/testbed/wait"
)

const mb = 1 << 20

func TestHeadroomIsBounded(t *testing.T) {
	for _, c := range []struct {
		live uint64
		rate float64 // bytes/s
		want int     // percent
	}{
		{0, 0, 200}, {2 * mb, 0, 200},
		{20 * mb, 0, 40}, {100 * mb, 0, 25}, {8192 * mb, 0, 25}, // idle
		{100 * mb, 20 * mb, 47},                                                                                                                                                                          // 47 MB last 2.4 s, and a collection takes 47 ms
		{10 * mb, 1000 * mb, 200}, {20 * mb, 1000 * mb, 160}, {256 * mb, 1000 * mb, 100}, {512 * mb, 1000 * mb, 100}, {1024 * mb, 1000 * mb, 50}, {2048 * mb, 1000 * mb, 25}, {8192 * mb, 1000 * mb, 25}, // busy
	} {
		if got := percentOf(c.live, c.rate); got != c.want {
			t.Errorf("with %d MB in use and %.0f MB/s: %d %%, want %d %%", c.live/mb, c.rate/mb, got, c.want)
		}
	}
}

// TestBoundFollowsTheHeap allocates as fast as possible: it gets much room with a small
// heap, and less with a large one.
func TestBoundFollowsTheHeap(t *testing.T) {
	stop := Bound()
	defer stop()
	until(t, func(percent int) bool { return percent == 200 })
	large := make([]byte, 600<<20)
	until(t, func(percent int) bool { return percent < 100 })
	runtime.KeepAlive(large)
}

// until allocates until the percentage meets the condition.
func until(t *testing.T, met func(percent int) bool) {
	t.Helper()
	deadline := time.Now().Add(time.Minute)
	for {
		for range 64 {
			sink = make([]byte, mb)
		}
		percent := debug.SetGCPercent(-1)
		debug.SetGCPercent(percent)
		if met(percent) {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("the bound stays at %d %%", percent)
		}
	}
}

var sink []byte

// TestBoundEnds guards tests and benchmarks, which bound one after the other.
func TestBoundEnds(t *testing.T) {
	before := debug.SetGCPercent(77)
	defer debug.SetGCPercent(before)
	stop := Bound()
	stop()
	stop()
	if percent := debug.SetGCPercent(77); percent != 77 {
		t.Errorf("the setting is %d %%, and was 77 %%", percent)
	}
}

// TestLullEndsThePaceOfALoad measures in virtual time, with the allocation of this process.
func TestLullEndsThePaceOfALoad(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		p := &pace{allocated: 1, rate: 1 << 40, measured: time.Now()}
		time.Sleep(time.Second)
		if p.read(); p.rate < 1<<39 {
			t.Errorf("after a pause, the rate is %.0f bytes/s, want half of the load's", p.rate)
		}
		time.Sleep(lull)
		if p.read(); p.rate > 1<<30 {
			t.Errorf("after a lull, the rate is %.0f bytes/s", p.rate)
		}
	})
}

func TestUnusedMemoryIsReturned(t *testing.T) {
	const gb = 1 << 30
	begin := time.Now()
	for name, c := range map[string]struct {
		after     time.Duration // since memory was last returned
		now, then usage
		want      bool
	}{
		"after the first load":                      {time.Hour, usage{live: 100 * mb, held: 105 * mb, collections: 9}, usage{}, true},
		"a collection since":                        {lull, usage{live: 100 * mb, held: 105 * mb, collections: 9}, usage{collections: 8}, true},
		"no collection since, and little garbage":   {time.Hour, usage{live: 100 * mb, held: 105 * mb, collections: 9}, usage{collections: 9}, false},
		"much garbage":                              {lull, usage{live: 100 * mb, held: 113 * mb, collections: 9}, usage{collections: 9}, true},
		"more garbage than a small heap has":        {lull, usage{live: 5 * mb, held: 14 * mb, collections: 9}, usage{collections: 9}, true},
		"too soon for a heap that costs a second":   {20 * time.Second, usage{live: 2 * gb, held: 4 * gb, collections: 9}, usage{}, false},
		"long enough for a heap that costs so much": {time.Minute, usage{live: 2 * gb, held: 4 * gb, collections: 9}, usage{}, true},
	} {
		c.then.at, c.now.at = begin, begin.Add(c.after)
		if got := c.now.exceeds(c.then); got != c.want {
			t.Errorf("%s: %t, want %t", name, got, c.want)
		}
	}
}

// TestLoadLeavesLittle measures the heap of this process before and after a load whose garbage
// the last collection may have counted as live.
func TestLoadLeavesLittle(t *testing.T) {
	defer Bound()()
	sink = nil
	debug.FreeOSMemory()
	before := readUsage(time.Now()).held
	for range 256 {
		sink = make([]byte, mb)
	}
	sink = nil
	limit := before + 4*mb
	wait.Until(t, "the heap is as small as before", func() bool { return readUsage(time.Now()).held < limit })
}
