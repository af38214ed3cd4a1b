// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"net/http"
	"time"
)

// An again is a write that came directly from its caller. If this server turns out not to
// lead, it can be answered once more, here or by another server.
type again struct {
	*call
	body  *recorder     // nil: the request cannot be repeated
	since time.Time     // of the first failure
	pause time.Duration // before the next attempt
	seen  leadership    // before the attempt
}

// again prepares the repetition of the request.
func (c *call) again() *again {
	a := &again{call: c, pause: minLeaderPause}
	if c.route.Method == http.MethodGet || len(hopsOf(c.r.Header)) > 0 {
		return a
	}
	a.body = newRecorder(c.r.Body, c.bodyLimit())
	c.r.Body = a.body.reader()
	return a
}

// wait prepares the next attempt, and reports whether there may be one. An election or a
// transfer takes a moment, in which this server may still believe that it leads.
func (a *again) wait() bool {
	if a.body == nil || !a.body.canRepeat() {
		return false
	}
	if a.since.IsZero() {
		a.since = time.Now()
	}
	if time.Since(a.since) > a.patience {
		return false
	}
	if a.awaitOther(a.r.Context(), a.seen, a.pause) != nil {
		return false
	}
	a.pause = min(2*a.pause, maxLeaderPause)
	a.r.Body = a.body.reader()
	return true
}
