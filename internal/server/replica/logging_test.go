// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package replica

import (
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/reeve-run/reeve/internal/testbed/bubble"
)

func TestRepeatedWarningsAreCounted(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		var out strings.Builder
		l := newRaftLogger(slog.New(slog.NewTextHandler(&out, nil)))
		for range 100 {
			l.Error("failed to heartbeat to", "peer", "a")
			l.Error("failed to heartbeat to", "peer", "b")
		}
		if n := strings.Count(out.String(), "\n"); n != 2 {
			t.Errorf("%d lines about two servers:\n%s", n, out.String())
		}
		time.Sleep(sayAgain)
		out.Reset()
		l.Error("failed to heartbeat to", "peer", "a")
		if text := out.String(); !strings.Contains(text, "repetitions=99") || !strings.Contains(text, "peer=a") {
			t.Errorf("after %s: %s", sayAgain, text)
		}
	})
}
