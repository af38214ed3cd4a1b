// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package callback

import (
	"hash/fnv"
	"io"
	"math/rand/v2"
	"net/http"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/state"
)

// Delays between attempts.
const (
	firstDelay   = time.Second
	longestDelay = 5 * time.Minute
	longestAsked = time.Hour // that a receiver's Retry-After is heeded for
)

// outcome is what an attempt makes of the callback.
func outcome(is *api.Callback, a answer, now time.Time) *state.UpdateCallback {
	cmd := &state.UpdateCallback{ID: is.ID, Attempt: is.Attempts + 1, Status: judge(a.code), Answer: a.words, Time: now.UnixNano()}
	if cmd.Status != api.CallbackPending {
		return cmd
	}
	if !now.Before(is.GiveUpAt) {
		cmd.Status = api.CallbackGivenUp
		return cmd
	}
	next := now.Add(max(delayAfter(cmd.Attempt, is.ID), a.after))
	if next.After(is.GiveUpAt) {
		next = is.GiveUpAt // the last attempt
	}
	cmd.Next = next.UnixNano()
	return cmd
}

// judge is what a status code makes of a callback. 2xx takes it. A request that
// the receiver says is wrong will not be right the next time: it is refused.
// Everything else may pass: no answer, a redirect (which is not followed), and
// those of the 4xx that say "not now".
func judge(code int) string {
	switch {
	case code >= 200 && code < 300:
		return api.CallbackDelivered
	case code == http.StatusRequestTimeout, code == http.StatusTooEarly, code == http.StatusTooManyRequests:
		return api.CallbackPending
	case code >= 400 && code < 500:
		return api.CallbackRefused
	}
	return api.CallbackPending
}

func isRedirect(code int) bool { return code >= 300 && code < 400 }

// delayAfter is how long the next attempt waits after the nth: twice as long each
// time, and up to a quarter more, the same for the same callback, so that those
// that failed together do not come together.
func delayAfter(n int, id string) time.Duration {
	delay := longestDelay
	if n < 10 {
		delay = min(firstDelay<<(n-1), longestDelay)
	}
	h := fnv.New64a()
	_, _ = io.WriteString(h, id)
	return delay + time.Duration(rand.New(rand.NewPCG(h.Sum64(), uint64(n))).Float64()*float64(delay)/4)
}
