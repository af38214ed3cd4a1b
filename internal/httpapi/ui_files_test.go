// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"bufio"
	"fmt"
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/reeve-run/reeve/internal/door"
	"github.com/reeve-run/reeve/internal/ui"
)

// withUI makes the handler serve a web UI of two files.
func withUI(c *Config) {
	c.UI = ui.New(fstest.MapFS{"index.html": {Data: []byte("<!doctype html>")}, "assets/app.js": {Data: []byte("1")}})
}

// uiHeaders are headers of every answer of the web UI.
var uiHeaders = map[string]string{
	"X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer", "Cross-Origin-Opener-Policy": "same-origin",
	"Cross-Origin-Resource-Policy": "same-origin", "X-Frame-Options": "DENY",
}

func TestUIIsServedToEveryone(t *testing.T) {
	cluster := newHarness(t, withUsers(t), withUI)
	for _, c := range []struct {
		peer
		method, path, want string
		status             int
	}{
		{peer{}, http.MethodGet, "/ui/", "<!doctype html>", http.StatusOK},
		{peer{}, http.MethodGet, "/ui/job/web", "<!doctype html>", http.StatusOK},
		{peer{}, http.MethodGet, "/ui/assets/app.js", "1", http.StatusOK},
		{peer{header: []string{"X-Nomad-Token", "guess"}}, http.MethodGet, "/ui/", "<!doctype html>", http.StatusOK},
		{peer{header: []string{"Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "navigate"}}, http.MethodGet, "/ui/oidc/callback?code=x", "<!doctype html>", http.StatusOK},
		{peer{header: []string{"Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "no-cors"}}, http.MethodGet, "/ui/assets/app.js", "another site", http.StatusForbidden},
		{peer{header: []string{"Origin", "https://evil.example"}}, http.MethodGet, "/ui/", "another site", http.StatusForbidden},
		{peer{}, http.MethodPut, "/ui/", "GET and HEAD", http.StatusMethodNotAllowed},
		{peer{}, http.MethodGet, "/ui/assets/old.js", "no such file", http.StatusNotFound},
		{peer{}, http.MethodGet, "/ui/%2e%2e/v1/jobs", "not an address", http.StatusBadRequest},
	} {
		got := c.ask(t, cluster.handler, c.method, c.path, "")
		if got.status != c.status || !strings.Contains(got.body, c.want) {
			t.Errorf("%s %s with %q: %d %s, want %d %q", c.method, c.path, c.header, got.status, got.body, c.status, c.want)
		}
		for name, want := range uiHeaders {
			if got.header.Get(name) != want {
				t.Errorf("%s %s: %s is %q, want %q", c.method, c.path, name, got.header.Get(name), want)
			}
		}
		if !strings.HasPrefix(got.header.Get("Content-Security-Policy"), "default-src 'none'; script-src 'self';") {
			t.Errorf("%s %s: the policy is %q", c.method, c.path, got.header.Get("Content-Security-Policy"))
		}
	}
}

func TestUIOnAMachineAlone(t *testing.T) {
	h := newHarness(t, withUI, func(c *Config) { c.Door = doorFor(t, door.Process{UID: 4711}) })
	if got := h.do(http.MethodGet, "/ui/jobs", ""); got.status != http.StatusOK {
		t.Errorf("another user of the machine: %d %s", got.status, got.body)
	}
	for _, host := range []string{"evil.example", "10.0.0.1:4646", "127.0.0.1.evil.example"} {
		got := h.do(http.MethodGet, "/ui/", "", "Host", host)
		if got.status != http.StatusForbidden || !strings.Contains(got.body, "is not this agent") || got.header.Get("X-Frame-Options") != "DENY" {
			t.Errorf("host %s: %d %v %s", host, got.status, got.header, got.body)
		}
	}
}

func TestUIIsOff(t *testing.T) {
	h := newHarness(t)
	for _, path := range []string{"/ui", "/ui/", "/ui/jobs", "/ui/assets/app.js"} {
		got := h.do(http.MethodGet, path, "")
		if got.status != http.StatusNotFound || !strings.Contains(got.body, "ui { enabled = true }") || got.header.Get("X-Frame-Options") != "DENY" {
			t.Errorf("GET %s: %d %s", path, got.status, got.body)
		}
	}
	if got := h.do(http.MethodGet, "/", "", "Accept", "text/html"); got.status != http.StatusNotFound || !strings.Contains(got.body, "no route /") {
		t.Errorf("GET /: %d %s", got.status, got.body)
	}
}

func TestUIOpensFromTheRoot(t *testing.T) {
	h := newHarness(t, withUI)
	h.http.Client().CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	browser := "text/html,application/xhtml+xml;q=0.9,*/*;q=0.8"
	if got := h.do(http.MethodGet, "/?x=secret", "", "Accept", browser); got.status != http.StatusFound || got.header.Get("Location") != "/ui/" {
		t.Errorf("a browser: %d %v", got.status, got.header)
	}
	for method, accept := range map[string]string{http.MethodGet: "*/*", http.MethodPut: browser} {
		if got := h.do(method, "/", "", "Accept", accept); got.status != http.StatusNotFound || !strings.Contains(got.body, "no route /") {
			t.Errorf("%s / with Accept %s: %d %s", method, accept, got.status, got.body)
		}
	}
}

// TestUIShadowsNoRoute checks that the web UI changes no answer outside of its root.
func TestUIShadowsNoRoute(t *testing.T) {
	without, with := newHarness(t), newHarness(t, withUI)
	tried := 0
	for _, r := range routes() {
		path := strings.NewReplacer("{", "", "}", "", "...", "").Replace(r.Pattern)
		if ui.Claims(path) || path == "/" {
			t.Errorf("the route %s is below the web UI", r.Pattern)
		}
		if r.Method != http.MethodGet || r.Stream != "" {
			continue
		}
		tried++
		accept := []string{"Accept", "text/html"}
		if a, b := without.do(r.Method, path, "", accept...), with.do(r.Method, path, "", accept...); a.status != b.status || b.header.Get("X-Frame-Options") != "" {
			t.Errorf("%s: %d without the UI, %d with it", path, a.status, b.status)
		}
	}
	for _, path := range []string{"/v1/ui/config", "/uix", "/ui2/", "/v1/../ui/", "//ui/"} {
		tried++
		if a, b := without.do(http.MethodGet, path, ""), with.do(http.MethodGet, path, ""); a.status != b.status && !strings.Contains(path, "/ui/") {
			t.Errorf("%s: %d without the UI, %d with it", path, a.status, b.status)
		}
	}
	if tried < 50 {
		t.Errorf("only %d paths were tried", tried)
	}
}

// TestUIHostileRequestLines sends what no client library sends.
func TestUIHostileRequestLines(t *testing.T) {
	h := newHarness(t, withUI)
	address := strings.TrimPrefix(h.http.URL, "http://")
	for _, target := range []string{
		"/ui/../v1/jobs", "/ui/..", "/ui/%00", "/ui/%2e%2e%2fv1/jobs", "/ui/..;/v1", "/ui/a%", "/ui/" + strings.Repeat("%2f", 3000), "/ui/\x01",
		"/ui/\\..\\..", "/ui/%c0%ae%c0%ae/x", "http://evil.example/ui/", "/ui/" + strings.Repeat("a", 60000),
	} {
		conn, err := net.Dial("tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(conn, "GET %s HTTP/1.1\r\nHost: %s\r\nConnection: close\r\n\r\n", target, address)
		resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
		if err != nil {
			t.Errorf("%.60q: %v", target, err)
			conn.Close()
			continue
		}
		page := resp.StatusCode == http.StatusOK && resp.Header.Get("Content-Type") == "text/html; charset=utf-8"
		if !page && resp.StatusCode != http.StatusBadRequest && resp.StatusCode != http.StatusForbidden {
			t.Errorf("%.60q: %d %v", target, resp.StatusCode, resp.Header)
		}
		resp.Body.Close()
		conn.Close()
	}
}
