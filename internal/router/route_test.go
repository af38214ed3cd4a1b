// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package router

import (
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/reeve-run/reeve/api"
)

func TestRequestsGoByHostAndThenByTheLongestPath(t *testing.T) {
	onEachEngine(t, testRequestsGoByHostAndThenByTheLongestPath)
}

func testRequestsGoByHostAndThenByTheLongestPath(t *testing.T, on engine) {
	r := on.start(t, Config{})
	for name, to := range map[string]*api.Route{
		"any":         route(),
		"any/special": route(path("/special")),
		"site":        route(host("example.com")),
		"api":         route(host("example.com"), path("/api")),
		"v2":          route(host("example.com"), path("/api/v2/")),
		"below":       route(host("*.example.com")),
		"below/deep":  route(host("*.example.com"), path("/deep")),
	} {
		r.add(name, says(t, name), to)
	}
	for ask, want := range map[string]string{
		"example.com/":                "site",
		"example.com":                 "site",
		"EXAMPLE.com:8080/":           "site",
		"example.com./":               "site",
		"example.com/api":             "api",
		"example.com/api/":            "api",
		"example.com/api/x?y=/api/v2": "api",
		"example.com/apis":            "site",
		"example.com/api/v2":          "v2",
		"example.com/api/v2/x/y":      "v2",
		"example.com/%61pi/x":         "api",
		"example.com/x/../api/x":      "api",
		"example.com/api/%2e%2e/x":    "site",
		"example.com/api%2Fv2":        "site",
		"example.com/special":         "site",
		"a.example.com/":              "below",
		"a.example.com/deep/er":       "below/deep",
		"a.b.example.com/":            "any",
		"other.org/special/x":         "any/special",
		"127.0.0.1/":                  "any",
		"[::1]:80/":                   "any",
	} {
		name, rest, _ := strings.Cut(ask, "/")
		l := r.dial()
		l.send("GET /%s HTTP/1.1\r\nHost: %s\r\nConnection: close\r\n\r\n", rest, name)
		if a := l.read("GET"); a.status != 200 || a.body != want {
			t.Errorf("%s: %d %q, want %q", ask, a.status, a.body, want)
		}
	}
}

func TestTheInstanceSeesThePathThatWasMatched(t *testing.T) {
	onEachEngine(t, testTheInstanceSeesThePathThatWasMatched)
}

func testTheInstanceSeesThePathThatWasMatched(t *testing.T, on engine) {
	r := on.start(t, Config{})
	seen := serve(t, func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprintf(w, "%s prefix=%s", r.RequestURI, r.Header.Get("X-Forwarded-Prefix"))
	})
	r.add("plain", seen, route(host("plain")), route(host("plain"), path("/p")))
	r.add("strip", seen, route(host("strip"), path("/api"), strip))
	for ask, want := range map[string]string{
		"plain/p/x?a=%20b":    "/p/x?a=%20b prefix=",
		"plain/p/../q":        "/q prefix=",
		"plain/a%2fb%7e":      "/a%2fb~ prefix=",
		"strip/api":           "/ prefix=/api",
		"strip/api/":          "/ prefix=/api",
		"strip/api/x//y?z":    "/x//y?z prefix=/api",
		"strip/api?q":         "/?q prefix=/api",
		"strip/api/../api/x":  "/x prefix=/api",
		"strip/api/%2e%2e/..": "404",
	} {
		name, rest, _ := strings.Cut(ask, "/")
		l := r.dial()
		l.send("GET /%s HTTP/1.1\r\nHost: %s\r\nConnection: close\r\n\r\n", rest, name)
		a := l.read("GET")
		if got := a.body; got != want && !(want == "404" && a.status == 404) {
			t.Errorf("%s: the instance saw %q, want %q", ask, got, want)
		}
	}
}

func TestARequestWithoutRouteOrInstanceIsAnsweredWithTheReason(t *testing.T) {
	onEachEngine(t, testARequestWithoutRouteOrInstanceIsAnsweredWithTheReason)
}

func testARequestWithoutRouteOrInstanceIsAnsweredWithTheReason(t *testing.T, on engine) {
	r := on.start(t, Config{})
	id := func(q *http.Request) { q.Header.Set("X-Request-Id", "name-1") }
	a := r.do("GET", "nobody.org/x", nil, id)
	if a.status != 404 || a.header.Get("X-Request-Id") != "name-1" ||
		a.body != "404 Not Found: no route leads from host \"nobody.org\" and path \"/x\" to a job\nrequest id: name-1\n" {
		t.Errorf("no route: %d %v %q", a.status, a.header, a.body)
	}
	r.add("one", says(t, "one"), route(host("some.org")))
	if code, _ := r.get("some.org/"); code != 200 {
		t.Fatalf("with an instance: %d", code)
	}
	r.remove("one")
	a = r.do("GET", "some.org/", nil, id)
	if a.status != 503 || !strings.Contains(a.body, "no instance of host \"some.org\", path \"/\" can take traffic: the last one left 0s ago") || a.header.Get("Retry-After") != "1" {
		t.Errorf("no instance: %d %v %q", a.status, a.header, a.body)
	}
	r.tidy(time.Now().Add(remembered))
	if a = r.do("GET", "some.org/", nil); a.status != 404 {
		t.Errorf("long after the last instance left: %d %q", a.status, a.body)
	}
	r.add("gone", unused(t), route(host("gone.org")))
	a = r.do("POST", "gone.org/", strings.NewReader("x"), id)
	if a.status != 502 || !strings.Contains(a.body, "took no connection: connection refused") {
		t.Errorf("an instance that does not listen: %d %q", a.status, a.body)
	}
	want := &api.RouterRoute{Protocol: "http", Host: "gone.org", Path: "/", Jobs: []string{"default/web"}, Requests: 1, Unserved: 1, BytesIn: 1,
		Responses: map[string]uint64{"5xx": 1}}
	var got *api.RouterRoute
	eventually(t, "the request is counted, which is after its answer", func() bool {
		routes := r.Status().Routes
		got = routes[slices.IndexFunc(routes, func(r *api.RouterRoute) bool { return r.Host == "gone.org" })]
		return got.Requests > 0
	})
	got.Instances, got.Latency, want.BytesOut = nil, nil, got.BytesOut
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("what is counted (-want +got):\n%s", diff)
	}
}

func TestWeightsAreKept(t *testing.T) { onEachEngine(t, testWeightsAreKept) }

func testWeightsAreKept(t *testing.T, on engine) {
	r := on.start(t, Config{})
	r.add("a", says(t, "a"), route(weight(3)))
	r.add("b", says(t, "b"), route(weight(1)))
	r.add("c", says(t, "c"), route(weight(0)))
	n := map[string]int{}
	l := r.dial()
	for range 800 {
		l.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n")
		n[l.read("GET").body]++
	}
	if n["c"] != 0 || n["a"] < 520 || n["a"] > 680 || n["a"]+n["b"] != 800 {
		t.Errorf("800 requests by weights 3, 1 and 0 went to %v", n)
	}
	r.add("a", says(t, "a"), route(weight(0)))
	r.add("b", says(t, "b"), route(weight(0)))
	if code, body := r.get("x/"); code != 503 || !strings.Contains(body, "weight 0") {
		t.Errorf("with weights 0 alone: %d %q", code, body)
	}
}

func TestTheInstanceWithLessToDoIsPicked(t *testing.T) {
	onEachEngine(t, testTheInstanceWithLessToDoIsPicked)
}

func testTheInstanceWithLessToDoIsPicked(t *testing.T, on engine) {
	r := on.start(t, Config{})
	hold := make(chan struct{})
	slow := serve(t, func(w http.ResponseWriter, r *http.Request) {
		<-hold
		io.WriteString(w, "slow")
	})
	defer close(hold)
	r.add("slow", slow, route())
	l := r.dial()
	l.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n")
	eventually(t, "the slow instance has a request", func() bool { return r.Status().Routes[0].Instances[0].Outstanding == 1 })
	r.add("quick", says(t, "quick"), route())
	// Chance draws the slow one twice in a row every fourth time.
	hits := 0
	p := r.table.Load().find("x", "/", false)
	for range 1000 {
		if got, _ := p.pick("", nil, 0); got.alloc == "slow" {
			hits++
		}
	}
	if hits < 150 || hits > 350 {
		t.Errorf("an instance with a request under way, beside an idle one, is picked %d of 1000 times, want about 250", hits)
	}
}

func TestWhereARequestCameFromIsPassedOn(t *testing.T) {
	onEachEngine(t, testWhereARequestCameFromIsPassedOn)
}

func testWhereARequestCameFromIsPassedOn(t *testing.T, on engine) {
	r := on.start(t, Config{})
	r.add("one", serve(t, func(w http.ResponseWriter, r *http.Request) {
		for _, name := range []string{"X-Forwarded-For", "X-Forwarded-Proto", "X-Forwarded-Host", "X-Forwarded-Port", "X-Real-Ip", "Forwarded", "X-Request-Id",
			"Keep-Alive", "X-Hop", "Connection", "Te", "Upgrade", "Proxy-Authorization"} {
			if v := r.Header.Values(name); len(v) > 0 {
				fmt.Fprintf(w, "%s: %s\n", name, strings.Join(v, " | "))
			}
		}
	}), route())
	lies := "X-Forwarded-For: 6.6.6.6\r\nX-Forwarded-Host: evil\r\nX-Forwarded-Proto: https\r\nX-Real-IP: 6.6.6.6\r\nX-Forwarded-Port: 1\r\nForwarded: for=6.6.6.6\r\n"
	hops := "X-Request-Id: name\r\nKeep-Alive: 5\r\nX-Hop: 1\r\nConnection: keep-alive, x-hop, host, X-Forwarded-For\r\nTE: trailers, gzip\r\nUpgrade: x\r\nProxy-Authorization: secret\r\n"
	l := r.dial()
	l.send("%s", "GET / HTTP/1.1\r\nHost: web.org:80\r\n"+lies+hops+"\r\n")
	want := "X-Forwarded-For: 127.0.0.1\nX-Forwarded-Proto: http\nX-Forwarded-Host: web.org:80\n" +
		"Forwarded: for=127.0.0.1;host=\"web.org:80\";proto=http\nX-Request-Id: name\nTe: trailers\n"
	if diff := cmp.Diff(want, l.read("GET").body); diff != "" {
		t.Errorf("from anybody (-want +got):\n%s", diff)
	}

	trusting := on.start(t, Config{Trusted: prefixes(t, "127.0.0.0/8")})
	trusting.add("one", r.applier.entries["one"].targets[poolKey{}][0].address, route())
	l = trusting.dial()
	l.send("%s", "GET / HTTP/1.1\r\nHost: web.org:80\r\n"+lies+hops+"\r\n")
	want = "X-Forwarded-For: 6.6.6.6, 127.0.0.1\nX-Forwarded-Proto: https\nX-Forwarded-Host: evil\nX-Forwarded-Port: 1\nX-Real-Ip: 6.6.6.6\n" +
		"Forwarded: for=6.6.6.6 | for=127.0.0.1;host=\"web.org:80\";proto=http\nX-Request-Id: name\nTe: trailers\n"
	if diff := cmp.Diff(want, l.read("GET").body); diff != "" {
		t.Errorf("from a trusted proxy (-want +got):\n%s", diff)
	}
}

func TestASessionStaysWithItsInstance(t *testing.T) {
	onEachEngine(t, testASessionStaysWithItsInstance)
}

func testASessionStaysWithItsInstance(t *testing.T, on engine) {
	r := on.start(t, Config{})
	for _, name := range []string{"a", "b", "c"} {
		r.add(name, says(t, name), route(path("/shop"), sticky("place")))
	}
	first := r.do("GET", "x/shop", nil)
	cookie := first.header.Get("Set-Cookie")
	value, rest, _ := strings.Cut(cookie, ";")
	if !strings.HasPrefix(value, "place=") || rest != " Path=/shop; HttpOnly; SameSite=Lax" || strings.Contains(value, first.body+"\x00") {
		t.Fatalf("the first answer sets the cookie %q", cookie)
	}
	with := func(q *http.Request) { q.Header.Set("Cookie", "other=1; "+value) }
	for range 20 {
		if a := r.do("GET", "x/shop", nil, with); a.body != first.body || a.header.Get("Set-Cookie") != "" {
			t.Fatalf("with the cookie of %q: %q, set-cookie %q", first.body, a.body, a.header.Get("Set-Cookie"))
		}
	}
	r.remove(first.body)
	moved := r.do("GET", "x/shop", nil, with)
	if moved.status != 200 || moved.body == first.body || !strings.HasPrefix(moved.header.Get("Set-Cookie"), "place=") {
		t.Errorf("when the instance left: %d %q, set-cookie %q", moved.status, moved.body, moved.header.Get("Set-Cookie"))
	}
	if a := r.do("GET", "x/shop", nil, func(q *http.Request) { q.Header.Set("Cookie", "place=forged") }); a.status != 200 || a.header.Get("Set-Cookie") == "" {
		t.Errorf("with a forged cookie: %d, set-cookie %q", a.status, a.header.Get("Set-Cookie"))
	}
}
