// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"net/http"
	"strconv"
	"strings"
	"testing"

	"github.com/reeve-run/reeve/internal/door"
	"github.com/reeve-run/reeve/internal/pki"
)

// TestAFloodOfLoginsIsRefused guesses one-time tokens.
func TestAFloodOfLoginsIsRefused(t *testing.T) {
	h := newHarness(t, withUsers(t))
	const path, body = "/v1/acl/token/onetime/exchange", `{"OneTimeSecretID": "guess"}`
	limited := 0
	for range 2 * loginsBurst {
		got := peer{}.ask(t, h.handler, http.MethodPut, path, body)
		switch got.status {
		case http.StatusForbidden:
		case http.StatusTooManyRequests:
			limited++
			if seconds, err := strconv.Atoi(got.header.Get("Retry-After")); err != nil || seconds < 1 || seconds > 2 || !strings.Contains(got.body, "try again") {
				t.Fatalf("Retry-After %q: %s", got.header.Get("Retry-After"), got.body)
			}
		default:
			t.Fatalf("%d %s", got.status, got.body)
		}
	}
	if limited < loginsBurst/2 {
		t.Errorf("%d of %d requests were refused", limited, 2*loginsBurst)
	}
	if got := (peer{}).ask(t, h.handler, http.MethodGet, "/v1/status/leader", ""); got.status != http.StatusOK {
		t.Errorf("a route without a limit: %d %s", got.status, got.body)
	}
	// Other servers forward the requests of many addresses, which they count themselves.
	for what, header := range map[string][]string{"its own": nil, "a stranger's": {door.CallerHeader, "unknown"}, "a user's": {door.CallerHeader, "user/x"}} {
		for range 2 * loginsBurst {
			got := peer{id: "s2", role: pki.RoleServer, header: header}.ask(t, h.handler, http.MethodPut, path, body)
			if got.status != http.StatusForbidden {
				t.Fatalf("a server with %s request: %d %s", what, got.status, got.body)
			}
		}
	}
	if got := (peer{id: "n2", role: pki.RoleNode}).ask(t, h.handler, http.MethodPut, path, body); got.status != http.StatusTooManyRequests {
		t.Errorf("a node at the address: %d %s", got.status, got.body)
	}
	if got := (peer{header: []string{door.CallerHeader, "operator"}}).ask(t, h.handler, http.MethodPut, path, body); got.status != http.StatusTooManyRequests {
		t.Errorf("a stranger who claims to forward: %d %s", got.status, got.body)
	}
}
