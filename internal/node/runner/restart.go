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

// restarts counts a task's restarts within the policy's interval. It is kept
// across restarts of the agent.
type restarts struct {
	Count int       // used up in this interval
	Since time.Time // when the interval began: at the first restart
}

// verdict is what the restart policy says.
type verdict struct {
	again bool
	delay time.Duration
	words string // "Exit Code: 1, restarting in 15.2s (attempt 1 of 2 in 30m)"
}

// next decides what follows the end of a task, told in words by what. jitter
// is between 0 and 1.
func (w *restarts) next(p *api.Restart, what string, now time.Time, jitter float64) verdict {
	attempts, interval, delay := 0, time.Duration(0), time.Duration(0)
	mode := api.RestartModeFail
	if p != nil {
		attempts, interval, delay, mode = value(p.Attempts), value(p.Interval), value(p.Delay), value(p.Mode)
	}
	if w.Since.IsZero() || now.Sub(w.Since) > interval {
		w.Since, w.Count = now, 0
	}
	wait := delay + time.Duration(jitter*float64(delay)/4)
	if w.Count < attempts {
		w.Count++
		return verdict{again: true, delay: wait, words: fmt.Sprintf("%s, restarting in %s (attempt %d of %d in %s)",
			what, seconds(wait), w.Count, attempts, short(interval))}
	}
	if mode == api.RestartModeDelay && interval > 0 {
		wait += w.Since.Add(interval).Sub(now)
		w.Since, w.Count = now.Add(wait), min(1, attempts)
		return verdict{again: true, delay: wait, words: fmt.Sprintf("%s, restarting in %s, when the policy's interval of %s is over (%s used up)",
			what, seconds(wait), short(interval), plural(attempts, "attempt"))}
	}
	if attempts == 0 {
		return verdict{words: what + ", not restarting: the restart policy allows no attempts"}
	}
	return verdict{words: fmt.Sprintf("%s, not restarting: %s in %s used up", what, plural(attempts, "attempt"), short(interval))}
}

// jitterOf is a number from 0 to 1 that is the same for the same attempt of
// the same task, and spreads tasks that failed together.
func jitterOf(alloc, task string, run int) float64 {
	h := fnv.New64a()
	io.WriteString(h, alloc+"/"+task)
	return rand.New(rand.NewPCG(h.Sum64(), uint64(run))).Float64()
}

// seconds shows a delay to a tenth of a second.
func seconds(d time.Duration) string {
	return short(d.Round(100 * time.Millisecond))
}

func plural(n int, word string) string {
	if n == 1 {
		return "1 " + word
	}
	return fmt.Sprintf("%d %ss", n, word)
}

// short shows a duration without what is zero at its end: 30m, not 30m0s.
func short(d time.Duration) string {
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
