// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"cmp"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/reeve-run/reeve/internal/door"
)

// openRoutes are all that a caller gets who is not trusted.
var openRoutes = map[string]int{
	"GET /v1/agent/health": http.StatusOK, "GET /v1/status/leader": http.StatusOK, "GET /v1/cluster/ca": http.StatusOK,
	"PUT /v1/cluster/join": http.StatusBadRequest, "POST /v1/cluster/join": http.StatusBadRequest, // its body has a secret of its own
	"PUT /v1/acl/bootstrap": http.StatusBadRequest, "POST /v1/acl/bootstrap": http.StatusBadRequest, // already done
	"PUT /v1/acl/token/onetime/exchange": http.StatusBadRequest, "POST /v1/acl/token/onetime/exchange": http.StatusBadRequest, // empty
	"GET /v1/ui/config": http.StatusOK, "PUT /v1/ui/session": http.StatusBadRequest, "POST /v1/ui/session": http.StatusBadRequest, // no code
	"GET /.well-known/jwks.json": http.StatusOK, "GET /.well-known/openid-configuration": http.StatusNotFound, // no issuer
	"GET /v1/acl/auth-methods": http.StatusOK,
	"GET /ui/":                 http.StatusNotFound,                                              // its files are open to everyone; here the UI is off
	"PUT /v1/acl/login":        http.StatusNotFound, "POST /v1/acl/login": http.StatusBadRequest, // no such method, no body
	"PUT /v1/acl/oidc/auth-url": http.StatusNotFound, "POST /v1/acl/oidc/auth-url": http.StatusBadRequest,
	"PUT /v1/acl/oidc/complete-auth": http.StatusNotFound, "POST /v1/acl/oidc/complete-auth": http.StatusBadRequest,
}

// doorPaths are every route, and what is served beside the table.
func doorPaths(t *testing.T) (paths []string) {
	t.Helper()
	for _, r := range routes() {
		for _, method := range r.methods() {
			paths = append(paths, method+" "+pathOf(r.Pattern))
		}
		paths = append(paths, "HEAD "+pathOf(r.Pattern), "OPTIONS "+pathOf(r.Pattern), "TRACE "+pathOf(r.Pattern))
	}
	if len(paths) < 100 {
		t.Fatalf("only %d routes", len(paths))
	}
	return append(paths, "GET /", "GET /ui/", "GET /metrics", "GET /v1/metrics", "GET /v1/none", "GET //v1/jobs", "GET /v1/agent/health/", "GET /v1/./agent/health/../self",
		"GET /v1/multi/", "GET /service/x/v1/plans", "PUT /v1/agent/health", "GET /V1/agent/health")
}

// withDialect adds a dialect that answers everything below /service/.
func withDialect(c *Config) {
	c.Dialects = []Dialect{{
		Claims: func(u *url.URL) bool {
			return strings.HasPrefix(u.Path, "/service/") || strings.HasPrefix(u.Path, "/v1/multi/")
		},
		Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "spoken") }),
	}}
}

func TestEveryRouteRefusesACallerWhoIsNotTrusted(t *testing.T) {
	for what, caller := range map[string]door.Process{
		"nobody": {UID: 65534}, "an isolated task as root": {Isolated: true}, "what the router passes on": {Self: true},
	} {
		h := newHarness(t, withDialect, func(c *Config) { c.Door = doorFor(t, caller) })
		before := h.server.Store().Index()
		for _, route := range doorPaths(t) {
			method, path, _ := strings.Cut(route, " ")
			got := h.do(method, path, samples[route])
			if want := cmp.Or(openRoutes[route], http.StatusForbidden); got.status != want {
				t.Errorf("%s: %s: %d, want %d: %s", what, route, got.status, want, got.body)
			}
		}
		ws := h.do(http.MethodGet, "/v1/client/allocation/x/exec", "", "Upgrade", "websocket", "Connection", "Upgrade")
		if ws.status != http.StatusForbidden {
			t.Errorf("%s: a websocket: %d, want 403", what, ws.status)
		}
		if after := h.server.Store().Index(); after != before {
			t.Errorf("%s: the state went from index %d to %d", what, before, after)
		}
		if got := h.do(http.MethodGet, "/v1/jobs", "", "X-Nomad-Token", doorToken); got.status != http.StatusOK {
			t.Errorf("%s with the token: %d %s", what, got.status, got.body)
		}
	}
}

// TestADialectsLoginIsOpen sends the one request of a dialect that everyone may send, and others.
func TestADialectsLoginIsOpen(t *testing.T) {
	h := newHarness(t, withDialect, func(c *Config) {
		c.Door = doorFor(t, door.Process{UID: 65534})
		c.Dialects[0].Open = func(r *http.Request) bool { return r.Method == http.MethodPost && r.URL.Path == "/service/login" }
	})
	for request, want := range map[string]int{
		"POST /service/login": http.StatusOK, "GET /service/login": http.StatusForbidden, "POST /service/login/x": http.StatusForbidden,
		"POST /service/x": http.StatusForbidden, "POST /v1/jobs": http.StatusForbidden,
	} {
		method, path, _ := strings.Cut(request, " ")
		if got := h.do(method, path, "{}"); got.status != want {
			t.Errorf("%s: %d %s, want %d", request, got.status, got.body, want)
		}
	}
	if got := h.do(http.MethodPost, "/service/login", "{}", "Origin", "https://evil.example"); got.status != http.StatusForbidden {
		t.Errorf("the login for a page of another site: %d %s, want 403", got.status, got.body)
	}
}

func TestEveryRouteRefusesAnotherHost(t *testing.T) {
	h := newHarness(t, withDialect)
	before := h.server.Store().Index()
	for _, route := range doorPaths(t) {
		method, path, _ := strings.Cut(route, " ")
		got := h.do(method, path, samples[route], "Host", "evil.example", "Origin", "http://evil.example", "X-Nomad-Token", doorToken)
		if got.status != http.StatusForbidden || method != http.MethodHead && !strings.Contains(got.body, "http { hosts") {
			t.Errorf("%s: %d %s, want 403 that says where hosts are named", route, got.status, got.body)
		}
	}
	if after := h.server.Store().Index(); after != before {
		t.Errorf("the state went from index %d to %d", before, after)
	}
}
