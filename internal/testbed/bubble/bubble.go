// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

// Package bubble runs tests in a bubble with virtual time, as testing/synctest does, and keeps
// the race detector alive in it.
//
// The runtime has one race context for all timers of a bubble, but several processors may run
// timers of one bubble at the same time. Then two threads use one context, and the detector
// aborts with "ThreadSanitizer: CHECK failed" (https://go.dev/issue/78156). With a single
// processor, timers run one after the other. The findings do not depend on the number of
// processors, because the detector considers the synchronization of accesses, not their time.
package bubble

import (
	"runtime"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// Pass lets time of the bubble pass, and waits for the work that is due.
func Pass(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

// Test runs f in a new bubble: see [synctest.Test]. With the race detector, the process has
// one processor in the meantime.
func Test(t *testing.T, f func(*testing.T)) {
	t.Helper()
	if detectsRaces {
		slow()
		defer restore()
	}
	synctest.Test(t, f)
}

var (
	mu      sync.Mutex // guards the fields below
	bubbles int
	before  int // number of processors
)

func slow() {
	mu.Lock()
	defer mu.Unlock()
	if bubbles++; bubbles == 1 {
		before = runtime.GOMAXPROCS(1)
	}
}

func restore() {
	mu.Lock()
	defer mu.Unlock()
	if bubbles--; bubbles == 0 {
		runtime.GOMAXPROCS(before)
	}
}
