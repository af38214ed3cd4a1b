// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package door

import (
	"crypto/subtle"
	"net/http"
	"strings"
)

// tokenHeader carries a token, as in Nomad's API; Authorization does too.
const tokenHeader = "X-Nomad-Token"

// hasToken reports whether the headers contain any token.
func hasToken(h http.Header) bool { return h.Get(tokenHeader) != "" || bearerToken(h) != "" }

// hasAgentToken reports whether the headers contain the agent's token.
func (d *Door) hasAgentToken(h http.Header) bool {
	return d.isAgentToken(h.Get(tokenHeader)) || d.isAgentToken(bearerToken(h))
}

func (d *Door) isAgentToken(s string) bool {
	return d.Token != "" && subtle.ConstantTimeCompare([]byte(s), []byte(d.Token)) == 1
}

// hasOperatorToken reports whether the headers contain an operator's token.
func (d *Door) hasOperatorToken(h http.Header) bool {
	isOperator := func(s string) bool { return s != "" && d.IsOperator != nil && d.IsOperator(s) }
	return isOperator(h.Get(tokenHeader)) || isOperator(bearerToken(h))
}

func bearerToken(h http.Header) string {
	scheme, token, _ := strings.Cut(h.Get("Authorization"), " ")
	if !strings.EqualFold(scheme, "Bearer") {
		return ""
	}
	return strings.TrimSpace(token)
}

// Strip removes the agent's token from the headers of a request that is forwarded to another
// agent, which must not learn it.
func (d *Door) Strip(h http.Header) {
	if d.isAgentToken(h.Get(tokenHeader)) {
		h.Del(tokenHeader)
	}
	if d.isAgentToken(bearerToken(h)) {
		h.Del("Authorization")
	}
	d.stripCookies(h)
}
