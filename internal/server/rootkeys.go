// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package server

import (
	"fmt"
	"sync"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/keyring"
	"github.com/reeve-run/reeve/internal/state"
)

// keyringCache keeps opened root keys in memory: they never change.
type keyringCache struct {
	mu     sync.Mutex
	opened map[string]*keyring.RootKey // by id
}

func (c *keyringCache) get(id string) *keyring.RootKey {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.opened[id]
}

func (c *keyringCache) put(k *keyring.RootKey) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.opened == nil {
		c.opened = map[string]*keyring.RootKey{}
	}
	c.opened[k.ID()] = k
}

// rootKey opens a root key.
func (s *Server) rootKey(v *state.Snapshot, id string) (*keyring.RootKey, error) {
	if known := s.keyring.get(id); known != nil {
		return known, nil
	}
	stored := v.RootKey(id)
	if stored == nil {
		return nil, api.Errorf(api.CodeUnavailable, "root key %s does not exist: it was deleted by force", id)
	}
	clusterKey, err := s.clusterKey(v)
	if err != nil {
		return nil, err
	}
	if name := keyring.Fingerprint(clusterKey); name != stored.SealedWith {
		return nil, lostKey(stored)
	}
	key, err := keyring.Open(id, clusterKey, stored.Sealed)
	if err != nil {
		return nil, api.Errorf(api.CodeUnavailable, "root key %s cannot be opened: %v", id, err)
	}
	s.keyring.put(key)
	return key, nil
}

// lostKey says that a root key came from other machines, and how to open it.
func lostKey(k *state.RootKey) error {
	if k.RecoveredBy == "" {
		return api.Errorf(api.CodeUnavailable, "root key %s was sealed on other machines, before there was a recovery key: start a server of the earlier cluster, and create one there with: reeve keyring recovery-key", api.ShortID(k.KeyID))
	}
	return api.Errorf(api.CodeUnavailable, "root key %s was sealed on other machines: open it with the recovery key %s: reeve keyring recover", api.ShortID(k.KeyID), k.RecoveredBy)
}

// activeKey opens the root key that encrypts what is written.
func (s *Server) activeKey(v *state.Snapshot) (*keyring.RootKey, error) {
	active := v.ActiveRootKey()
	if active == nil {
		if v.Level() < rootKeysLevel {
			return nil, api.Errorf(api.CodeUnavailable, "variables need feature level %d on all servers: upgrade them; see: reeve server list", rootKeysLevel)
		}
		return nil, api.Errorf(api.CodeUnavailable, "the leader has not created the first root key yet: try again in a moment; if this lasts, see: reeve keyring list")
	}
	return s.rootKey(v, active.KeyID)
}

// rootKeysLevel is the feature level of root keys and variables.
const rootKeysLevel = 3

// NewRootKey returns a new root key in its stored form. It implements control.Sealer.
func (s *Server) NewRootKey(v *state.Snapshot, status string, created, published time.Time) (*state.RootKey, error) {
	clusterKey, err := s.clusterKey(v)
	if err != nil {
		return nil, err
	}
	key := keyring.New(api.NewID())
	stored := &state.RootKey{
		KeyID: key.ID(), Algorithm: api.RootKeyAES256GCM, State: status, CreateTime: created.UnixNano(), PublishTime: published.UnixNano(),
		Sealed: key.Seal(clusterKey), SealedWith: keyring.Fingerprint(clusterKey),
	}
	return stored, sealForRecovery(key, stored, v.RecoveryKey())
}

// sealForRecovery adds the form of a root key that the recovery key opens.
func sealForRecovery(key *keyring.RootKey, stored *state.RootKey, recovery *api.RecoveryKey) (err error) {
	if recovery == nil {
		return nil
	}
	stored.RecoveredBy = recovery.Name
	stored.Recovery, err = key.SealFor(recovery.PublicKey)
	if err != nil {
		return fmt.Errorf("seal root key %s for the recovery key: %w", key.ID(), err)
	}
	return nil
}

// ForRecovery returns a root key in the form that the present recovery key opens; nil if the stored one
// is. It implements control.Sealer.
func (s *Server) ForRecovery(v *state.Snapshot, stored *state.RootKey) (*state.RootKey, error) {
	recovery := v.RecoveryKey()
	if recovery == nil || stored.RecoveredBy == recovery.Name {
		return nil, nil
	}
	key, err := s.rootKey(v, stored.KeyID)
	if err != nil {
		return nil, err
	}
	sealed := *stored
	return &sealed, sealForRecovery(key, &sealed, recovery)
}

// Reencrypt returns a variable encrypted with the active root key. It implements control.Sealer.
func (s *Server) Reencrypt(v *state.Snapshot, stored *state.Variable) (*state.Variable, error) {
	plain, err := s.decrypt(v, stored)
	if err != nil {
		return nil, err
	}
	active, err := s.activeKey(v)
	if err != nil {
		return nil, err
	}
	again := *stored
	again.KeyID, again.Data = active.ID(), active.Encrypt(stored.Namespace, stored.Path, plain)
	return &again, nil
}

// decrypt returns the content of a variable.
func (s *Server) decrypt(v *state.Snapshot, stored *state.Variable) ([]byte, error) {
	key, err := s.rootKey(v, stored.KeyID)
	if err != nil {
		return nil, err
	}
	plain, err := key.Decrypt(stored.Namespace, stored.Path, stored.Data)
	if err != nil {
		return nil, api.Errorf(api.CodeUnavailable, "variable %s cannot be decrypted: %v", stored.VariableMetadata.String(), err)
	}
	return plain, nil
}
