// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/door"
	"github.com/reeve-run/reeve/internal/limit"
	"github.com/reeve-run/reeve/internal/pki"
)

// TestAFloodOfLoginsIsRefused guesses one-time tokens.
func TestAFloodOfLoginsIsRefused(t *testing.T) {
	h := newHarness(t, withUsers(t))
	const path, body = "/v1/acl/token/onetime/exchange", `{"OneTimeSecretID": "guess"}`
	limited := 0
	loginsBurst := limit.Login.Default().Burst
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
	// On a slow machine, one request more may be permitted meanwhile.
	for what, p := range map[string]peer{"a node at the address": {id: "n2", role: pki.RoleNode}, "a stranger who claims to forward": {header: []string{door.CallerHeader, "operator"}}} {
		got := p.ask(t, h.handler, http.MethodPut, path, body)
		for again := 0; again < 3 && got.status == http.StatusForbidden; again++ {
			got = p.ask(t, h.handler, http.MethodPut, path, body)
		}
		if got.status != http.StatusTooManyRequests {
			t.Errorf("%s: %d %s", what, got.status, got.body)
		}
	}
}

// slow returns limits with which a bucket of each class holds a few requests, and does not refill during a
// test.
func slow(burst int) func(*Config) {
	return func(c *Config) {
		c.Limits = map[limit.Class]limit.Rate{}
		for _, class := range limit.Classes() {
			c.Limits[class] = limit.Rate{PerSecond: limit.MinPerSecond, Burst: burst}
		}
	}
}

// unlimited removes all limits, for tests that send many refused requests.
func unlimited(c *Config) {
	c.Limits = map[limit.Class]limit.Rate{}
	for _, class := range limit.Classes() {
		c.Limits[class] = limit.Rate{}
	}
}

// send sends a request of a peer from an address, and returns the response.
func (p peer) send(t *testing.T, h http.Handler, address, method, path, body string) answer {
	t.Helper()
	r := httptest.NewRequest(method, "https://s1:4646"+path, strings.NewReader(body))
	r.RemoteAddr = address
	for i := 0; i+1 < len(p.header); i += 2 {
		r.Header.Add(p.header[i], p.header[i+1])
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return answer{w.Code, w.Result().Header, w.Body.String()}
}

// permitted sends requests until one is refused, and returns how many were not.
func (p peer) permitted(t *testing.T, h http.Handler, address func(i int) string, path, body string) int {
	t.Helper()
	for i := range 5000 {
		if got := p.send(t, h, address(i), http.MethodPut, path, body); got.status == http.StatusTooManyRequests {
			return i
		}
	}
	return 5000
}

func from(address string) func(int) string { return func(int) string { return address } }

const parseBody = `{"JobHCL": "job \"web\" {}"}`

func TestEachTokenHasItsOwnLimit(t *testing.T) {
	h := newHarness(t, withUsers(t), slow(3))
	h.policy("dev", `namespace "default" { policy = "write" }`)
	ana, token := h.user("dev")
	bob, _ := h.user("dev")
	boss, _ := h.user()
	office := from("10.0.0.7:1")
	if got := ana.permitted(t, h.handler, func(i int) string { return fmt.Sprintf("10.0.%d.7:%d", i%200, i) }, "/v1/jobs/parse", parseBody); got != 3 {
		t.Errorf("a token from many addresses parses %d times, want 3", got)
	}
	got := ana.send(t, h.handler, "10.0.0.7:1", http.MethodPut, "/v1/jobs/parse", parseBody)
	if seconds, err := strconv.Atoi(got.header.Get("Retry-After")); got.status != http.StatusTooManyRequests || err != nil || seconds < 99 || seconds > 100 {
		t.Errorf("%d, Retry-After %q", got.status, got.header.Get("Retry-After"))
	}
	for _, want := range []string{"token " + api.ShortID(token.AccessorID), "0.01 times a second", `rate "parse"`, "wait 100 s"} {
		if !strings.Contains(got.body, want) {
			t.Errorf("the refusal does not contain %q: %s", want, got.body)
		}
	}
	if got := ana.permitted(t, h.handler, office, "/v1/search", `{"Prefix": "x", "Context": "jobs"}`); got != 3 {
		t.Errorf("in another class the token has %d requests, want 3", got)
	}
	if got := bob.permitted(t, h.handler, office, "/v1/jobs/parse", parseBody); got != 3 {
		t.Errorf("another token at the address parses %d times, want 3", got)
	}
	if got := boss.permitted(t, h.handler, office, "/v1/jobs/parse", parseBody); got != 3*timesManagement {
		t.Errorf("a management token parses %d times, want %d", got, 3*timesManagement)
	}
	if got := (peer{header: []string{"X-Nomad-Token", operatorToken}}).permitted(t, h.handler, office, "/v1/jobs/parse", parseBody); got != 3*timesManagement {
		t.Errorf("an operator parses %d times, want %d", got, 3*timesManagement)
	}
	for class, want := range map[string]string{"parse": "5", "search": "1", "exec": "0"} {
		var text strings.Builder
		if err := h.handler.Metrics.WriteText(&text); err != nil {
			t.Fatal(err)
		}
		series := regexp.MustCompile(`reeve_requests_limited_total\{class="` + class + `".*\} (\d+)`).FindStringSubmatch(text.String())
		if len(series) != 2 || series[1] != want {
			t.Errorf("refused requests of class %s: %q, want %s", class, series, want)
		}
	}
}

// TestManyTokensOfAnAddressAreBounded sends the requests of many tokens from one address.
func TestManyTokensOfAnAddressAreBounded(t *testing.T) {
	h := newHarness(t, withUsers(t), slow(1))
	h.policy("dev", `namespace "default" { policy = "write" }`)
	permitted := 0
	for range timesAddress + 5 {
		user, _ := h.user("dev")
		if user.send(t, h.handler, "10.0.0.7:1", http.MethodPut, "/v1/jobs/parse", parseBody).status == http.StatusOK {
			permitted++
		}
	}
	if permitted != timesAddress {
		t.Errorf("%d requests were permitted, want %d", permitted, timesAddress)
	}
}

// TestAnAddressCannotHideItself rotates what an attacker controls: the source port, headers of proxies, and
// the lower half of an IPv6 address.
func TestAnAddressCannotHideItself(t *testing.T) {
	const path, body = "/v1/acl/token/onetime/exchange", `{"OneTimeSecretID": "guess"}`
	for what, address := range map[string]func(int) string{
		"ports":          func(i int) string { return fmt.Sprintf("10.0.0.7:%d", 1024+i) },
		"IPv6 addresses": func(i int) string { return fmt.Sprintf("[2001:db8:1:2:%x:%x::9]:443", i, 7*i) },
		"mapped ones":    func(i int) string { return []string{"10.0.0.7:1", "[::ffff:10.0.0.7]:1"}[i%2] },
		"zones":          func(i int) string { return fmt.Sprintf("[fe80::1%%eth%d]:1", i) },
	} {
		h := newHarness(t, withUsers(t), slow(4))
		if got := (peer{}).permitted(t, h.handler, address, path, body); got != 4 {
			t.Errorf("with other %s, %d requests were permitted, want 4", what, got)
		}
	}
	h := newHarness(t, withUsers(t), slow(4))
	for i := range 8 {
		name := []string{"X-Forwarded-For", "Forwarded", "X-Real-Ip", "True-Client-Ip"}[i%4]
		got := peer{header: []string{name, fmt.Sprintf("10.9.9.%d", i), forwardedHeader, "server by s2", door.CallerHeader, "operator"}}.send(t, h.handler, "10.0.0.7:1", http.MethodPut, path, body)
		if limited := got.status == http.StatusTooManyRequests; limited != (i >= 4) {
			t.Errorf("request %d with %s: %d %s", i, name, got.status, got.body)
		}
	}
}

func TestInvalidTokensAreBounded(t *testing.T) {
	h := newHarness(t, withUsers(t), slow(5))
	h.policy("dev", `namespace "default" { policy = "write" }`)
	ana, _ := h.user("dev")
	for i := range 10 {
		guess := peer{header: []string{"X-Nomad-Token", fmt.Sprintf("guess-%d", i)}}
		want := http.StatusForbidden
		if i >= 5 {
			want = http.StatusTooManyRequests
		}
		if got := guess.send(t, h.handler, "10.0.0.7:1", http.MethodGet, "/v1/jobs", ""); got.status != want {
			t.Errorf("guess %d: %d %s", i, got.status, got.body)
		} else if want == http.StatusTooManyRequests && (got.header.Get("Retry-After") == "" || !strings.Contains(got.body, "invalid token")) {
			t.Errorf("guess %d: %q %s", i, got.header.Get("Retry-After"), got.body)
		}
		if got := guess.send(t, h.handler, "10.0.0.7:1", http.MethodGet, "/v1/status/leader", ""); got.status != http.StatusOK || got.header.Get("Retry-After") != "" {
			t.Errorf("guess %d at an open route: %d %s", i, got.status, got.body)
		}
	}
	if got := ana.send(t, h.handler, "10.0.0.7:1", http.MethodGet, "/v1/jobs", ""); got.status != http.StatusOK {
		t.Errorf("a valid token at the address: %d %s", got.status, got.body)
	}
	if got := (peer{}).send(t, h.handler, "10.0.0.7:1", http.MethodGet, "/v1/jobs", ""); got.status != http.StatusForbidden {
		t.Errorf("a caller without a token: %d %s", got.status, got.body)
	}
	// A server that forwards wrong tokens was asked by many addresses.
	for range 10 {
		got := peer{id: "s2", role: pki.RoleServer, header: []string{door.CallerHeader, "unknown"}}.ask(t, h.handler, http.MethodGet, "/v1/jobs", "")
		if got.status != http.StatusForbidden {
			t.Errorf("a server: %d %s", got.status, got.body)
		}
	}
}

// TestWhoHasNoLimit sends requests of members and of users of the machine.
func TestWhoHasNoLimit(t *testing.T) {
	h := newHarness(t, withUsers(t), slow(1))
	h.policy("dev", `namespace "default" { policy = "write" }`)
	_, token := h.user("dev")
	for what, p := range map[string]peer{
		"a server for a user":      {id: "s2", role: pki.RoleServer, header: []string{door.CallerHeader, "user/" + token.AccessorID}},
		"a server for an operator": {id: "s2", role: pki.RoleServer, header: []string{door.CallerHeader, "operator"}},
		"a server":                 {id: "s2", role: pki.RoleServer},
	} {
		for range 5 {
			if got := p.ask(t, h.handler, http.MethodPut, "/v1/jobs/parse", parseBody); got.status != http.StatusOK {
				t.Errorf("%s: %d %s", what, got.status, got.body)
			}
		}
	}
	local := peer{header: []string{"X-Nomad-Token", doorToken}}
	for range 5 {
		if got := local.ask(t, h.handler, http.MethodPut, "/v1/jobs/parse", parseBody); got.status != http.StatusOK {
			t.Errorf("a user of the machine: %d %s", got.status, got.body)
		}
	}
}

// TestDefaultLimitsPermitPipelines sends what `job run` sends, twenty pipelines at once and once per second.
func TestDefaultLimitsPermitPipelines(t *testing.T) {
	for _, class := range []limit.Class{limit.Parse, limit.Plan} {
		l := limit.New(class.Default(), 10)
		now := time.Unix(1_790_000_000, 0)
		for second := range 600 {
			for range 20 {
				if wait := l.Take(limit.Key{Token: "ci"}, now); wait > 0 {
					t.Fatalf("%s: a request of second %d waits %s", class, second, wait)
				}
			}
			now = now.Add(time.Second)
		}
	}
}

func TestLimitedRoutesSayTooManyRequests(t *testing.T) {
	document := string(openAPI(routes()))
	for _, r := range routes() {
		if r.Class != limit.None && deeds[r.Class] == "" {
			t.Errorf("class %s has no words for its refusal", r.Class)
		}
	}
	if limited, want := strings.Count(document, "#/components/responses/TooManyRequests"), countLimited(); limited != want || want < 20 {
		t.Errorf("%d operations of %d document 429", limited, want)
	}
}

func countLimited() (n int) {
	for _, r := range routes() {
		if r.Class != limit.None {
			n++
		}
	}
	return n
}

// BenchmarkLimit is the cost that a limit adds to the request of a token.
func BenchmarkLimit(b *testing.B) {
	srv := newIdleServer(b)
	h := New(Config{Server: srv.Server, Limits: map[limit.Class]limit.Rate{limit.Plan: {PerSecond: limit.MaxPerSecond, Burst: limit.MaxBurst}}})
	r := httptest.NewRequest(http.MethodPut, "https://s1:4646/v1/stacks/plan", nil)
	r = r.WithContext(context.WithValue(r.Context(), callerKey{}, door.Caller{Kind: door.User, ID: "1f3c9a2e-3f02-4db8-80f8-37a5cedea356"}))
	c := &call{Handler: h, r: r, route: &route{Class: limit.Plan}}
	b.ReportAllocs()
	for b.Loop() {
		if err := c.limit(); err != nil {
			b.Fatal(err)
		}
	}
}
