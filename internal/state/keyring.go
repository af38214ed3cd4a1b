// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package state

import (
	"iter"

	"github.com/reeve-run/reeve/api"
)

// A RootKey is a root key as servers store it: sealed.
type RootKey struct {
	KeyID       string
	Algorithm   string
	State       string // api.RootKeyActive...
	CreateTime  int64  // Unix time in nanoseconds
	PublishTime int64  // Unix time in nanoseconds
	Sealed      []byte // with the key of the cluster
	SealedWith  string // name of that key
	Recovery    []byte `json:",omitempty"` // sealed for the recovery key; nil: the cluster had no recovery key
	RecoveredBy string `json:",omitempty"` // name of that key

	CreateIndex uint64
	ModifyIndex uint64
}

// sinceSecrets is the level of variables and root keys.
func sinceSecrets[T any](*T) (level int, does string) { return 3, "encrypts variables" }

var rootKeys = declare(noun[RootKey]{
	name: "root_keys", singular: "root key", verb: "RootKey", frame: 33,
	key:   func(k *RootKey) string { return k.KeyID },
	stamp: func(k *RootKey) (create, modify *uint64) { return &k.CreateIndex, &k.ModifyIndex },
	since: sinceSecrets[RootKey],
	admit: admitRootKey,
})

// TableRootKeys holds *RootKey.
var TableRootKeys = rootKeys.table

// recoveryKeyID is the key of the one object.
const recoveryKeyID = "cluster"

var recoveryKeys = declare(noun[api.RecoveryKey]{
	name: "recovery_keys", singular: "recovery key", verb: "RecoveryKey", frame: 35,
	key:   func(*api.RecoveryKey) string { return recoveryKeyID },
	stamp: func(k *api.RecoveryKey) (create, modify *uint64) { return &k.CreateIndex, &k.ModifyIndex },
	since: sinceSecrets[api.RecoveryKey],
})

// TableRecoveryKeys holds the one *api.RecoveryKey.
var TableRecoveryKeys = recoveryKeys.table

// RootKey returns a root key; nil if it does not exist.
func (c *content) RootKey(id string) *RootKey { return rootKeys.find(c, id) }

// RootKeys yields the root keys by id.
func (c *content) RootKeys() iter.Seq[*RootKey] { return rootKeys.all(c, "") }

// ActiveRootKey returns the key that encrypts new writes; nil before the first one.
func (c *content) ActiveRootKey() *RootKey {
	for k := range c.RootKeys() {
		if k.State == api.RootKeyActive {
			return k
		}
	}
	return nil
}

// RecoveryKey returns the public recovery key; nil if the cluster has none.
func (c *content) RecoveryKey() *api.RecoveryKey { return recoveryKeys.find(c, recoveryKeyID) }

// PutRootKey returns the command that stores a root key. enforce is as in PutNamespace.
func PutRootKey(k *RootKey, enforce uint64) Command {
	return &putObject[RootKey]{rootKeys, k, &enforce}
}

// DeleteRootKey returns the command that deletes a root key that encrypts nothing.
func DeleteRootKey(id string, enforce uint64) Command {
	return &deleteObject[RootKey]{rootKeys, id, &enforce}
}

// PutRecoveryKey returns the command that stores the public recovery key. enforce is as in
// PutNamespace.
func PutRecoveryKey(k *api.RecoveryKey, enforce uint64) Command {
	return &putObject[api.RecoveryKey]{recoveryKeys, k, &enforce}
}

// admitRootKey keeps one key active, and every key that something needs.
func admitRootKey(_ *noun[RootKey], c *content, old, new *RootKey) error {
	if new != nil {
		return nil
	}
	if old.State == api.RootKeyActive {
		return api.Errorf(api.CodeConflict, "root key %s is active: replace it first with: reeve keyring rotate", old.KeyID)
	}
	used := 0
	for range storedVariables().ofGroup(c, old.KeyID) {
		used++
	}
	if used > 0 {
		return api.Errorf(api.CodeConflict, "root key %s encrypts %d variables: encrypt them with the active key first with: reeve keyring rotate -full", old.KeyID, used)
	}
	return nil
}
