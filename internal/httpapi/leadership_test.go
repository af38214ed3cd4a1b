// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"context"
	"testing"
	"time"

	"github.com/reeve-run/reeve/internal/testbed/bubble"
)

func TestARequestNoticesAnotherLeaderSoon(t *testing.T) {
	const change = 31 * time.Millisecond
	for what, c := range map[string]struct {
		here func(time.Duration) bool
		addr func(time.Duration) string
		want time.Duration
	}{
		"another leader is known": {
			addr: func(d time.Duration) string { return map[bool]string{true: "s2:4646", false: "s1:4646"}[d >= change] },
			want: change + leadershipLook,
		},
		"the leader is lost": {
			addr: func(d time.Duration) string { return map[bool]string{true: "", false: "s1:4646"}[d >= change] },
			want: change + leadershipLook,
		},
		"this server leads": {
			here: func(d time.Duration) bool { return d >= change },
			want: change + leadershipLook,
		},
		"the leader stays": {
			addr: func(time.Duration) string { return "s1:4646" },
			want: maxLeaderPause,
		},
	} {
		bubble.Test(t, func(t *testing.T) {
			began := time.Now()
			h := &Handler{leads: func() bool { return c.here != nil && c.here(time.Since(began)) }}
			h.Leader = func() (string, bool) {
				if c.addr == nil {
					return "", false
				}
				addr := c.addr(time.Since(began))
				return addr, addr != ""
			}
			if err := h.awaitOther(t.Context(), h.leadership(), maxLeaderPause); err != nil {
				t.Errorf("%s: %v", what, err)
			}
			if took := time.Since(began); took > c.want {
				t.Errorf("%s: the request waited %s, want at most %s", what, took, c.want)
			}
			ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
			defer cancel()
			if err := h.awaitOther(ctx, h.leadership(), maxLeaderPause); err != context.DeadlineExceeded {
				t.Errorf("%s: got %v after the caller left", what, err)
			}
		})
	}
}
