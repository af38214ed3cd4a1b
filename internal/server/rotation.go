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

const (
	rotationCheck = 2 * time.Second
	// rotationSettle is the time after the last renewal before the old root is dropped although
	// a member did not confirm that it uses its certificate: a member that lost the response has
	// repeated its request by then.
	rotationSettle = 30 * time.Second
	// renewalsPerEntry bounds the deletions in one log entry.
	renewalsPerEntry = 500
)

// CAStatus describes the certificate authority, and the progress of a rotation.
func (s *Server) CAStatus() (*api.CAStatus, error) {
	v := s.store.Snapshot()
	trust := v.Trust()
	switch {
	case trust == nil:
		return nil, s.noTrust()
	case trust.External:
		return nil, errExternal
	}
	roots, err := pki.ParseRoots([]byte(trust.Roots))
	if err != nil {
		return nil, api.Errorf(api.CodeInternal, "the roots of the cluster cannot be read: %v", err)
	}
	status := &api.CAStatus{
		ClusterID: trust.ClusterID, Roots: roots.Digests(), Expires: roots.Expires().UnixNano(),
		Rotated: trust.Rotated, Waiting: []api.CAMember{},
	}
	if trust.CrossSigned != "" {
		status.Waiting = append(status.Waiting, waiting(v, status.Roots[0])...)
	}
	return status, nil
}

// waiting returns the servers and the live nodes without a certificate of a root.
func waiting(v *state.Snapshot, digest string) []api.CAMember {
	var members []api.CAMember
	lacks := func(id string) bool {
		r := v.Renewal(id)
		return (r == nil || r.Root != digest) && v.Revocation(id) == nil
	}
	for server := range v.Servers() {
		if lacks(server.ID) {
			members = append(members, api.CAMember{ID: server.ID, Name: server.Name, Role: string(pki.RoleServer)})
		}
	}
	for node := range v.Nodes() {
		if node.Status != api.NodeStatusDown && lacks(node.ID) {
			members = append(members, api.CAMember{ID: node.ID, Name: node.Name, Role: string(pki.RoleNode)})
		}
	}
	return members
}

// RotateCA replaces the root of the cluster. Members renew their certificates, and trust both
// roots until the rotation ends.
func (s *Server) RotateCA(ctx context.Context) error {
	v := s.store.Snapshot()
	stored, clusterKey, err := s.keys(v)
	if err != nil {
		return err
	}
	if stored.CrossSigned != "" {
		return api.Errorf(api.CodeConflict, "the root is being replaced already: see its progress with: reeve cluster ca show")
	}
	old, err := s.authority(v)
	if err != nil {
		return err
	}
	now := time.Now()
	next, err := pki.NewAuthority(stored.ClusterID, now)
	if err != nil {
		return err
	}
	crossed, err := old.CrossSign(next)
	if err != nil {
		return api.Errorf(api.CodeInvalid, "rotate the root: %v", err)
	}
	key, err := next.KeyPEM()
	if err != nil {
		return err
	}
	trust := *stored
	trust.Roots, trust.CrossSigned, trust.Rotated = string(next.CertPEM())+stored.Roots, string(crossed), now.UnixNano()
	trust.CAKey = pki.Encrypt(clusterKey, key, purposeAuthority)
	if _, err := s.propose(ctx, state.PutTrust(&trust, &stored.ModifyIndex)); err != nil {
		return err
	}
	s.cfg.Logger.Info("rotation of the root began")
	return nil
}

// FinishRotation drops the old root, and issues join tokens of the new one. Members without a
// certificate of the new root are excluded.
func (s *Server) FinishRotation(ctx context.Context) error {
	v := s.store.Snapshot()
	stored, clusterKey, err := s.keys(v)
	if err != nil {
		return err
	}
	if stored.CrossSigned == "" {
		return api.Errorf(api.CodeConflict, "no rotation of the root is under way: begin one with: reeve cluster ca rotate")
	}
	ca, err := s.authority(v)
	if err != nil {
		return err
	}
	digest, err := pki.Digest(ca.CertPEM())
	if err != nil {
		return err
	}
	if left := waiting(v, digest); slices.ContainsFunc(left, func(m api.CAMember) bool { return m.Role == string(pki.RoleServer) }) {
		return api.Errorf(api.CodeConflict, "servers without a certificate of the new root would be excluded, and the cluster could lose its quorum: wait for them, or remove them with: reeve server remove; list them with: reeve cluster ca show")
	}
	trust := *stored
	trust.Roots, trust.CrossSigned, trust.Rotated = string(ca.CertPEM()), "", 0
	trust.Tokens = map[string][]byte{}
	for kind, purpose := range tokenPurposes {
		trust.Tokens[string(kind)] = pki.Encrypt(clusterKey, []byte(pki.NewToken(kind, digest).String()), purpose)
	}
	if _, err := s.propose(ctx, state.PutTrust(&trust, &stored.ModifyIndex)); err != nil {
		return err
	}
	s.cfg.Logger.Info("rotation of the root ended: join tokens were replaced", "root", digest)
	return s.forgetRenewals(ctx)
}

// forgetRenewals deletes the records of a rotation that ended.
func (s *Server) forgetRenewals(ctx context.Context) error {
	var deletions []state.Command
	for r := range s.store.Snapshot().Renewals() {
		deletions = append(deletions, state.DeleteRenewal(r.ID))
	}
	for some := range slices.Chunk(deletions, renewalsPerEntry) {
		if _, err := s.propose(ctx, some...); err != nil {
			return err
		}
	}
	return nil
}

// recordRenewal notes that a member received a certificate of the newest root, while the
// cluster rotates its root.
func (s *Server) recordRenewal(ctx context.Context, v *state.Snapshot, id string) error {
	trust := v.Trust()
	if trust.CrossSigned == "" {
		return nil
	}
	roots, err := pki.ParseRoots([]byte(trust.Roots))
	if err != nil {
		return err
	}
	_, err = s.propose(ctx, state.PutRenewal(&state.Renewal{ID: id, Root: roots.Digests()[0], Time: time.Now().UnixNano()}))
	return err
}

// confirmRenewal notes that a member uses a certificate of a root, while the cluster rotates
// its root.
func (s *Server) confirmRenewal(ctx context.Context, v *state.Snapshot, id, root string) error {
	r := v.Renewal(id)
	if r == nil || r.Used || r.Root != root {
		return nil
	}
	confirmed := *r
	confirmed.Used = true
	_, err := s.propose(ctx, state.PutRenewal(&confirmed))
	return err
}

// followRotation ends a rotation when every server and every live node renewed.
func (s *Server) followRotation(ctx context.Context) {
	ticker := time.NewTicker(rotationCheck)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		if !s.rotationIsComplete(time.Now()) {
			continue
		}
		if err := s.FinishRotation(ctx); err != nil && ctx.Err() == nil {
			s.cfg.Logger.Warn("cannot end the rotation of the root yet", "error", err)
		}
	}
}

func (s *Server) rotationIsComplete(now time.Time) bool {
	v := s.store.Snapshot()
	trust := v.Trust()
	if trust == nil || trust.CrossSigned == "" {
		return false
	}
	last, confirmed := trust.Rotated, true
	for r := range v.Renewals() {
		last, confirmed = max(last, r.Time), confirmed && r.Used
	}
	status, err := s.CAStatus()
	return err == nil && len(status.Waiting) == 0 && (confirmed || now.Sub(time.Unix(0, last)) >= rotationSettle)
}
