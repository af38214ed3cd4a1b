// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/reeve-run/reeve/internal/testbed/bubble"
)

func TestDrainWaitsForWrites(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		h := &Handler{}
		h.Drain(t.Context()) // nothing is in flight
		h.writes.begin()
		h.writes.begin()
		done := make(chan struct{})
		go func() {
			h.Drain(t.Context())
			close(done)
		}()
		h.writes.end()
		synctest.Wait()
		select {
		case <-done:
			t.Fatal("it returned with a write in flight")
		default:
		}
		h.writes.end()
		<-done

		h.writes.begin()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		h.Drain(ctx)
		if !errors.Is(ctx.Err(), context.DeadlineExceeded) {
			t.Error("it returned before its time with a write in flight")
		}
	})
}
