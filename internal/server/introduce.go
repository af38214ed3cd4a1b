// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package server

import (
	"bytes"
	"context"
	"crypto/sha256"
	"strings"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/pki"
	"github.com/reeve-run/reeve/internal/state"
)

// Introduction tokens.
//
// An introduction token is a claim that the cluster's key authenticates: every server verifies it,
// and none stores it. When a machine uses it, the log stores a state.Introduction, which binds
// the node to the pool and the name of the token, and decides which machine uses a token for one.

// introduceAgain ends refusals of introduction tokens.
const introduceAgain = "make another one with: reeve cluster token introduce"

// Introduce returns an introduction token, and the id by which the log and audit records name it.
func (s *Server) Introduce(r *api.IntroductionRequest) (token, id string, err error) {
	v := s.store.Snapshot()
	claims, err := s.claims(v, r, time.Now())
	if err != nil {
		return "", "", err
	}
	key, digest, err := s.introductionKey(v)
	if err != nil {
		return "", "", err
	}
	t, err := claims.Token(digest, key)
	if err != nil {
		return "", "", api.Errorf(api.CodeInvalid, "introduce a node: %v", err)
	}
	s.cfg.Logger.Info("an introduction token was made", "introduction", claims.TokenID(), "pool", claims.NodePool, "name", claims.NodeName, "once", claims.Once, "expires", claims.Expiry())
	return t.String(), claims.TokenID(), nil
}

// claims returns what a request asks for.
func (s *Server) claims(v *state.Snapshot, r *api.IntroductionRequest, now time.Time) (pki.Introduction, error) {
	ttl, pool := r.TTL, r.NodePool
	if ttl == 0 {
		ttl = api.IntroductionTTL
	}
	if pool == "" {
		pool = api.NodePoolDefault
	}
	switch {
	case ttl < time.Second || ttl > api.MaxIntroductionTTL:
		return pki.Introduction{}, api.Errorf(api.CodeInvalid, "TTL: %s is not from 1s to %s; use the join token of nodes for longer: reeve cluster token show node", ttl, api.MaxIntroductionTTL)
	case pool == api.NodePoolAll:
		return pki.Introduction{}, api.Errorf(api.CodeInvalid, "NodePool: every node is in pool %q; name the pool that the node is in besides", api.NodePoolAll)
	case v.NodePool(pool) == nil:
		return pki.Introduction{}, api.Errorf(api.CodeNotFound, "NodePool: node pool %.128q does not exist; make it with: reeve node pool apply", pool)
	case r.NodeName != "" && !isMachineName(r.NodeName):
		return pki.Introduction{}, api.Errorf(api.CodeInvalid, "NodeName: it must have 1 to %d printable characters", maxName)
	}
	if needs, does := state.Needs(state.PutIntroduction(&state.Introduction{})); v.Level() < needs {
		return pki.Introduction{}, s.notYet(does)
	}
	return pki.Introduction{
		ID: pki.NewIntroductionID(), Issued: now.Unix(), Expires: now.Add(ttl).Unix(), Once: r.Once || r.NodeName != "",
		NodePool: pool, NodeName: r.NodeName,
	}, nil
}

// isMachineName reports whether a text may be the name of a machine.
func isMachineName(name string) bool {
	return name != "" && len(name) <= maxName && !strings.ContainsFunc(name, func(c rune) bool { return c < ' ' })
}

// introductionKey returns the key that authenticates introduction tokens, and the digest of the
// root that join tokens name.
func (s *Server) introductionKey(v *state.Snapshot) (key []byte, digest string, err error) {
	text, err := s.joinToken(v, pki.NodeToken)
	if err != nil {
		return nil, "", err
	}
	token, err := pki.ParseToken(text)
	if err != nil {
		return nil, "", api.Errorf(api.CodeInternal, "the join token of nodes is damaged: %v; replace it with: reeve cluster token rotate node", err)
	}
	_, clusterKey, err := s.keys(v)
	if err != nil {
		return nil, "", err
	}
	return pki.IntroductionKey(clusterKey, text), token.Digest, nil
}

// checkIntroduction returns the claims of a valid introduction token.
func (s *Server) checkIntroduction(v *state.Snapshot, token pki.Token, now time.Time) (*pki.Introduction, error) {
	key, _, err := s.introductionKey(v)
	if err != nil {
		return nil, err
	}
	claims, err := pki.VerifyIntroduction(token, key)
	switch {
	case err != nil:
		return nil, api.Errorf(api.CodeForbidden, "join: the introduction token is not valid: the join token of nodes was replaced since, or it belongs to another cluster, or was changed; %s", introduceAgain)
	case !now.Before(claims.Expiry()):
		return nil, api.Errorf(api.CodeForbidden, "join: the introduction token expired at %s, %s ago by the clock of this server; %s", claims.Expiry().Format(time.RFC3339), now.Sub(claims.Expiry()).Round(time.Second), introduceAgain)
	case claims.Issued > now.Add(maxSkew).Unix():
		return nil, api.Errorf(api.CodeForbidden, "join: the introduction token is not valid before %s by the clock of this server: the servers' clocks differ; set them, for example with NTP, and join again", time.Unix(claims.Issued, 0).UTC().Format(time.RFC3339))
	}
	return &claims, nil
}

// checkIntroduced refuses a machine that its introduction token does not admit. It returns the
// introduction of the same machine, with the same key, that it repeats after an interruption.
func (s *Server) checkIntroduced(v *state.Snapshot, r *api.JoinRequest, claims *pki.Introduction) (*state.Introduction, error) {
	public, err := pki.RequestKey([]byte(r.CSR))
	if err != nil {
		return nil, api.Errorf(api.CodeInvalid, "join: %v", err)
	}
	sum := sha256.Sum256(public)
	i := &state.Introduction{
		Key: sum[:], Once: claims.Once,
		NodeIntroduction: api.NodeIntroduction{TokenID: claims.TokenID(), NodePool: claims.NodePool, NodeName: claims.NodeName, Time: time.Now().UnixNano()},
	}
	for used := range v.IntroducedBy(i.TokenID) {
		if bytes.Equal(used.Key, i.Key) {
			i = used
		} else if claims.Once {
			return nil, state.IntroducedError(used)
		}
	}
	switch {
	case claims.NodeName != "" && r.Name != claims.NodeName:
		return nil, api.Errorf(api.CodeForbidden, "join: the introduction token is for the machine %q, and the name of this one is %.64q: correct name in its configuration, or use a token without a name", claims.NodeName, r.Name)
	case v.NodePool(claims.NodePool) == nil:
		return nil, api.Errorf(api.CodeNotFound, "join: node pool %q of the introduction token was deleted since; make it again with: reeve node pool apply; or %s", claims.NodePool, introduceAgain)
	}
	if revoked := v.Revocation(i.NodeID); revoked != nil {
		return nil, state.RevokedError(revoked)
	}
	for n := range v.Nodes() {
		if claims.NodeName != "" && n.Name == claims.NodeName && n.ID != i.NodeID && !n.IsGone() {
			return nil, api.Errorf(api.CodeConflict, "join: node %s has the name %q and is %s: stop its agent until it is down, or %s, for another name", api.ShortID(n.ID), n.Name, n.Status, introduceAgain)
		}
	}
	return i, nil
}

// recordIntroduction binds a node to its introduction, unless it repeats a request.
func (s *Server) recordIntroduction(ctx context.Context, i *state.Introduction, nodeID string) error {
	if i == nil || i.NodeID != "" {
		return nil
	}
	stored := *i
	stored.NodeID = nodeID
	_, err := s.propose(ctx, state.PutIntroduction(&stored))
	return err
}
