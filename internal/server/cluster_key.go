// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package server

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/pki"
	"github.com/reeve-run/reeve/internal/secretfile"
	"github.com/reeve-run/reeve/internal/state"
)

// ownKeyFile has the key of a server that runs alone, in its data directory.
const ownKeyFile = "keyring.key"

// errNoClusterKey answers when this server cannot open root keys yet.
var errNoClusterKey = api.Errorf(api.CodeUnavailable, "this server has not received the key of the cluster: restart it, and then try again")

// clusterKey opens the key under which the state's secrets are sealed. A server that runs alone has it
// in a file, and the servers of a cluster in the state, sealed for each of them.
func (s *Server) clusterKey(v *state.Snapshot) ([]byte, error) {
	if s.cfg.Member == nil {
		return s.ownKey()
	}
	if v.Trust() == nil {
		return nil, s.noTrust()
	}
	self := v.Server(s.cfg.Member.ID)
	switch {
	case self == nil:
		return nil, api.Errorf(api.CodeUnavailable, "this server is not among the servers of the cluster yet: try again")
	case len(self.SealedKey) == 0:
		return nil, errNoClusterKey
	}
	key, err := pki.Unseal(s.cfg.Member.SealKey, self.SealedKey, purposeClusterKey)
	if err != nil {
		s.cfg.Logger.Error("cannot open the cluster's key with the key file of this server", "error", err)
		return nil, api.Errorf(api.CodeInternal, "server %s cannot open the cluster's key: its file identity/server.key is not the one with which it joined; restore the file, or remove the server and join again", self.Name)
	}
	return key, nil
}

// ownKey returns the key of a server that runs alone, and creates it before its first use. A server
// without a data directory keeps it in memory.
func (s *Server) ownKey() ([]byte, error) {
	s.own.Lock()
	defer s.own.Unlock()
	if s.own.key != nil {
		return s.own.key, nil
	}
	if s.cfg.DataDir == "" {
		s.own.key = pki.NewClusterKey()
		return s.own.key, nil
	}
	key, err := ReadOwnKey(s.cfg.DataDir, s.cfg.Guard)
	if err == nil && key == nil {
		key = pki.NewClusterKey()
		if err = writeOwnKey(s.cfg.DataDir, s.cfg.Guard, []byte(base64.StdEncoding.EncodeToString(key)+"\n")); err != nil {
			err = api.Errorf(api.CodeUnavailable, "cannot write the key that encrypts variables: %v; repair the data directory, and try again", err)
		}
	}
	if err != nil {
		return nil, err
	}
	s.own.key = key
	return key, nil
}

// A Guard seals the texts of key files, and opens them. A stale text should be stored again.
type Guard interface {
	Seal(text []byte) ([]byte, error)
	Open(file []byte) (text []byte, stale bool, err error)
}

func writeOwnKey(dir string, guard Guard, text []byte) (err error) {
	if guard != nil {
		if text, err = guard.Seal(text); err != nil {
			return err
		}
	}
	return secretfile.Write(ownKeyPath(dir), text)
}

// ReadOwnKey returns the key of a server that runs alone, from its data directory; nil if it has none.
func ReadOwnKey(dir string, guard Guard) ([]byte, error) {
	path := ownKeyPath(dir)
	text, err := os.ReadFile(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, api.Errorf(api.CodeUnavailable, "cannot read the key that encrypts variables: %v; repair the file, and try again", err)
	}
	if guard != nil {
		file, stale := text, false
		if text, stale, err = guard.Open(file); err == nil && stale {
			err = writeOwnKey(dir, guard, text)
		}
		if err != nil {
			return nil, api.Errorf(api.CodeUnavailable, "cannot read %s, the key that encrypts variables: %v", path, err)
		}
	}
	key, err := base64.StdEncoding.DecodeString(strings.TrimSpace(string(text)))
	if err != nil || len(key) != pki.ClusterKeySize {
		return nil, api.Errorf(api.CodeInternal, "%s, the key that encrypts variables, is damaged: restore the file; or delete it, and recover the keyring with: reeve keyring recover", path)
	}
	return key, nil
}

// ForgetOwnKey removes the key of a server that ran alone: it is the key of a cluster now, and in the
// cluster's state.
func ForgetOwnKey(dir string) error {
	err := os.Remove(ownKeyPath(dir))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

func ownKeyPath(dir string) string { return filepath.Join(dir, ownKeyFile) }

// keepExternalKey creates the key of a cluster whose certificates come from files, when the first
// server leads that needs it. Without root keys, nothing is lost if it is new.
func (s *Server) keepExternalKey(ctx context.Context) error {
	v := s.store.Snapshot()
	self := v.Server(s.cfg.Member.ID)
	if self == nil || len(self.SealedKey) > 0 {
		return nil
	}
	for other := range v.Servers() {
		if len(other.SealedKey) > 0 {
			return nil // it announces itself, and receives that key
		}
	}
	public, err := pki.SealPublic(s.cfg.Member.SealKey)
	if err != nil {
		return err
	}
	sealed, err := pki.Seal(public, pki.NewClusterKey(), purposeClusterKey)
	if err != nil {
		return err
	}
	changed := *self
	changed.SealKey, changed.SealedKey = public, sealed
	_, err = s.propose(ctx, state.PutServer(&changed, &self.ModifyIndex))
	return err
}

// shareKey seals the key of the cluster for a server with a certificate from files.
func (s *Server) shareKey(v *state.Snapshot, announced *api.Server, sealKey []byte) error {
	if len(sealKey) == 0 || bytes.Equal(sealKey, announced.SealKey) && len(announced.SealedKey) > 0 {
		return nil
	}
	key, err := s.clusterKey(v)
	if err != nil {
		s.cfg.Logger.Warn("a server cannot receive the key of the cluster: it reads no variables until it is restarted", "name", announced.Name, "error", err)
		return nil
	}
	sealed, err := pki.Seal(sealKey, key, purposeClusterKey)
	if err != nil {
		return api.Errorf(api.CodeInvalid, "join: the public key for secrets is not valid: %v", err)
	}
	announced.SealKey, announced.SealedKey = sealKey, sealed
	return nil
}
