// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package agent

import (
	"context"
	"log/slog"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/reeve-run/reeve/internal/testbed/bubble"
	"github.com/reeve-run/reeve/internal/testbed/output"
)

func TestExpiryIsLoggedAtStartAndDaily(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		var out output.Text
		const text = "certificate expires in 3 days"
		var warning atomic.Value
		warning.Store(text)
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			warnOfExpiry(ctx, slog.New(slog.NewTextHandler(&out, nil)), func() string { return warning.Load().(string) })
		}()
		logged := func() int { synctest.Wait(); return strings.Count(out.String(), "expires in 3 days") }
		for _, step := range []struct {
			after time.Duration
			text  string
			want  int
		}{{0, text, 1}, {23 * time.Hour, text, 1}, {90 * time.Minute, text, 2}, {2 * time.Hour, "", 2}, {2 * time.Hour, text, 2}, {time.Hour, text, 3}} {
			time.Sleep(step.after)
			if n := logged(); n != step.want {
				t.Errorf("%v later: %d messages, want %d", step.after, n, step.want)
			}
			warning.Store(step.text)
		}
		cancel()
		<-ended
	})
}
