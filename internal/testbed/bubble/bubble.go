// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

// Package bubble runs tests in a bubble of their own time, as testing/synctest
// does, and keeps the race detector alive while it watches one.
//
// The runtime has one race context for all timers of a bubble, and several
// processors may fire timers of one bubble at a time. Then two threads use the
// detector's state of one, and it dies with "ThreadSanitizer: CHECK failed"
// (https://go.dev/issue/78156). With one processor they fire one after the
// other; what the detector finds does not depend on how many there are, because
// it goes by what orders two accesses and not by when they happen.
package bubble

import (
	"runtime"
	"sync"
	"testing"
	"testing/synctest"
)

// Test runs f in a new bubble: see [synctest.Test]. With the race detector, the
// process has one processor meanwhile.
func Test(t *testing.T, f func(*testing.T)) {
	t.Helper()
	if detectsRaces {
		slow()
		defer restore()
	}
	synctest.Test(t, f)
}

var (
	mu      sync.Mutex // guards those below
	bubbles int
	before  int // processors
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
