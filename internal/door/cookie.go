// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package door

import (
	"net/http"
	"net/url"
	"strings"
)

// A Cookie holds a token for the requests of some paths.
type Cookie struct {
	Name   string
	Claims func(*url.URL) bool // reports whether the cookie counts for a path
}

// withCookie returns the request with the token of its cookie in a header, if the cookie counts
// and no header has a token. A browser attaches cookies to requests that any page makes, of every
// port of this machine too, and to links that a user follows. Therefore a cookie counts only if
// nothing says that another page than this agent's own made the request.
func (d *Door) withCookie(r *http.Request) *http.Request {
	if len(d.Cookies) == 0 || len(r.Header["Cookie"]) == 0 || hasToken(r.Header) {
		return r
	}
	for _, c := range d.Cookies {
		if !c.Claims(r.URL) {
			continue
		}
		for _, held := range r.CookiesNamed(c.Name) {
			if d.isAToken(held.Value) && sameOrigin(r) {
				with := *r
				with.Header = r.Header.Clone()
				with.Header.Set(tokenHeader, held.Value)
				return &with
			}
		}
	}
	return r
}

// isAToken reports whether a text is the agent's token or an operator's, or may be one that only
// a server can check.
func (d *Door) isAToken(s string) bool {
	switch {
	case s == "":
		return false
	case d.isAgentToken(s):
		return true
	case d.IsOperator == nil:
		return d.Peer != nil
	}
	return d.IsOperator(s)
}

// sameOrigin reports whether no page of another origin made a request, and no such page led to
// it. Programs that are no browsers say nothing about a page.
func sameOrigin(r *http.Request) bool {
	for _, name := range []string{"Origin", "Referer"} {
		for _, text := range r.Header.Values(name) {
			u, err := url.Parse(text)
			if err != nil || !strings.EqualFold(u.Host, r.Host) {
				return false
			}
		}
	}
	for _, site := range r.Header.Values("Sec-Fetch-Site") {
		if site != "same-origin" && site != "none" {
			return false
		}
	}
	return true
}

// stripCookies replaces the agent's token in cookies, so that the other agent sees that the
// caller has a cookie.
func (d *Door) stripCookies(h http.Header) {
	if d.Token == "" {
		return
	}
	lines := h["Cookie"]
	for i, line := range lines {
		lines[i] = strings.ReplaceAll(line, d.Token, "admitted")
	}
}
