// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package nelson

import (
	"net/http"
	"strings"
	"time"

	"github.com/reeve-run/reeve/api"
)

// SessionCookie is the name of the cookie that holds the token of a session.
const SessionCookie = "nelson.session"

const (
	// sessionTime is the validity that clients see. Nelson's command line renews an expired session at
	// a wrong address, so servers end sessions instead.
	sessionTime = 10 * 365 * 24 * time.Hour
	maxToken    = 4096
)

// token returns the token of the session's cookie, or "".
func (q *request) token() string {
	c, err := q.r.Cookie(SessionCookie)
	if err != nil || len(c.Value) > maxToken {
		return ""
	}
	return c.Value
}

// login makes a session of a token. The client takes every JSON answer for a success, so
// refusals are text.
func login(q *request) error {
	var body struct {
		AccessToken string `json:"access_token"`
	}
	if err := q.decode(&body); err != nil {
		return failf(http.StatusBadRequest, "log in: the body must be {\"access_token\": \"TOKEN\"}")
	}
	switch {
	case body.AccessToken == "":
		return failf(http.StatusUnauthorized, "log in: the access token is empty; give one with: nelson login -t TOKEN HOST:PORT%s", prefix)
	case len(body.AccessToken) > maxToken || strings.ContainsFunc(body.AccessToken, isForbiddenInCookies):
		return failf(http.StatusUnauthorized, "log in: the access token must be at most %d characters that cookies may have: letters, digits and most punctuation", maxToken)
	}
	return q.json(http.StatusOK, struct {
		SessionToken string `json:"session_token"`
		ExpiresAt    int64  `json:"expires_at"`
	}{body.AccessToken, q.now().Add(sessionTime).UnixMilli()})
}

func isForbiddenInCookies(r rune) bool {
	return r <= ' ' || r >= 0x7f || strings.ContainsRune("\",;\\", r)
}

func logout(q *request) error {
	http.SetCookie(q.w, &http.Cookie{Name: SessionCookie, Path: prefix, MaxAge: -1, HttpOnly: true, SameSite: http.SameSiteStrictMode})
	return done(q)
}

func getSession(q *request) error {
	type user struct {
		Login  string `json:"login"`
		Name   string `json:"name"`
		Avatar string `json:"avatar"`
	}
	return q.json(http.StatusOK, struct {
		User user `json:"user"`
	}{user{Login: "operator", Name: "Operator with a token"}})
}

func getBuildInfo(q *request) error {
	type build struct {
		Name        string `json:"name"`
		Version     string `json:"version"`
		GitRevision string `json:"git_revision"`
	}
	return q.json(http.StatusOK, struct {
		BuildInfo build  `json:"build_info"`
		Banner    string `json:"banner"`
	}{build{Name: "reeve", Version: q.version}, "Reeve " + q.version})
}

// A policy is a retention policy as Nelson lists it.
type policy struct {
	Policy      string `json:"policy"`
	Description string `json:"description"`
}

func listPolicies(q *request) error {
	return q.json(http.StatusOK, []policy{
		{api.RetainActive, "retains stacks with callers, and the current target of a major version for its idle time"},
		{api.RetainLatest, "retains the newest version"},
		{api.RetainTwoMajor, "retains the newest version of the two newest major versions"},
		{api.RetainTwoFeature, "retains the newest patch of the two newest feature versions"},
		{api.RetainUntilDeprecated, "retains every version until it is deprecated"},
		{api.RetainAlways, "retains every version"},
	})
}
