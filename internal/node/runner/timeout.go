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

// limitRun arranges for the end of a run that takes longer than the task's
// timeout. It counts from the start of the process, whatever became of the agent
// since.
func (t *task) limitRun() {
	t.unlimit()
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
		words := exceeded(most)
		if t.ask(&request{Words: strings.ToUpper(words[:1]) + words[1:], Counts: true, Kind: api.TroubleTimeout}) {
			t.late = true
			t.r.advance()
			t.r.host.Changed(t.r, true)
		}
	})
}

func (t *task) unlimit() {
	if t.limit != nil {
		t.limit.Stop()
		t.limit = nil
	}
}

// isLate reports whether a run that has ended took too long: it has failed,
// whatever its exit code says.
func (t *task) isLate(x driver.Exit, at time.Time) bool {
	if t.late {
		return true
	}
	most, since := value(t.spec.Timeout), t.state.StartedAt
	return most > 0 && x.Err == nil && !since.IsZero() && at.Sub(since) >= most
}

// lateWords tells that a run took too long: as the beginning of an event, and as
// the reason of a crash.
func (t *task) lateWords(x driver.Exit, ran time.Duration) (what, why string) {
	why = exceeded(value(t.spec.Timeout))
	if x.Err != nil || x.Code != 0 || x.Signal != 0 {
		why += "; " + t.crashWords(x, ran)
	}
	return strings.ToUpper(why[:1]) + why[1:], why
}

func exceeded(d time.Duration) string { return fmt.Sprintf("exceeded %s timeout", formatDelay(d)) }
