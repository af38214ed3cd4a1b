// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package api

import "time"

// Lifetimes of introduction tokens.
const (
	IntroductionTTL    = 5 * time.Minute // unless a request names another one
	MaxIntroductionTTL = 30 * time.Minute
)

// An IntroductionRequest asks for a token with which a machine joins as a node of one pool.
type IntroductionRequest struct {
	TTL      time.Duration // 0: IntroductionTTL
	NodeName string        // name that the node must have; "": its own
	NodePool string        // pool that the node is in; "": "default"
	// Once limits a token without a name to one machine. A token with a name always is for one.
	Once bool `json:",omitempty"`
}

// An IntroductionResponse contains an introduction token. Nomad's clients know the field as JWT;
// the token has the form of the other join tokens.
type IntroductionResponse struct {
	JWT string
}

// A NodeIntroduction is what binds a node that joined with an introduction token.
type NodeIntroduction struct {
	TokenID  string // of the token, as in the log of the servers
	NodePool string
	NodeName string `json:",omitempty"` // "": the node chooses its name
	Time     int64  // at which the node joined: Unix time in nanoseconds
}
