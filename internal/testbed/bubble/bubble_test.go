// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package bubble_test

import (
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/reeve-run/reeve/internal/testbed/bubble"
)

// TestManyTimersAtOnce has goroutines fire timers themselves, because they are
// due when somebody looks at them: synctest.Test alone kills the race detector
// with that, most of the time.
func TestManyTimersAtOnce(t *testing.T) {
	before := runtime.GOMAXPROCS(4)
	defer runtime.GOMAXPROCS(before)
	bubble.Test(t, func(*testing.T) {
		var all sync.WaitGroup
		for range 1000 {
			all.Go(func() {
				for range 100 {
					<-time.After(0)
				}
			})
		}
		all.Wait()
	})
	if n := runtime.GOMAXPROCS(0); n != 4 {
		t.Errorf("%d processors are left of 4", n)
	}
}
