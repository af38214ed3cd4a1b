// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package door

import (
	"crypto/subtle"
	"net/http"
	"strings"

	"github.com/reeve-run/reeve/internal/identity"
	"github.com/reeve-run/reeve/internal/pki"
)

// tokenHeader carries a token, as in Nomad's API; Authorization does too.
const tokenHeader = "X-Nomad-Token"

// hasToken reports whether the headers contain any token. Blanks are none: the next agent may not receive them.
func hasToken(h http.Header) bool {
	return strings.TrimSpace(h.Get(tokenHeader)) != "" || bearerToken(h) != ""
}

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

// user returns the accessor id of the user's token in the headers; "" if they contain none.
func (d *Door) user(h http.Header) string {
	if d.UserOf == nil {
		return ""
	}
	for _, token := range []string{h.Get(tokenHeader), bearerToken(h)} {
		if token != "" {
			if accessor := d.UserOf(token); accessor != "" {
				return accessor
			}
		}
	}
	return ""
}

func (d *Door) isAnonymous() bool { return d.AnonymousMay != nil && d.AnonymousMay() }

// HasToken reports whether a request has a token of any form, valid or not.
func HasToken(r *http.Request) bool { return hasToken(r.Header) }

// HasUserToken reports whether a request has a token in the form of a user's or a task's, valid or not.
func HasUserToken(r *http.Request) bool {
	for _, text := range []string{r.Header.Get(tokenHeader), bearerToken(r.Header)} {
		if token, err := pki.ParseToken(text); err == nil && token.Kind == pki.UserToken || identity.IsToken(text) {
			return true
		}
	}
	return false
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
