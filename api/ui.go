// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package api

import "time"

// Lifetimes of sessions of the web UI.
const (
	UICodeTTL      = time.Minute    // of a code, until it is traded
	UISessionIdle  = 8 * time.Hour  // of a session that is not renewed
	UISessionLimit = 24 * time.Hour // of a session, however often it is renewed
)

// A UICode is traded once for a session of the web UI. `reeve ui` passes it to a browser, in whose
// history a secret would remain.
type UICode struct {
	Code       string // only the response to its creation contains it
	AccessorID string // of the session
	ExpiresAt  time.Time
}

// A UISessionRequest trades a code for a session.
type UISessionRequest struct{ Code string }

// A UISession is a session of the web UI: a token with the rights of the one that created it.
type UISession struct {
	Token *ACLToken // with its secret, except after a renewal
	// EndsAt is the time at which the session ends even if it is renewed. Token.ExpirationTime is the
	// time at which it ends unless it is renewed.
	EndsAt time.Time
}

// A UIConfig is what the web UI needs before a login. It contains nothing secret.
type UIConfig struct {
	ACL         bool                 // reports whether tokens decide about requests like this one
	Admitted    bool                 // reports whether this request may do more than log in
	AuthMethods []*ACLAuthMethodStub // logins by identity providers, by name
	Region      string
	Agent       string // name of the answering agent
	Version     string // of Reeve
	ReadOnly    bool   // reports whether the UI hides what changes anything
}

// UIRights are what a caller may do. The web UI disables what they lack; each request is authorized
// again.
type UIRights struct {
	Management bool     // everything; the other fields are empty
	Cluster    []string // capabilities of the cluster, and those that rules for some node pool or host volume grant
	// Namespaces has the capabilities by namespace, with those that rules for some variable of the
	// namespace grant. A namespace without any is missing.
	Namespaces map[string][]string
}
