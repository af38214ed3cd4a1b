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

// namedTask is a connection on the socket of a task.
type namedTask struct {
	net.Conn
	name door.TaskAddr
}

func (namedTask) LocalAddr() net.Addr    { return &net.UnixAddr{Net: "unix"} }
func (c namedTask) RemoteAddr() net.Addr { return c.name }

// TestATaskCannotUseUpTheRequestsOfAnother sends invalid tokens, logins and the requests of a user on the
// sockets of two tasks of one node.
func TestATaskCannotUseUpTheRequestsOfAnother(t *testing.T) {
	h := newHarness(t, withUsers(t), slow(2))
	h.policy("dev", `namespace "default" { policy = "write" }`)
	ana, _ := h.user("dev")
	send := func(task door.TaskAddr, token, path, body string) *httptest.ResponseRecorder {
		r := httptest.NewRequest(http.MethodPut, path, strings.NewReader(body))
		r.RemoteAddr = task.String()
		r.Header.Set("X-Nomad-Token", token)
		w := httptest.NewRecorder()
		h.handler.ServeHTTP(w, r.WithContext(h.handler.Door.Mark(r.Context(), namedTask{name: task})))
		return w
	}
	const hostile, other = door.TaskAddr("task 5f3e/web"), door.TaskAddr("task 5f3e/log")
	for what, r := range map[string]struct{ token, path, body string }{
		"invalid tokens": {"guess", "/v1/jobs/parse", parseBody},
		"logins":         {ana.header[1], "/v1/acl/token/onetime/exchange", `{"OneTimeSecretID": "guess"}`},
	} {
		for range 5 * timesAddress {
			send(hostile, r.token, r.path, r.body)
		}
		if got := send(hostile, r.token, r.path, r.body); got.Code != http.StatusTooManyRequests || !strings.Contains(got.Body.String(), hostile.String()) {
			t.Errorf("%s of the task: %d %s, want 429 with its name", what, got.Code, got.Body)
		}
		if got := send(other, r.token, r.path, r.body); got.Code != http.StatusForbidden {
			t.Errorf("%s of another task: %d %s, want 403", what, got.Code, got.Body)
		}
	}
	permitted := 0
	for range timesAddress + 5 {
		user, _ := h.user("dev")
		if send(hostile, user.header[1], "/v1/jobs/parse", parseBody).Code == http.StatusOK {
			permitted += 1
			if send(hostile, user.header[1], "/v1/jobs/parse", parseBody).Code == http.StatusOK {
				permitted += 1
			}
		}
	}
	if permitted != 2*timesAddress {
		t.Errorf("a task with many tokens parses %d times, want %d", permitted, 2*timesAddress)
	}
	if got := send(other, ana.header[1], "/v1/jobs/parse", parseBody); got.Code != http.StatusOK {
		t.Errorf("another task with a token: %d %s", got.Code, got.Body)
	}
}
