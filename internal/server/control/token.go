// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package control

import (
	"time"

	"github.com/reeve-run/reeve/internal/state"
)

// ExpiredTokenKept is how long a token is listed after it expired, unless it is a session of the web UI.
const ExpiredTokenKept = time.Hour

// tokens deletes expired tokens, one-time tokens, and tokens whose creator was deleted: they have no rights
// since then.
type tokens struct{}

// NewTokens returns the controller of tokens that expire, and of one-time tokens. Its keys are
// accessor ids: a one-time token has that of the token for which it stands, and a token that another one
// created also that of its creator.
func NewTokens() Controller { return tokens{} }

func (tokens) Name() string { return "tokens" }

func (tokens) All(snap *state.Snapshot) (keys []string) {
	for t := range snap.ACLTokens("") {
		if t.ExpirationTime != nil || snap.OneTimeToken(t.AccessorID) != nil {
			keys = append(keys, t.AccessorID)
		}
		if t.Creator != "" && snap.ACLToken(t.Creator) == nil {
			keys = append(keys, t.Creator)
		}
	}
	for o := range snap.OneTimeTokens() {
		if snap.ACLToken(o.AccessorID) == nil {
			keys = append(keys, o.AccessorID)
		}
	}
	return keys
}

func (tokens) Touched(c *state.Change, add func(string)) {
	if deleted, ok := c.Old.(*state.ACLToken); ok && c.New == nil {
		add(deleted.AccessorID)
	}
	switch object := c.New.(type) {
	case *state.ACLToken:
		if object.ExpirationTime != nil {
			add(object.AccessorID)
		}
	case *state.OneTimeToken:
		add(object.AccessorID)
	}
}

func (tokens) Act(snap *state.Snapshot, key string, now time.Time) (commands []state.Command, wake time.Time) {
	at := func(end time.Time, delete state.Command) {
		switch {
		case !now.Before(end):
			commands = append(commands, delete)
		case wake.IsZero() || end.Before(wake):
			wake = end
		}
	}
	if snap.ACLToken(key) == nil {
		for t := range snap.ACLTokensBy(key) {
			commands = append(commands, state.DeleteACLToken(t.AccessorID))
		}
	}
	if t := snap.ACLToken(key); t != nil && t.ExpirationTime != nil {
		kept := ExpiredTokenKept
		if t.Session {
			kept = 0 // a token has a maximum of sessions
		}
		at(t.ExpirationTime.Add(kept), state.DeleteACLToken(key))
	}
	if o := snap.OneTimeToken(key); o != nil {
		at(o.ExpiresAt, state.DeleteOneTimeToken(key, o.ModifyIndex))
	}
	return commands, wake
}
