// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package server

import (
	"context"
	"crypto/rand"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/pki"
	"github.com/reeve-run/reeve/internal/state"
)

// Sessions of the web UI.
//
// A session is a token of its own with a short life. It has the rights that its creator has at each
// request, and ends with it. A code is a one-time token for the session. Both are in the state, which holds
// hashes only, so any server can trade a code, also after the leader changed. Until the trade nobody knows
// a secret of the session, and it expires with the code.

var errUICode = api.Errorf(api.CodeForbidden, "the code is not valid: it was used, or has expired after %s; run `reeve ui` again", api.UICodeTTL)

// CreateUICode creates a session for the token of an accessor id, and a code for it. Without an accessor, it
// is one of an operator. Only the result contains the code.
func (s *Server) CreateUICode(ctx context.Context, accessor string) (*api.UICode, uint64, error) {
	v, now := s.store.Snapshot(), time.Now().UTC()
	expires := now.Add(api.UICodeTTL)
	session := &state.ACLToken{Session: true, Hash: unknownSecret(), ACLToken: api.ACLToken{
		AccessorID: api.NewID(), Name: "web UI of an operator", Type: api.ACLTokenManagement, CreateTime: now, ExpirationTime: &expires,
	}}
	if accessor != "" {
		creator := v.ACLToken(accessor)
		switch {
		case creator == nil || creator.IsExpired(now):
			return nil, 0, api.Errorf(api.CodeForbidden, "the token was deleted, or has expired: log in again")
		case creator.Session:
			return nil, 0, api.Errorf(api.CodeForbidden, "a session of the web UI cannot create another one: run `reeve ui` with the token of a login")
		}
		session.Creator, session.Type, session.Name = accessor, creator.Type, sessionName(creator.Name)
	}
	if _, err := s.propose(ctx, state.PutACLToken(session, new(uint64))); err != nil {
		return nil, 0, err
	}
	code := rand.Text()
	hash := pki.HashToken(code)
	once := &state.OneTimeToken{OneTimeToken: api.OneTimeToken{AccessorID: session.AccessorID, ExpiresAt: expires}, Hash: hash[:]}
	index, err := s.propose(ctx, state.PutOneTimeToken(once))
	if err != nil {
		return nil, 0, err
	}
	return &api.UICode{Code: code, AccessorID: session.AccessorID, ExpiresAt: expires}, index, nil
}

// unknownSecret returns the hash of a secret that is thrown away.
func unknownSecret() []byte {
	hash := pki.HashToken(rand.Text())
	return hash[:]
}

// sessionName names a session after its creator.
func sessionName(creator string) string {
	if creator == "" {
		return "web UI"
	}
	name := []rune("web UI of " + creator)
	return string(name[:min(len(name), 200)])
}

// isSession reports whether the token of an accessor id is a session of the web UI.
func (s *Server) isSession(accessor string) bool {
	t := s.store.Snapshot().ACLToken(accessor)
	return t != nil && t.Session
}

// TradeUICode returns the session of a code, with its secret. The log decides which of several trades
// succeeds: the one that deletes the code.
func (s *Server) TradeUICode(ctx context.Context, code string) (*api.UISession, uint64, error) {
	switch {
	case code == "":
		return nil, 0, api.Errorf(api.CodeInvalid, "Code: is missing; set it to a code of `reeve ui`")
	case len(code) > longestSecret:
		return nil, 0, errUICode
	}
	once := s.store.Snapshot().OneTimeTokenOf(pki.HashToken(code))
	if once == nil || !time.Now().Before(once.ExpiresAt) || !s.isSession(once.AccessorID) {
		return nil, 0, errUICode
	}
	return s.tradeFound(ctx, once)
}

// tradeFound uses up a code, which another trade may do at the same time.
func (s *Server) tradeFound(ctx context.Context, once *state.OneTimeToken) (*api.UISession, uint64, error) {
	_, err := s.propose(ctx, state.DeleteOneTimeToken(once.AccessorID, once.ModifyIndex))
	switch api.CodeOf(err) {
	case "":
	case api.CodeNotFound, api.CodeConflict:
		return nil, 0, errUICode
	default:
		return nil, 0, err
	}
	secret, err := s.newSecret(s.store.Snapshot())
	if err != nil {
		return nil, 0, err
	}
	hash := pki.HashToken(secret)
	session, index, err := s.extendSession(ctx, once.AccessorID, hash[:])
	if err != nil {
		return nil, 0, err
	}
	session.Token.SecretID = secret
	return session, index, nil
}

// RenewUISession extends the session of an accessor id. The UI renews it while its user is active.
func (s *Server) RenewUISession(ctx context.Context, accessor string) (*api.UISession, uint64, error) {
	return s.extendSession(ctx, accessor, nil)
}

// extendSession extends the life of a session, and gives it a secret unless hash is nil. It tries again if
// another change of the session comes first.
func (s *Server) extendSession(ctx context.Context, accessor string, hash []byte) (*api.UISession, uint64, error) {
	for attempt := 1; ; attempt++ {
		v, now := s.store.Snapshot(), time.Now().UTC()
		stored := v.ACLToken(accessor)
		switch {
		case stored == nil || stored.IsExpired(now):
			return nil, 0, api.Errorf(api.CodeForbidden, "the session has ended, or the token that created it was deleted: run `reeve ui` again")
		case !stored.Session:
			return nil, 0, api.Errorf(api.CodeInvalid, "the token is not a session of the web UI, and is not renewed; create a session with `reeve ui`")
		}
		changed := *stored
		ends := endOfSession(v, stored)
		expires := now.Add(api.UISessionIdle)
		if expires.After(ends) {
			expires = ends
		}
		changed.ExpirationTime = &expires
		if hash != nil {
			changed.Hash = hash
		}
		index, err := s.propose(ctx, state.PutACLToken(&changed, &stored.ModifyIndex))
		if err == nil {
			token := changed.ACLToken
			token.ModifyIndex = index
			return &api.UISession{Token: &token, EndsAt: ends}, index, nil
		}
		if api.CodeOf(err) != api.CodeConflict || attempt == changeAttempts {
			return nil, 0, err
		}
	}
}

// endOfSession returns the time at which a session ends even if it is renewed.
func endOfSession(v *state.Snapshot, t *state.ACLToken) time.Time {
	ends := t.CreateTime.Add(api.UISessionLimit)
	if creator := v.ACLToken(t.Creator); creator != nil && creator.ExpirationTime != nil && creator.ExpirationTime.Before(ends) {
		return *creator.ExpirationTime
	}
	return ends
}

// rightsOfSession completes the rights of a session with those that its creator has now; nil if that was
// deleted.
func (s *Server) rightsOfSession(v *state.Snapshot, t *state.ACLToken, r *Rights) *Rights {
	creator := v.ACLToken(t.Creator)
	if creator == nil || creator.Session { // admission refuses sessions of sessions
		return nil
	}
	of := s.rightsOfToken(v, creator)
	if of == nil {
		return nil
	}
	r.ACL, r.Policies = of.ACL, of.Policies
	if r.expires.IsZero() || !of.expires.IsZero() && of.expires.Before(r.expires) {
		r.expires = of.expires
	}
	return r
}
