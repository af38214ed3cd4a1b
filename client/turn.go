// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package client

import (
	"context"
	"math/rand/v2"
	"net/http"
	"strconv"
	"time"
)

// Bounds of the wait for a server that limits the rate of requests.
const (
	maxTurns = 4               // attempts of one request
	maxTurn  = 5 * time.Second // that a server may ask to wait for the next attempt
)

// awaitTurn waits as long as a response asks that refused a request because of a limit, and reports whether
// to send the request again: the server did nothing with it. It reports false at once for all other
// responses, and if the wait or the number of attempts is too large.
func awaitTurn(ctx context.Context, resp *http.Response, attempt int) bool {
	wait, limited := turnOf(resp)
	if !limited || attempt >= maxTurns || wait > maxTurn {
		return false
	}
	wait += rand.N(wait/4 + 1) // callers that were refused together do not return together
	if end, ok := ctx.Deadline(); ok && time.Until(end) < wait {
		return false
	}
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// turnOf returns the time for which a response asks to wait, if it refused a request because of a limit.
func turnOf(resp *http.Response) (wait time.Duration, limited bool) {
	if resp.StatusCode != http.StatusTooManyRequests {
		return 0, false // a 429 without the header is the health of the servers
	}
	seconds, err := strconv.ParseUint(resp.Header.Get("Retry-After"), 10, 16)
	return time.Duration(seconds) * time.Second, err == nil
}

// rewind prepares a request for another attempt. It reports false if its body can be read only once.
func rewind(req *http.Request) bool {
	if req.Body == nil {
		return true
	}
	if req.GetBody == nil {
		return false
	}
	body, err := req.GetBody()
	req.Body = body
	return err == nil
}
