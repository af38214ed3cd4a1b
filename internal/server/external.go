// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package server

import (
	"context"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/pki"
	"github.com/reeve-run/reeve/internal/state"
)

// errExternal answers requests about the cluster's authority where another one signs.
var errExternal = api.Errorf(api.CodeInvalid, "the certificates of this cluster come from files, and another authority signs them: issue certificates there, and name them in tls { } of each agent")

// foundExternal stores the trust of a new cluster whose certificates come from files: the
// operator's token, and this server.
func (s *Server) foundExternal(ctx context.Context) error {
	m := s.cfg.Member
	if trust := s.store.Snapshot().Trust(); trust != nil {
		if !trust.External {
			s.cfg.Logger.Error("this cluster has an authority of its own: remove the block tls, and join the server with a token")
		}
		return s.keepExternalKey(ctx)
	}
	token := pki.NewToken(pki.OperatorToken, m.External.Digest)
	recovery, err := m.External.Founded(token.String())
	if err != nil {
		return err
	}
	hash := token.Hash()
	var absent uint64
	trust := &state.Trust{ClusterID: api.NewID(), External: true, Operators: [][]byte{hash[:]}}
	from, to := m.External.Validity()
	self := &api.Server{
		ID: m.ID, Name: m.Name, Address: m.Address, Version: m.Version, Region: m.Region, Datacenter: m.Datacenter,
		Joined: time.Now().UnixNano(), Issued: from.UnixNano(), Expires: to.UnixNano(), Level: state.Level,
	}
	cmds := []state.Command{state.PutTrust(trust, &absent), state.PutServer(self, nil)}
	if _, err := s.propose(ctx, append(cmds, firstRecoveryKey(recovery)...)...); err != nil {
		return err
	}
	return s.keepExternalKey(ctx)
}

// enroll returns a server that joins with a certificate of another authority, before it is
// stored.
func (s *Server) enroll(v *state.Snapshot, id string, r *api.AnnounceRequest) (*api.Server, error) {
	switch {
	case r.Name == "" || len(r.Name) > maxName || api.Printable(r.Name, maxName) != r.Name:
		return nil, api.Errorf(api.CodeInvalid, "join: the name of the machine must have 1 to %d printable characters: set name in its configuration", maxName)
	case v.Node(id) != nil:
		return nil, api.Errorf(api.CodeConflict, "join: id %s belongs to a node: issue a certificate with another common name for this server", id)
	}
	return &api.Server{ID: id, Region: s.cfg.Region, Joined: time.Now().UnixNano()}, nil
}
