// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package server

import (
	"bytes"
	"context"
	"crypto/subtle"
	"strings"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/pki"
	"github.com/reeve-run/reeve/internal/state"
)

const (
	// maxSkew is the largest difference of clocks with which a machine may join. Certificates
	// allow for an hour; deadlines and leases need more precise clocks.
	maxSkew = 5 * time.Minute
	// reachTimeout bounds the connection back to a machine that joins.
	reachTimeout = 5 * time.Second
	maxName      = 255
)

// Join makes a machine a member: it signs a certificate, and adds a server to the replicated
// log. A server that repeats its request after an interruption gets another certificate.
func (s *Server) Join(ctx context.Context, r *api.JoinRequest) (*api.JoinResponse, error) {
	answer, err := s.joinMember(ctx, r)
	if err != nil {
		s.refusals.note(r.Name, err, time.Now())
	}
	return answer, err
}

func (s *Server) joinMember(ctx context.Context, r *api.JoinRequest) (*api.JoinResponse, error) {
	v := s.store.Snapshot()
	role, claims, err := s.checkToken(v, r.Token)
	if err != nil {
		return nil, err
	}
	if err := s.checkJoin(v, r, role, time.Now()); err != nil {
		return nil, err
	}
	var introduction *state.Introduction
	if claims != nil {
		if introduction, err = s.checkIntroduced(v, r, claims); err != nil {
			return nil, err
		}
	}
	if role == pki.RoleNode {
		r.ID = api.NewID()
		if introduction != nil && introduction.NodeID != "" {
			r.ID = introduction.NodeID
		}
	} else if err := s.checkReach(ctx, r); err != nil {
		return nil, err
	}
	ca, err := s.authority(v)
	if err != nil {
		return nil, err
	}
	leaf := pki.Leaf{ID: r.ID, Role: role, ClusterID: v.Trust().ClusterID, Region: s.cfg.Region, Address: r.Address}
	certificate, err := ca.Sign([]byte(r.CSR), leaf, time.Now())
	if err != nil {
		return nil, api.Errorf(api.CodeInvalid, "join: %v", err)
	}
	if role == pki.RoleServer {
		if err := s.admitServer(ctx, v, r, certificate); err != nil {
			return nil, err
		}
	}
	if err := s.recordIntroduction(ctx, introduction, r.ID); err != nil {
		return nil, err
	}
	if err := s.recordRenewal(ctx, v, r.ID); err != nil {
		return nil, err
	}
	answer := &api.JoinResponse{
		ID: r.ID, ClusterID: leaf.ClusterID, Certificate: string(certificate),
		Roots: v.Trust().Roots, Servers: s.serverAddresses(),
	}
	logger := s.cfg.Logger
	if claims != nil {
		answer.Introduction, answer.NodePool, answer.NodeName = claims.TokenID(), claims.NodePool, claims.NodeName
		logger = logger.With("introduction", claims.TokenID(), "pool", claims.NodePool)
	}
	logger.Info("a member joined", "role", role, "name", r.Name, "id", r.ID, "address", r.Address)
	return answer, nil
}

// checkToken returns the role that a token gives, and the claims of an introduction token.
func (s *Server) checkToken(v *state.Snapshot, text string) (pki.Role, *pki.Introduction, error) {
	if v.Trust() == nil {
		return "", nil, s.noTrust()
	}
	token, err := pki.ParseToken(text)
	if err != nil {
		return "", nil, api.Errorf(api.CodeInvalid, "join: %v", err)
	}
	if token.Kind == pki.OperatorToken {
		return "", nil, api.Errorf(api.CodeForbidden, "join: this is an operator's token, which admits no machines: use a join token; see: reeve cluster token show")
	}
	if token.Kind == pki.IntroductionToken {
		claims, err := s.checkIntroduction(v, token, time.Now())
		return pki.RoleNode, claims, err
	}
	valid, err := s.joinToken(v, token.Kind)
	if err != nil {
		return "", nil, err
	}
	if subtle.ConstantTimeCompare([]byte(valid), []byte(token.String())) != 1 {
		return "", nil, api.Errorf(api.CodeForbidden, "join: the token is not valid: it was replaced, or it belongs to another cluster; show the valid one on a server with: reeve cluster token show %s", token.Kind)
	}
	if token.Kind == pki.ServerToken {
		return pki.RoleServer, nil, nil
	}
	return pki.RoleNode, nil, nil
}

// checkJoin refuses what a machine says of itself.
func (s *Server) checkJoin(v *state.Snapshot, r *api.JoinRequest, role pki.Role, now time.Time) error {
	skew := time.Unix(0, r.Time).Sub(now)
	switch {
	case skew.Abs() > maxSkew:
		return api.Errorf(api.CodeInvalid, "join: the clock of %s is %s the clock of this server; set the clocks, for example with NTP, and join again", r.Name, apart(skew))
	case !isMachineName(r.Name):
		return api.Errorf(api.CodeInvalid, "join: the name of the machine must have 1 to %d printable characters: set name in its configuration", maxName)
	case r.Region != s.cfg.Region:
		return api.Errorf(api.CodeInvalid, "join: the machine is in region %q and this cluster in region %q: correct region in its configuration", r.Region, s.cfg.Region)
	case role == pki.RoleNode:
		return nil
	case !isMemberID(r.ID):
		return api.Errorf(api.CodeInvalid, "join: %q is not an id of a server: it must be a UUID", r.ID)
	case len(r.SealKey) == 0:
		return api.Errorf(api.CodeInvalid, "join: the server sent no public key for secrets")
	case v.Node(r.ID) != nil:
		return api.Errorf(api.CodeConflict, "join: id %s belongs to a node: delete the folder identity in the data directory of this server, and join again", r.ID)
	}
	if revoked := v.Revocation(r.ID); revoked != nil {
		return state.RevokedError(revoked)
	}
	if old := v.Server(r.ID); old != nil && !bytes.Equal(old.SealKey, r.SealKey) {
		return api.Errorf(api.CodeConflict, "join: id %s belongs to server %s at %s, which has other keys: this data directory is a copy of its directory; start with an empty one", api.ShortID(r.ID), old.Name, old.Address)
	}
	return nil
}

func apart(skew time.Duration) string {
	if skew > 0 {
		return skew.Round(time.Second).String() + " ahead of"
	}
	return (-skew).Round(time.Second).String() + " behind"
}

func isMemberID(id string) bool {
	return len(id) == 36 && !strings.ContainsFunc(id, func(c rune) bool { return c != '-' && (c < '0' || c > '9') && (c < 'a' || c > 'f') })
}

// admitServer stores a new server, and adds it to the replicated log without a vote.
func (s *Server) admitServer(ctx context.Context, v *state.Snapshot, r *api.JoinRequest, certificate []byte) error {
	_, clusterKey, err := s.keys(v)
	if err != nil {
		return err
	}
	sealed, err := pki.Seal(r.SealKey, clusterKey, purposeClusterKey)
	if err != nil {
		return api.Errorf(api.CodeInvalid, "join: the public key for secrets is not valid: %v", err)
	}
	var old uint64
	if known := v.Server(r.ID); known != nil {
		old = known.ModifyIndex
	}
	s.admission.Lock()
	defer s.admission.Unlock()
	if err := s.checkServerLevel(r.Name, r.Version, r.Level); err != nil {
		return err
	}
	server := &api.Server{
		ID: r.ID, Level: r.Level, Name: r.Name, Address: r.Address, Version: r.Version, Region: r.Region, Datacenter: r.Datacenter,
		Joined: time.Now().UnixNano(), SealKey: r.SealKey, SealedKey: sealed,
	}
	server.Issued, server.Expires = validity(certificate)
	if _, err := s.propose(ctx, state.PutServer(server, &old)); err != nil {
		return err
	}
	return s.group().AddNonvoter(ctx, r.ID, r.Address)
}
