// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package control

import (
	"time"

	"github.com/reeve-run/reeve/internal/state"
)

// ExpiredTokenKept is how long a token is listed after it expired.
const ExpiredTokenKept = time.Hour

// tokens deletes expired tokens.
type tokens struct{}

// NewTokens returns the controller of tokens that expire. Its keys are accessor ids.
func NewTokens() Controller { return tokens{} }

func (tokens) Name() string { return "tokens" }

func (tokens) All(snap *state.Snapshot) (keys []string) {
	for t := range snap.ACLTokens("") {
		if t.ExpirationTime != nil {
			keys = append(keys, t.AccessorID)
		}
	}
	return keys
}

func (tokens) Touched(c *state.Change, add func(string)) {
	if t, ok := c.New.(*state.ACLToken); ok && t.ExpirationTime != nil {
		add(t.AccessorID)
	}
}

func (tokens) Act(snap *state.Snapshot, key string, now time.Time) ([]state.Command, time.Time) {
	t := snap.ACLToken(key)
	if t == nil || t.ExpirationTime == nil {
		return nil, time.Time{}
	}
	if end := t.ExpirationTime.Add(ExpiredTokenKept); now.Before(end) {
		return nil, end
	}
	return []state.Command{state.DeleteACLToken(key)}, time.Time{}
}
