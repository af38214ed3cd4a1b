// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package runner

import (
	"fmt"
	"hash/fnv"
	"io"
	"math/rand/v2"
	"time"

	"github.com/reeve-run/reeve/api"
)

// restarts counts a task's restarts within the policy's interval, or since the task was last
// healthy for reset_after. It survives restarts of the agent.
type restarts struct {
	Count int       // attempts made
	Since time.Time // start of the interval: the first restart
	Next  time.Time `json:",omitzero"` // time of the next start; zero while the task runs or if it is not restarted
}

// A restartDecision is the verdict of the restart policy.
type restartDecision struct {
	restart bool
	delay   time.Duration
	message string // "Exit Code: 1, restarting in 15.2s (attempt 1 of 2 in 30m)"
}

// next applies the policy to a task that ended after it had been healthy for the given time.
// what describes the end, as the start of a sentence. jitter is between 0 and 1.
func (w *restarts) next(p *api.Restart, what string, now time.Time, well time.Duration, jitter float64) restartDecision {
	attempts, interval, reset := 0, time.Duration(0), time.Duration(0)
	mode := api.RestartModeFail
	if p != nil {
		attempts, interval, mode, reset = value(p.Attempts), value(p.Interval), value(p.Mode), value(p.ResetAfter)
	}
	over, within := now.Sub(w.Since) > interval, "in "+formatDelay(interval)
	if reset > 0 {
		over, within = well >= reset, "without being well for "+formatDelay(reset)
	}
	if w.Since.IsZero() || over {
		w.Since, w.Count = now, 0
	}
	if w.Count < attempts {
		w.Count++
		wait := delayWithJitter(p, w.Count, jitter)
		w.Next = now.Add(wait)
		when := "immediately"
		if wait > 0 {
			when = "in " + formatSeconds(wait)
		}
		return restartDecision{restart: true, delay: wait, message: fmt.Sprintf("%s, restarting %s (attempt %d of %d %s)", what, when, w.Count, attempts, within)}
	}
	if mode == api.RestartModeDelay && interval > 0 && reset == 0 {
		wait := delayWithJitter(p, w.Count+1, jitter) + w.Since.Add(interval).Sub(now)
		w.Next = now.Add(wait)
		w.Since, w.Count = w.Next, min(1, attempts)
		return restartDecision{restart: true, delay: wait, message: fmt.Sprintf("%s, restarting in %s, when the policy's interval of %s is over (%s used up)",
			what, formatSeconds(wait), formatDelay(interval), plural(attempts, "attempt"))}
	}
	w.Next = time.Time{}
	if attempts == 0 {
		return restartDecision{message: what + ", not restarting: the restart policy allows no attempts"}
	}
	return restartDecision{message: fmt.Sprintf("%s, not restarting: %s %s used up", what, plural(attempts, "attempt"), within)}
}

// delayWithJitter returns the delay before the nth attempt, with jitter, bounded by the
// policy's max_delay.
func delayWithJitter(p *api.Restart, n int, jitter float64) time.Duration {
	delay := p.DelayBefore(n)
	wait := delay + time.Duration(jitter*float64(delay)/4)
	if p != nil && p.MaxDelay != nil {
		wait = min(wait, *p.MaxDelay)
	}
	return wait
}

// jitterOf returns a number from 0 to 1 that is constant for an attempt of a task, and
// spreads the restarts of tasks that failed together.
func jitterOf(alloc, task string, run int) float64 {
	h := fnv.New64a()
	io.WriteString(h, alloc+"/"+task)
	return rand.New(rand.NewPCG(h.Sum64(), uint64(run))).Float64()
}

// formatSeconds formats a delay to a tenth of a second.
func formatSeconds(d time.Duration) string {
	return formatDelay(d.Round(100 * time.Millisecond))
}

func plural(n int, word string) string {
	if n == 1 {
		return "1 " + word
	}
	return fmt.Sprintf("%d %ss", n, word)
}

// formatDelay formats a duration without trailing zero units: 30m, not 30m0s.
func formatDelay(d time.Duration) string {
	s := d.String()
	if len(s) > 3 && s[len(s)-3:] == "m0s" {
		s = s[:len(s)-2]
	}
	if len(s) > 3 && s[len(s)-3:] == "h0m" {
		s = s[:len(s)-2]
	}
	return s
}

func value[T any](p *T) T {
	if p == nil {
		var zero T
		return zero
	}
	return *p
}
