// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package control_test

import (
	"context"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/reeve-run/reeve/internal/server/control"
	"github.com/reeve-run/reeve/internal/testbed/bubble"
)

func TestAWallClockThatIsSetBackIsNoticed(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		begin := time.Now()
		var set atomic.Int64 // how far the wall clock was set, in nanoseconds
		clock := func() (wall, steady time.Duration) {
			steady = time.Since(begin)
			return steady + time.Duration(set.Load()), steady
		}
		var noticed []time.Duration
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() {
			control.WatchClock(ctx, clock, func(by time.Duration) { noticed = append(noticed, by) })
			close(done)
		}()
		for _, by := range []time.Duration{0, time.Hour, -10 * time.Millisecond, -2 * time.Hour, 0, -time.Second} {
			time.Sleep(10 * time.Second)
			synctest.Wait()
			set.Add(int64(by))
		}
		time.Sleep(10 * time.Second)
		cancel()
		<-done
		if want := []time.Duration{2 * time.Hour, time.Second}; !slices.Equal(noticed, want) {
			t.Errorf("set back by %v, want %v", noticed, want)
		}
	})
}
