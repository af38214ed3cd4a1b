// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// TestALeaderConfirmsItsLeadershipBeforeARead deposes a server that still believes that it leads.
func TestALeaderConfirmsItsLeadershipBeforeARead(t *testing.T) {
	f := newFleet(t)
	var asked atomic.Int64
	s := f.server("s1", always, func() (string, bool) { return "", false }, nil)
	s.patience = 10 * time.Millisecond
	s.readIndex = func(context.Context) (uint64, error) {
		asked.Add(1)
		return 0, errors.New("a newer leader exists")
	}
	if got := f.ask(s, http.MethodGet, "/v1/jobs", ""); got.status != http.StatusServiceUnavailable || !strings.Contains(got.body, "newer leader") || !strings.Contains(got.body, "stale") {
		t.Errorf("a read: %d %s", got.status, got.body)
	}
	asked.Store(0)
	for _, path := range []string{"/v1/jobs?stale", "/v1/status/leader", "/v1/metrics"} {
		if got := f.ask(s, http.MethodGet, path, ""); got.status != http.StatusOK || asked.Load() != 0 {
			t.Errorf("GET %s asked the majority %d times: %d %s", path, asked.Load(), got.status, got.body)
		}
	}
	s.readIndex = func(context.Context) (uint64, error) { return 0, nil }
	if got := f.ask(s, http.MethodGet, "/v1/jobs", ""); got.status != http.StatusOK {
		t.Errorf("a read of a confirmed leader: %d %s", got.status, got.body)
	}
}

// TestADeposedLeaderForwardsReads lets a server learn from the failed confirmation that it no
// longer leads.
func TestADeposedLeaderForwardsReads(t *testing.T) {
	f := newFleet(t)
	var known atomic.Pointer[machine]
	var deposed atomic.Bool
	next := f.server("s2", always, func() (string, bool) { return "", false }, nil)
	known.Store(next)
	s := f.server("s1", func() bool { return !deposed.Load() }, at(&known), nil)
	s.readIndex = func(context.Context) (uint64, error) {
		deposed.Store(true)
		return 0, errors.New("a newer leader exists")
	}
	var confirmed atomic.Int64
	next.readIndex = func(context.Context) (uint64, error) {
		confirmed.Add(1)
		return 0, nil
	}
	if got := f.ask(s, http.MethodGet, "/v1/jobs", ""); got.status != http.StatusOK || confirmed.Load() != 1 {
		t.Errorf("a read: %d %s, confirmed %d times by the next leader", got.status, got.body, confirmed.Load())
	}
}
