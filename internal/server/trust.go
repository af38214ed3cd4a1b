// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package server

import (
	"context"
	"crypto/subtle"
	"maps"
	"slices"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/pki"
	"github.com/reeve-run/reeve/internal/state"
)

// errNoAuthority answers questions about a cluster to a server that has none.
var errNoAuthority = api.Errorf(api.CodeInvalid, "this server has no certificate authority, because it runs alone: start a cluster with: reeve agent -server -bootstrap")

// CA returns the roots of the cluster.
func (s *Server) CA() (*api.ClusterCA, error) {
	trust := s.store.Snapshot().Trust()
	switch {
	case trust == nil:
		return nil, s.noTrust()
	case trust.External:
		return nil, errExternal
	}
	return &api.ClusterCA{ClusterID: trust.ClusterID, Roots: trust.Roots, Spread: int64(s.spread())}, nil
}

// fleetRate bounds the number of requests per second that all members together send for one
// reason: checks for new roots, or renewals because of new roots.
const fleetRate = 200

// spread returns the time over which members spread such requests.
func (s *Server) spread() time.Duration {
	return time.Duration(s.store.Snapshot().NodeCount()) * time.Second / fleetRate
}

// noTrust returns why the state has no trust.
func (s *Server) noTrust() error {
	if s.cfg.Member == nil {
		return errNoAuthority
	}
	return api.Errorf(api.CodeUnavailable, "this server has not received the state of the cluster yet: try again")
}

// keys returns the trust of a cluster with an authority of its own, and opens the cluster's key.
func (s *Server) keys(v *state.Snapshot) (trust *state.Trust, clusterKey []byte, err error) {
	trust = v.Trust()
	switch {
	case trust == nil:
		return nil, nil, s.noTrust()
	case trust.External:
		return nil, nil, errExternal
	}
	clusterKey, err = s.clusterKey(v)
	return trust, clusterKey, err
}

// authority opens the key of the certificate authority.
func (s *Server) authority(v *state.Snapshot) (*pki.Authority, error) {
	trust, clusterKey, err := s.keys(v)
	if err != nil {
		return nil, err
	}
	keyPEM, err := pki.Decrypt(clusterKey, trust.CAKey, purposeAuthority)
	if err != nil {
		return nil, api.Errorf(api.CodeInternal, "the key of the certificate authority cannot be decrypted: %v", err)
	}
	ca, err := pki.ParseAuthority([]byte(trust.Roots), keyPEM)
	if err != nil {
		return nil, err
	}
	return ca.WithCrossSigned([]byte(trust.CrossSigned))
}

// JoinTokens returns the tokens with which machines join.
func (s *Server) JoinTokens() (*api.JoinTokens, error) {
	v := s.store.Snapshot()
	server, err := s.joinToken(v, pki.ServerToken)
	if err != nil {
		return nil, err
	}
	node, err := s.joinToken(v, pki.NodeToken)
	return &api.JoinTokens{Server: server, Node: node}, err
}

func (s *Server) joinToken(v *state.Snapshot, kind pki.TokenKind) (string, error) {
	trust, clusterKey, err := s.keys(v)
	if err != nil {
		return "", err
	}
	text, err := pki.Decrypt(clusterKey, trust.Tokens[string(kind)], tokenPurposes[kind])
	if err != nil {
		return "", api.Errorf(api.CodeInternal, "the join token of kind %s cannot be decrypted: %v", kind, err)
	}
	return string(text), nil
}

// RotateJoinToken replaces a join token. Members stay members; the old token no longer admits any machine.
func (s *Server) RotateJoinToken(ctx context.Context, kind pki.TokenKind) (string, error) {
	purpose, ok := tokenPurposes[kind]
	if !ok {
		return "", api.Errorf(api.CodeInvalid, "%q is no kind of join token: it is server or node", kind)
	}
	token := ""
	err := s.changeTrust(ctx, func(trust *state.Trust, clusterKey []byte, digest string) {
		token = pki.NewToken(kind, digest).String()
		trust.Tokens = maps.Clone(trust.Tokens)
		trust.Tokens[string(kind)] = pki.Encrypt(clusterKey, []byte(token), purpose)
	})
	return token, err
}

// RotateOperatorToken returns a new operator's token. All earlier ones become invalid.
func (s *Server) RotateOperatorToken(ctx context.Context) (string, error) {
	token := ""
	replace := func(trust *state.Trust, _ []byte, digest string) {
		t := pki.NewToken(pki.OperatorToken, digest)
		hash := t.Hash()
		token, trust.Operators = t.String(), [][]byte{hash[:]}
	}
	if stored := s.store.Snapshot().Trust(); stored != nil && stored.External && s.cfg.Member.External != nil {
		trust := *stored
		replace(&trust, nil, s.cfg.Member.External.Digest)
		_, err := s.propose(ctx, state.PutTrust(&trust, &stored.ModifyIndex))
		return token, err
	}
	err := s.changeTrust(ctx, replace)
	return token, err
}

// changeTrust stores a changed trust, and tries again if another change comes first.
func (s *Server) changeTrust(ctx context.Context, change func(trust *state.Trust, clusterKey []byte, digest string)) error {
	for attempt := 1; ; attempt++ {
		stored, clusterKey, err := s.keys(s.store.Snapshot())
		if err != nil {
			return err
		}
		digest, err := pki.Digest([]byte(stored.Roots))
		if err != nil {
			return api.Errorf(api.CodeInternal, "read the roots of the cluster: %v", err)
		}
		trust := *stored
		change(&trust, clusterKey, digest)
		_, err = s.propose(ctx, state.PutTrust(&trust, &stored.ModifyIndex))
		if api.CodeOf(err) != api.CodeConflict || attempt == changeAttempts {
			return err
		}
	}
}

// IsOperator reports whether a token is an operator's.
func (s *Server) IsOperator(token string) bool {
	trust := s.store.Snapshot().Trust()
	if trust == nil {
		return false
	}
	hash := pki.HashToken(token) // without parsing: this is a part of every request
	return slices.ContainsFunc(trust.Operators, func(valid []byte) bool {
		return subtle.ConstantTimeCompare(valid, hash[:]) == 1
	})
}

// IsRevoked reports whether a member was removed from the cluster.
func (s *Server) IsRevoked(id string) bool { return s.store.Snapshot().Revocation(id) != nil }

// Revoke excludes a node from the cluster: its certificate is no longer accepted. Servers are
// removed with RemoveServer, which also keeps the quorum.
func (s *Server) Revoke(ctx context.Context, id, reason string) error {
	v := s.store.Snapshot()
	if v.Trust() == nil {
		return s.noTrust()
	}
	if server := v.Server(id); server != nil {
		return api.Errorf(api.CodeInvalid, "%s is a server: remove it with: reeve server remove %s", server.Name, api.ShortID(id))
	}
	node := v.Node(id)
	if node == nil {
		return api.Errorf(api.CodeNotFound, "node %q not found: name it by its whole id, as in: reeve node status -verbose", id)
	}
	_, err := s.propose(ctx, &state.RevokeMember{ID: id, Member: node.Name, Reason: orDefault(reason, "removed by an operator"), Time: time.Now().UnixNano()})
	return err
}

func orDefault(text, fallback string) string {
	if text == "" {
		return fallback
	}
	return text
}
