// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package server

import (
	"context"
	"crypto/rand"
	"slices"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/pki"
	"github.com/reeve-run/reeve/internal/state"
)

// One-time tokens.
//
// Servers store hashes of secrets, so an exchange cannot return the secret with which a token was
// created. It gives the token one more secret instead. Accessor id, rights and end are those of the
// token: its deletion ends all secrets.

// furtherSecrets bounds the secrets that exchanges give to a token. One more exchange invalidates the
// oldest.
const furtherSecrets = 8

// longestSecret bounds the secret of a request, in bytes.
const longestSecret = 256

// CreateOneTimeToken creates a one-time token for the token of an accessor id, and invalidates the
// earlier one. Only the result contains its secret.
func (s *Server) CreateOneTimeToken(ctx context.Context, accessor string) (*api.OneTimeToken, uint64, error) {
	secret := rand.Text()
	hash := pki.HashToken(secret)
	expires := time.Now().UTC().Add(api.OneTimeTokenTTL)
	stored := &state.OneTimeToken{OneTimeToken: api.OneTimeToken{AccessorID: accessor, ExpiresAt: expires}, Hash: hash[:]}
	index, err := s.propose(ctx, state.PutOneTimeToken(stored))
	if err != nil {
		return nil, 0, err
	}
	created := stored.OneTimeToken
	created.OneTimeSecretID, created.CreateIndex, created.ModifyIndex = secret, index, index
	return &created, index, nil
}

var errOneTimeToken = api.Errorf(api.CodeForbidden, "the one-time token is not valid: it was used, has expired after %s, or was replaced by a newer one; create another one", api.OneTimeTokenTTL)

// ExchangeOneTimeToken returns the token for which a one-time token stands, with a new secret. The log
// decides which of several exchanges succeeds: the one that deletes the one-time token.
func (s *Server) ExchangeOneTimeToken(ctx context.Context, secret string) (*api.ACLToken, uint64, error) {
	switch {
	case secret == "":
		return nil, 0, api.Errorf(api.CodeInvalid, "OneTimeSecretID: is missing; set it to the secret of a one-time token")
	case len(secret) > longestSecret:
		return nil, 0, errOneTimeToken
	}
	once := s.store.Snapshot().OneTimeTokenOf(pki.HashToken(secret))
	if once == nil || !time.Now().Before(once.ExpiresAt) || s.isSession(once.AccessorID) {
		return nil, 0, errOneTimeToken
	}
	return s.redeem(ctx, once)
}

// redeem uses up a one-time token, which another exchange may do at the same time.
func (s *Server) redeem(ctx context.Context, once *state.OneTimeToken) (*api.ACLToken, uint64, error) {
	_, err := s.propose(ctx, state.DeleteOneTimeToken(once.AccessorID, once.ModifyIndex))
	switch api.CodeOf(err) {
	case "":
	case api.CodeNotFound, api.CodeConflict:
		return nil, 0, errOneTimeToken
	default:
		return nil, 0, err
	}
	return s.addSecret(ctx, once.AccessorID)
}

// addSecret gives a token one more secret, and tries again if another change of the token comes first.
func (s *Server) addSecret(ctx context.Context, accessor string) (*api.ACLToken, uint64, error) {
	for attempt := 1; ; attempt++ {
		v := s.store.Snapshot()
		stored := v.ACLToken(accessor)
		if stored == nil || stored.IsExpired(time.Now()) {
			return nil, 0, api.Errorf(api.CodeForbidden, "the token for which the one-time token stands was deleted, or has expired: log in again")
		}
		secret, err := s.newSecret(v)
		if err != nil {
			return nil, 0, err
		}
		hash := pki.HashToken(secret)
		changed := *stored
		changed.Further = append(slices.Clone(stored.Further[max(0, len(stored.Further)-furtherSecrets+1):]), hash[:])
		index, err := s.propose(ctx, state.PutACLToken(&changed, &stored.ModifyIndex))
		if err == nil {
			token := changed.ACLToken
			token.SecretID, token.ModifyIndex = secret, index
			return &token, index, nil
		}
		if api.CodeOf(err) != api.CodeConflict || attempt == changeAttempts {
			return nil, 0, err
		}
	}
}
