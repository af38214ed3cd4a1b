// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package server_test

import (
	"testing"
	"time"

	"github.com/reeve-run/reeve/api"
)

func TestWhatWasFreshUntilATimeIsStaleWhenTheClockIsSetBack(t *testing.T) {
	simulate(t, func(c *cluster) {
		for name, ttl := range map[string]string{"a": "20s", "b": "1h", "for-ever": ""} {
			if _, err := c.MarkDomain(c.Context(), name, &api.DomainRequest{TTL: ttl}); err != nil {
				t.Fatal(err)
			}
		}
		c.ClockWasSetBack(c.Context(), time.Hour)
		fresh := func(name string) bool { return c.Store().Snapshot().Domain(name).IsFresh(time.Now()) }
		if fresh("a") || fresh("b") || !fresh("for-ever") {
			t.Errorf("fresh after the clock was set back: a %t, b %t, for-ever %t; want only the last", fresh("a"), fresh("b"), fresh("for-ever"))
		}
		if _, err := c.MarkDomain(c.Context(), "a", &api.DomainRequest{TTL: "20s"}); err != nil || !fresh("a") {
			t.Errorf("marked again: fresh %t, error %v", fresh("a"), err)
		}
	})
}
