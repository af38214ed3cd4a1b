// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package door

import (
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const operators = "the-token-of-an-operator"

// cookieDoor returns a door that trusts no user.
func cookieDoor(t *testing.T) *Door {
	t.Helper()
	d, err := New(Config{
		Token: secret, TokenFile: "/data/agent.token",
		Identify:   func(_, _ netip.AddrPort) (Process, error) { return Process{UID: 4242424}, nil },
		IsOperator: func(token string) bool { return token == operators },
		Cookies: []Cookie{{
			Name:   "session",
			Claims: func(u *url.URL) bool { return strings.HasPrefix(u.EscapedPath(), "/below/") },
		}},
	})
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// TestACookieNeverAdmitsARequestOfAnotherSite sends what a browser sends with the agent's cookie when a page attacks it.
func TestACookieNeverAdmitsARequestOfAnotherSite(t *testing.T) {
	d := cookieDoor(t)
	right := []string{"Cookie", "session=" + secret}
	for _, test := range []struct {
		name         string
		method, path string
		header       []string
		want         bool
	}{
		{"a program", "POST", "/below/x", right, true},
		{"a program after other cookies", "GET", "/below/x", []string{"Cookie", "a=b; session=wrong; session=" + secret}, true},
		{"the agent's own page", "POST", "/below/x", append([]string{"Origin", "http://localhost:4646", "Sec-Fetch-Site", "same-origin", "Referer", "http://localhost:4646/below/"}, right...), true},
		{"an address that a user typed", "GET", "/below/x", append([]string{"Sec-Fetch-Site", "none", "Sec-Fetch-Mode", "navigate"}, right...), true},

		{"no cookie", "GET", "/below/x", nil, false},
		{"another path", "GET", "/v1/jobs", right, false},
		{"a path that is below only after cleaning", "GET", "/v1/../below/x", right, false},
		{"another name", "GET", "/below/x", []string{"Cookie", "sessions=" + secret}, false},
		{"a part of the token", "GET", "/below/x", []string{"Cookie", "session=" + secret[1:]}, false},
		{"an empty token", "GET", "/below/x", []string{"Cookie", "session="}, false},

		{"a form of another site", "POST", "/below/x", append([]string{"Origin", "https://evil.example", "Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "navigate"}, right...), false},
		{"a form in an old browser", "POST", "/below/x", append([]string{"Origin", "https://evil.example"}, right...), false},
		{"a form in a sandbox", "POST", "/below/x", append([]string{"Origin", "null"}, right...), false},
		{"a script of another site", "GET", "/below/x", append([]string{"Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "no-cors"}, right...), false},
		{"an image in an old browser", "GET", "/below/x", append([]string{"Referer", "https://evil.example/page"}, right...), false},
		{"a page on another port of this machine", "GET", "/below/x", append([]string{"Sec-Fetch-Site", "same-site"}, right...), false},
		{"a script on another port of this machine", "POST", "/below/x", append([]string{"Origin", "http://localhost:3000", "Sec-Fetch-Site", "same-site"}, right...), false},
		{"a followed link", "GET", "/below/x", append([]string{"Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "navigate"}, right...), false},
		{"a followed link on this machine", "GET", "/below/x", append([]string{"Sec-Fetch-Site", "same-site", "Sec-Fetch-Mode", "navigate"}, right...), false},
		{"an unknown site", "GET", "/below/x", append([]string{"Sec-Fetch-Site", "future"}, right...), false},
		{"a second origin", "POST", "/below/x", append([]string{"Origin", "http://localhost:4646", "Origin", "https://evil.example"}, right...), false},
	} {
		r := httptest.NewRequest(test.method, "http://localhost:4646"+test.path, nil)
		for i := 0; i+1 < len(test.header); i += 2 {
			r.Header.Add(test.header[i], test.header[i+1])
		}
		if c, err := d.Caller(r); (err == nil) != test.want || test.want && c.Kind != Local {
			t.Errorf("%s: %s, %v; want admitted: %v", test.name, c, err, test.want)
		}
		for i, text := range r.Header["Cookie"] {
			r.Header["Cookie"][i] = strings.ReplaceAll(text, secret, operators)
		}
		if c, err := d.Caller(r); (err == nil) != test.want || test.want && c.Kind != Operator {
			t.Errorf("%s, with the token of an operator: %s, %v; want admitted: %v", test.name, c, err, test.want)
		}
	}
}

// TestACookieDoesNotReplaceTheCheckOfTheHost has a site resolve its name to the agent's address.
func TestACookieDoesNotReplaceTheCheckOfTheHost(t *testing.T) {
	d := cookieDoor(t)
	r := httptest.NewRequest(http.MethodPost, "http://evil.example/below/x", nil)
	r.Header.Set("Cookie", "session="+secret)
	r.Header.Set("Origin", "http://evil.example")
	r.Header.Set("Sec-Fetch-Site", "same-origin")
	if err := d.CheckSite(r); err == nil {
		t.Error("a request for another host passes the check of the site")
	}
}

func TestTheTokenInACookieIsNotPassedOn(t *testing.T) {
	d := cookieDoor(t)
	h := http.Header{"Cookie": {"a=b; session=" + secret, "session=\"" + secret + "\"; c=d"}}
	d.Strip(h)
	if diff := cmp.Diff(http.Header{"Cookie": {"a=b; session=admitted", "session=\"admitted\"; c=d"}}, h); diff != "" {
		t.Errorf("headers (-want +got):\n%s", diff)
	}
}

// TestACookieDoesNotHideAToken sends a cookie beside a token in a header: the header decides.
func TestACookieDoesNotHideAToken(t *testing.T) {
	d := cookieDoor(t)
	r := httptest.NewRequest(http.MethodGet, "http://localhost:4646/below/x", nil)
	r.Header.Set("Cookie", "session="+secret)
	r.Header.Set("X-Nomad-Token", "wrong")
	if c, err := d.Caller(r); err == nil {
		t.Errorf("a wrong token with a right cookie: %s; want it rejected", c)
	}
	if r.Header.Del("X-Nomad-Token"); r.Header.Get("X-Nomad-Token") != "" {
		t.Fatal("the header is still there")
	}
	if _, err := d.Caller(r); err != nil || len(r.Header["X-Nomad-Token"]) > 0 {
		t.Errorf("%v, header %v; want the cookie to count and the request unchanged", err, r.Header)
	}
}
