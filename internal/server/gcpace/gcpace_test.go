// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package gcpace

import (
	"runtime"
	"runtime/debug"
	"testing"
	"time"
)

func TestHeadroomIsBounded(t *testing.T) {
	const mb = 1 << 20
	for _, c := range []struct {
		live uint64
		want int // percent
	}{{0, 200}, {20 * mb, 200}, {256 * mb, 200}, {512 * mb, 100}, {1024 * mb, 50}, {2048 * mb, 25}, {8192 * mb, 25}} {
		if got := percentOf(c.live); got != c.want {
			t.Errorf("with %d MB in use: %d %%, want %d %%", c.live/mb, got, c.want)
		}
	}
}

func TestBoundFollowsTheHeap(t *testing.T) {
	stop := Bound()
	defer stop()
	large := make([]byte, 600<<20)
	deadline := time.Now().Add(30 * time.Second)
	for percent := 200; percent >= 100; {
		if time.Now().After(deadline) {
			t.Fatalf("the bound stays at %d %% with 600 MB in use", percent)
		}
		runtime.GC()
		percent = debug.SetGCPercent(-1)
		debug.SetGCPercent(percent)
	}
	runtime.KeepAlive(large)
}
