// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package server

import (
	"context"
	"slices"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/pki"
	"github.com/reeve-run/reeve/internal/state"
)

// Renew signs a new certificate for a member that proved its identity with the old one. A
// request without a certificate request confirms the use of the new one.
func (s *Server) Renew(ctx context.Context, id string, role pki.Role, r *api.RenewRequest) (*api.JoinResponse, error) {
	v := s.store.Snapshot()
	if v.Trust() == nil {
		return nil, s.noTrust()
	}
	if revoked := v.Revocation(id); revoked != nil {
		return nil, state.RevokedError(revoked)
	}
	if r.CSR == "" && r.Using != "" {
		return &api.JoinResponse{ID: id, ClusterID: v.Trust().ClusterID}, s.confirmRenewal(ctx, v, id, r.Using)
	}
	ca, err := s.authority(v)
	if err != nil {
		return nil, err
	}
	leaf := pki.Leaf{ID: id, Role: role, ClusterID: v.Trust().ClusterID, Region: s.cfg.Region}
	server := v.Server(id)
	switch {
	case role != pki.RoleServer:
		if node := v.Node(id); node != nil {
			leaf.Address = node.HTTPAddr
		}
	case server == nil:
		return nil, api.Errorf(api.CodeForbidden, "server %s is not a server of this cluster", api.ShortID(id))
	default:
		leaf.Address = server.Address
	}
	certificate, err := ca.Sign([]byte(r.CSR), leaf, time.Now())
	if err != nil {
		return nil, api.Errorf(api.CodeInvalid, "renew: %v", err)
	}
	if server != nil {
		renewed := *server
		renewed.Issued, renewed.Expires = validity(certificate)
		if _, err := s.propose(ctx, state.PutServer(&renewed, &server.ModifyIndex)); err != nil {
			return nil, err
		}
	}
	if err := s.recordRenewal(ctx, v, id); err != nil {
		return nil, err
	}
	return &api.JoinResponse{ID: id, ClusterID: leaf.ClusterID, Certificate: string(certificate), Roots: v.Trust().Roots, Servers: s.serverAddresses()}, nil
}

// validity returns the beginning and the end of a certificate that was just signed, as Unix
// times in nanoseconds.
func validity(certificate []byte) (from, to int64) {
	chain, err := pki.ParseChain(certificate)
	if err != nil {
		return 0, 0
	}
	return chain[0].NotBefore.UnixNano(), chain[0].NotAfter.UnixNano()
}

// serverAddresses returns the addresses of all servers.
func (s *Server) serverAddresses() []string {
	var addresses []string
	for server := range s.store.Snapshot().Servers() {
		addresses = append(addresses, server.Address)
	}
	slices.Sort(addresses)
	return addresses
}
