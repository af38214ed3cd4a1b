// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package runner

import (
	"fmt"
	"strings"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/node/driver"
)

// armTimeout schedules the end of a run that exceeds the task's timeout. The timeout counts
// from the start of the process, across restarts of the agent.
func (t *task) armTimeout() {
	t.stopTimeout()
	most, h := value(t.spec.Timeout), t.handle
	if most <= 0 || h == nil {
		return
	}
	t.limit = time.AfterFunc(max(0, time.Until(t.state.StartedAt.Add(most))), func() {
		t.r.mu.Lock()
		defer t.r.mu.Unlock()
		if t.handle != h || value(t.spec.Timeout) != most {
			return
		}
		words := timeoutMessage(most)
		if t.requestRestart(&request{Words: strings.ToUpper(words[:1]) + words[1:], Counts: true, Kind: api.TroubleTimeout}) {
			t.timedOut = true
			t.r.advance()
			t.r.host.Changed(t.r, true)
		}
	})
}

func (t *task) stopTimeout() {
	if t.limit != nil {
		t.limit.Stop()
		t.limit = nil
	}
}

// hasTimedOut reports whether a run that ended had exceeded its timeout: it failed,
// regardless of its exit code.
func (t *task) hasTimedOut(x driver.Exit, at time.Time) bool {
	if t.timedOut {
		return true
	}
	most, since := value(t.spec.Timeout), t.state.StartedAt
	return most > 0 && x.Err == nil && !since.IsZero() && at.Sub(since) >= most
}

// describeTimeout describes a run that exceeded its timeout, as the start of an event's
// sentence and as the reason of a crash.
func (t *task) describeTimeout(x driver.Exit, ran time.Duration) (what, why string) {
	why = timeoutMessage(value(t.spec.Timeout))
	if x.Err != nil || x.Code != 0 || x.Signal != 0 {
		why += "; " + t.describeCrash(x, ran)
	}
	return strings.ToUpper(why[:1]) + why[1:], why
}

func timeoutMessage(d time.Duration) string {
	return fmt.Sprintf("exceeded %s timeout", formatDelay(d))
}
