// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"context"
	"errors"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/reeve-run/reeve/internal/testbed/bubble"
)

func TestDrainWaitsForWrites(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		h := &Handler{}
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
		if h.writes.begin() {
			t.Error("a write began after the last one ended")
		}

		h = &Handler{}
		h.writes.begin()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		h.Drain(ctx)
		if !errors.Is(ctx.Err(), context.DeadlineExceeded) {
			t.Error("it returned before its time with a write in flight")
		}
		if h.writes.begin() {
			t.Error("a write began after the time for those in flight")
		}
	})
}

// TestWritesAfterTheDrain sends a write and a read to an agent that is about to end: a server
// that forwarded the write sends it to another one, because nothing was done with it.
func TestWritesAfterTheDrain(t *testing.T) {
	h := newHarness(t)
	h.handler.Drain(t.Context())
	for method, want := range map[string]int{http.MethodPut: http.StatusServiceUnavailable, http.MethodGet: http.StatusOK} {
		r, err := http.NewRequest(method, h.http.URL+"/v1/jobs", nil)
		if err != nil {
			t.Fatal(err)
		}
		resp, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		if resp.StatusCode != want {
			t.Errorf("%s was answered with status %d", method, resp.StatusCode)
		}
		if refused := resp.Header.Get(notLeaderHeader) != ""; refused != (want != http.StatusOK) {
			t.Errorf("%s was passed to another server: %t", method, refused)
		}
	}
}
