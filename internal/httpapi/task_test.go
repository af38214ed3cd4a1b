// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/reeve-run/reeve/internal/door"
)

// taskConn is a connection on the socket of a task.
type taskConn struct{ net.Conn }

func (taskConn) LocalAddr() net.Addr  { return &net.UnixAddr{Net: "unix"} }
func (taskConn) RemoteAddr() net.Addr { return door.TaskAddr("task 5f3e/web") }

// TestEveryRouteOfATasksSocketNeedsAToken sends every request without a token, also those that everyone may
// send elsewhere.
func TestEveryRouteOfATasksSocketNeedsAToken(t *testing.T) {
	h := newHarness(t, withDialect, func(c *Config) {
		c.Dialects[0].Open = func(*http.Request) bool { return true }
	})
	do := func(method, path, body string, header ...string) *httptest.ResponseRecorder {
		r := httptest.NewRequest(method, path, strings.NewReader(body))
		for i := 0; i+1 < len(header); i += 2 {
			r.Header.Set(header[i], header[i+1])
		}
		w := httptest.NewRecorder()
		h.handler.ServeHTTP(w, r.WithContext(h.handler.Door.Mark(r.Context(), taskConn{})))
		return w
	}
	before := h.server.Store().Index()
	for _, route := range doorPaths(t) {
		method, path, _ := strings.Cut(route, " ")
		if got := do(method, path, samples[route]); got.Code != http.StatusForbidden {
			t.Errorf("%s: %d %s, want 403", route, got.Code, got.Body)
		}
		if got := do(method, path, samples[route], "X-Nomad-Token", "guess"); got.Code != http.StatusForbidden && got.Code != http.StatusTooManyRequests {
			t.Errorf("%s with a wrong token: %d %s, want 403, or 429 after many", route, got.Code, got.Body)
		}
	}
	if after := h.server.Store().Index(); after != before {
		t.Errorf("the state went from index %d to %d", before, after)
	}
	if got := do(http.MethodGet, "/v1/jobs", "", "X-Nomad-Token", doorToken, "Host", "api"); got.Code != http.StatusOK {
		t.Errorf("with the agent's token: %d %s", got.Code, got.Body)
	}
}
