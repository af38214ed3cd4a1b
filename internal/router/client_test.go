// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package router

import (
	"fmt"
	"math"
	"net/http"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/reeve-run/reeve/api"
)

// shop adds a unit that shares a host: 1.0.0 and 1.1.0, without a shift.
func (w *world) shop(e api.StackExposure) {
	e.Host = "shop.test"
	w.exposed(w.stack("dev inventory 1.0.0 ready", 1, isTarget), e)
	w.exposed(w.stack("dev inventory 1.1.0 ready", 0, tagged("canary")), e)
}

// cookieOf returns the Set-Cookie field of a response that names a cookie.
func cookieNamed(r reply, name string) string {
	for _, field := range r.header["Set-Cookie"] {
		if strings.HasPrefix(field, name+"=") {
			return field
		}
	}
	return ""
}

// valueOf returns the value of the cookie in a Set-Cookie field.
func valueOf(field string) string {
	value, _, _ := strings.Cut(strings.TrimPrefix(field, clientCookie+"="), ";")
	return value
}

func withCookie(value string) func(*http.Request) {
	return func(r *http.Request) { r.Header.Add("Cookie", clientCookie+"="+value) }
}

// The client stays on its stack while the share is constant, moves at most once while it
// grows, and returns when the shift is reversed.
func TestAStickyClientMovesAtMostOnce(t *testing.T) {
	onEachEngine(t, func(t *testing.T, on engine) {
		w := newWorld(t, on, Config{})
		w.shop(api.StackExposure{Sticky: api.StickyClient})
		w.moveTo(0)
		w.apply()
		const clients = 60
		var cookies []string
		for range clients {
			field := cookieNamed(w.do(http.MethodGet, "shop.test/", nil), clientCookie)
			value := valueOf(field)
			if !isClient(value) || field != clientCookie+"="+value+"; Path=/; HttpOnly; SameSite=Lax" {
				t.Fatalf("Set-Cookie: %q", field)
			}
			cookies = append(cookies, value)
		}
		versions := func(share float64) (all []string) {
			w.moveTo(share)
			w.apply()
			for _, c := range cookies {
				r := w.do(http.MethodGet, "shop.test/", nil, withCookie(c))
				if again := w.do(http.MethodGet, "shop.test/", nil, withCookie(c)); again.body != r.body {
					t.Fatalf("share %v: one client got %s, then %s", share, r.body, again.body)
				}
				if field := cookieNamed(r, clientCookie); field != "" {
					t.Fatalf("a client with a cookie got another one: %s", field)
				}
				all = append(all, r.body)
			}
			return all
		}
		shares := []float64{0, 0.1, 0.25, 0.5, 0.5, 0.8, 1}
		seen := make(map[float64][]string)
		before := versions(0)
		for _, share := range shares {
			now := versions(share)
			for i := range now {
				if before[i] == "1.1.0" && now[i] == "1.0.0" {
					t.Errorf("client %d left the newer stack when its share grew to %v", i, share)
				}
				if want := map[bool]string{true: "1.1.0", false: "1.0.0"}[positionOf(cookies[i]) < share]; now[i] != want {
					t.Errorf("client %d with position %v got %s at share %v", i, positionOf(cookies[i]), now[i], share)
				}
			}
			before, seen[share] = now, now
		}
		for i := len(shares) - 1; i >= 0; i-- {
			if now := versions(shares[i]); fmt.Sprint(now) != fmt.Sprint(seen[shares[i]]) {
				t.Errorf("the reversal to share %v put other clients on the newer stack", shares[i])
			}
		}
	})
}

func TestPositionsOfClientsAreUniform(t *testing.T) {
	const clients = 100_000
	var below [11]int
	for range clients {
		p := positionOf(newClient())
		if p < 0 || p >= 1 {
			t.Fatalf("position %v", p)
		}
		below[int(p*10)+1]++
	}
	for i := 1; i <= 10; i++ {
		if math.Abs(float64(below[i])-clients/10) > 600 {
			t.Errorf("%d of %d positions are between %v and %v", below[i], clients, float64(i-1)/10, float64(i)/10)
		}
	}
	if positionOf("AAAAAAAAAAAAAAAAAAAAAA") != 0.8708736372371826 {
		t.Errorf("the position of a cookie is %v: another router, or an earlier version, computes another one", positionOf("AAAAAAAAAAAAAAAAAAAAAA"))
	}
}

// Clients are hostile: they get a cookie of their own instead of an invalid one, and none reaches a
// stack without a share.
func TestHostileCookiesChooseOnlyAPosition(t *testing.T) {
	onEachEngine(t, func(t *testing.T, on engine) {
		w := newWorld(t, on, Config{})
		w.shop(api.StackExposure{Sticky: api.StickyClient})
		w.moveTo(0)
		w.apply()
		for _, value := range []string{
			"", "1.1.0", "inventory--1-1-0--aaaaaaaa", strings.Repeat("A", 21), strings.Repeat("A", 23), strings.Repeat("A", 20_000), "AAAAAAAAAAAAAAAAAAAA==",
			`"AAAAAAAAAAAAAAAAAAAA"`, "AAAAAAAAAAAAAAAAAAAAA\xff", "AAAAAAAAAAAAAAAAAAAA, ", "AAAAAAAAAAAAAAAAAAAAA%", "../../../../../../../..",
		} {
			r := w.do(http.MethodGet, "shop.test/", nil, withCookie(value))
			if field := cookieNamed(r, clientCookie); r.status != 200 || r.body != "1.0.0" || !isClient(valueOf(field)) {
				t.Errorf("cookie %.40q: %d %s, Set-Cookie %q", value, r.status, r.body, field)
			}
		}
		for range 50 {
			if r := w.do(http.MethodGet, "shop.test/", nil, withCookie(newClient()), withCookie(newClient())); r.body != "1.0.0" {
				t.Fatalf("a cookie led to %s, which has no share", r.body)
			}
		}
	})
}

func TestTheCookieIsSecureBehindAnHTTPSProxy(t *testing.T) {
	onEachEngine(t, func(t *testing.T, on engine) {
		https := func(r *http.Request) { r.Header.Set("X-Forwarded-Proto", "https") }
		for _, c := range []struct {
			trusted []netip.Prefix
			change  func(*http.Request)
			want    bool
		}{
			{[]netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}, https, true},
			{[]netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}, func(*http.Request) {}, false},
			{nil, https, false},
		} {
			w := newWorld(t, on, Config{Trusted: c.trusted})
			w.shop(api.StackExposure{Sticky: api.StickyClient})
			w.u.Entries = append(w.u.Entries, &api.CatalogEntry{AllocID: "web", Namespace: "dev", JobID: "web", Endpoints: []*api.Endpoint{
				{Route: route(host("web.test"), sticky("session")), Address: says(t, "web")},
			}})
			w.apply()
			for name, cookie := range map[string]string{"shop.test/": clientCookie, "web.test/": "session"} {
				field := cookieNamed(w.do(http.MethodGet, name, nil, c.change), cookie)
				if got := strings.HasSuffix(field, "; Secure"); field == "" || got != c.want {
					t.Errorf("trusted %v: %q, want secure %v", c.trusted, field, c.want)
				}
			}
		}
	})
}

// Without sticky, nothing binds a client, and it gets no cookie.
func TestAnExposureWithoutStickySetsNoCookie(t *testing.T) {
	onEachEngine(t, func(t *testing.T, on engine) {
		w := newWorld(t, on, Config{})
		w.shop(api.StackExposure{})
		w.moveTo(0.5)
		w.apply()
		seen := map[string]int{}
		for range 60 {
			r := w.do(http.MethodGet, "shop.test/", nil, withCookie("AAAAAAAAAAAAAAAAAAAAAA"))
			if field := cookieNamed(r, clientCookie); field != "" {
				t.Fatalf("Set-Cookie %s", field)
			}
			seen[r.body]++
		}
		if len(seen) != 2 {
			t.Errorf("a client that sends a cookie got only %v", seen)
		}
	})
}

// A route's session and a client's stack join: the stack comes first, then the session's instance in it.
func TestAStickyClientKeepsTheSessionsInstance(t *testing.T) {
	a, _ := stacked(0.5)
	for _, e := range a.table.find("inventory.example.com", "/", false).targets {
		e.route.Sticky = "session"
	}
	u := &api.CatalogUpdate{Index: 2}
	for _, e := range a.table.find("inventory.example.com", "/", false).targets {
		r := *e.route
		_, stack := splitJob(e.job)
		u.Entries = append(u.Entries, &api.CatalogEntry{AllocID: e.alloc, Namespace: "default", JobID: stack, Index: 9, Endpoints: []*api.Endpoint{
			{Route: &r, Address: e.address, Exposure: &api.StackExposure{Host: r.Host, Sticky: api.StickyClient}},
		}})
	}
	a.apply(u, time.Now())
	p := a.table.find("inventory.example.com", "/", false)
	if !p.byClient {
		t.Fatal("the pool does not bind clients")
	}
	for _, position := range []float64{0.1, 0.9} {
		first, _ := p.pickAt(position, "", nil, 0)
		for range 50 {
			if again, _ := p.pickAt(position, first.cookie(), nil, 0); again.instance != first.instance {
				t.Fatalf("position %v: a session moved from %s to %s", position, first.alloc, again.alloc)
			}
		}
		other, _ := p.pickAt(1-position, first.cookie(), nil, 0)
		if other.job == first.job {
			t.Errorf("position %v: a session cookie of %s took the client to that stack", 1-position, first.job)
		}
	}
}
