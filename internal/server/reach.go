// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package server

import (
	"bytes"
	"context"
	"net"
	"strconv"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/pki"
	"github.com/reeve-run/reeve/internal/state"
)

// checkAddress returns an error unless other machines can connect to the address.
func checkAddress(address string) error {
	host, port, err := net.SplitHostPort(address)
	if n, convErr := strconv.Atoi(port); err != nil || convErr != nil || n < 1 || n > 65535 || host == "" {
		return api.Errorf(api.CodeInvalid, "%q is not an address of a server: give the server one as -advertise HOST:PORT", address)
	}
	if ip := net.ParseIP(host); ip != nil && ip.IsUnspecified() {
		return api.Errorf(api.CodeInvalid, "address %s means all addresses of a machine: give the server one as -advertise HOST:PORT", address)
	}
	return nil
}

// checkReach connects to the address that a server gave, where the server itself must answer.
func (s *Server) checkReach(ctx context.Context, r *api.JoinRequest) error {
	if err := checkAddress(r.Address); err != nil {
		return err
	}
	want, err := pki.RequestKey([]byte(r.CSR))
	if err != nil {
		return api.Errorf(api.CodeInvalid, "join: %v", err)
	}
	ctx, cancel := context.WithTimeout(ctx, reachTimeout)
	defer cancel()
	switch key, err := s.cfg.Member.Reach(ctx, r.Address); {
	case err != nil:
		return api.Errorf(api.CodeInvalid, "join: server %s cannot reach the new server at %s: %v; open the port, or give the new server another address with -advertise HOST:PORT", s.cfg.Name, r.Address, err)
	case !bytes.Equal(key, want):
		return api.Errorf(api.CodeInvalid, "join: another process answers at %s, not the new server: give the new server its own address with -advertise HOST:PORT", r.Address)
	}
	return nil
}

// Announce records what changed of a server while it was stopped: its address, to which this
// server connects back, and its version.
func (s *Server) Announce(ctx context.Context, id string, r *api.AnnounceRequest) error {
	err := s.announce(ctx, id, r)
	if err != nil {
		s.refusals.note(r.Name, err, time.Now())
	}
	return err
}

func (s *Server) announce(ctx context.Context, id string, r *api.AnnounceRequest) error {
	v := s.store.Snapshot()
	old, external := v.Server(id), v.Trust() != nil && v.Trust().External
	switch {
	case v.Trust() == nil:
		return s.noTrust()
	case old == nil && external:
		var err error
		if old, err = s.enroll(v, id, r); err != nil {
			return err
		}
	case old == nil:
		return api.Errorf(api.CodeForbidden, "server %s is not a server of this cluster", api.ShortID(id))
	}
	if err := checkAddress(r.Address); err != nil {
		return err
	}
	if r.Address != old.Address {
		ctx, cancel := context.WithTimeout(ctx, reachTimeout)
		defer cancel()
		twin := s.lookForTwin(ctx, old, r)
		switch at, err := s.cfg.Member.MemberAt(ctx, r.Address); {
		case err != nil:
			return api.Errorf(api.CodeInvalid, "server %s cannot reach server %s at %s: %v; open the port, or give the server another address with -advertise HOST:PORT", s.cfg.Name, r.Name, r.Address, err)
		case at != id:
			return api.Errorf(api.CodeInvalid, "another member answers at %s, not server %s: give the server its own address with -advertise HOST:PORT", r.Address, r.Name)
		}
		if err := <-twin; err != nil {
			return err
		}
	}
	s.admission.Lock()
	defer s.admission.Unlock()
	if err := s.checkServerLevel(r.Name, r.Version, r.Level); err != nil {
		return err
	}
	announced := *old
	announced.Name, announced.Address, announced.Version, announced.Datacenter, announced.Level = r.Name, r.Address, r.Version, r.Datacenter, r.Level
	if external {
		announced.Issued, announced.Expires = r.Issued, r.Expires
		if err := s.shareKey(v, &announced, r.SealKey); err != nil {
			return err
		}
	}
	if !bytes.Equal(announced.SealedKey, old.SealedKey) || announced.Level != old.Level || announced.Name != old.Name || announced.Address != old.Address || announced.Version != old.Version || announced.Datacenter != old.Datacenter || announced.Expires != old.Expires {
		if _, err := s.propose(ctx, state.PutServer(&announced, &old.ModifyIndex)); err != nil {
			return err
		}
		s.cfg.Logger.Info("a server announced itself", "name", r.Name, "id", id, "address", r.Address, "version", r.Version)
	}
	return s.group().AddNonvoter(ctx, id, r.Address)
}

// lookForTwin finds out whether a server that says to be at another address still runs at its old
// one, while the caller connects to the new one.
func (s *Server) lookForTwin(ctx context.Context, old *api.Server, r *api.AnnounceRequest) <-chan error {
	found := make(chan error, 1)
	go func() {
		speaker, err := s.cfg.Member.SpeakerAt(ctx, old.Address)
		if err == nil && speaker.IsTwin(old.ID, old.Address, r.Address) {
			found <- TwinError(old.ID, old.Name, r.Address, old.Address)
		}
		close(found)
	}()
	return found
}
