// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package keyring

import (
	"crypto/ed25519"
	"crypto/hkdf"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"

	"github.com/reeve-run/reeve/internal/pki"
)

// rootKeySize is the size of a root key in bytes.
const rootKeySize = 32

// Purposes to which ciphertexts and derived keys are bound. They are part of the format of the state.
const (
	purposeRoot        = "root key "
	purposeVariable    = "variable"
	purposeIdentity    = "identities of tasks, Ed25519"
	purposeFingerprint = "name of a key"
)

// A RootKey is a key from which the keys of variables are derived: each path has its own. It may be
// used concurrently.
type RootKey struct {
	id     string
	secret []byte
}

// New creates a root key.
func New(id string) *RootKey {
	secret := make([]byte, rootKeySize)
	_, _ = rand.Read(secret) // it never fails
	return &RootKey{id, secret}
}

// ID returns the id of the key.
func (k *RootKey) ID() string { return k.id }

// String returns the id: a key never reaches a log.
func (k *RootKey) String() string { return "root key " + k.id }

// GoString is like String.
func (k *RootKey) GoString() string { return k.String() }

// Seal encrypts the key with that of the cluster.
func (k *RootKey) Seal(clusterKey []byte) []byte {
	return pki.Encrypt(clusterKey, k.secret, purposeRoot+k.id)
}

// Open decrypts what Seal encrypted.
func Open(id string, clusterKey, sealed []byte) (*RootKey, error) {
	secret, err := pki.Decrypt(clusterKey, sealed, purposeRoot+id)
	return opened(id, secret, err)
}

func opened(id string, secret []byte, err error) (*RootKey, error) {
	switch {
	case err != nil:
		return nil, err
	case len(secret) != rootKeySize:
		return nil, fmt.Errorf("root key %s has %d bytes; expected %d", id, len(secret), rootKeySize)
	}
	return &RootKey{id, secret}, nil
}

// Encrypt encrypts the content of a variable. Only its path in its namespace, and the same root key,
// decrypt it.
func (k *RootKey) Encrypt(namespace, path string, plain []byte) []byte {
	return pki.Encrypt(k.keyOf(namespace, path), plain, purposeVariable)
}

// Decrypt decrypts what Encrypt encrypted.
func (k *RootKey) Decrypt(namespace, path string, sealed []byte) ([]byte, error) {
	plain, err := pki.Decrypt(k.keyOf(namespace, path), sealed, purposeVariable)
	if err != nil {
		return nil, errors.New("it was encrypted with another key or for another path, or is damaged")
	}
	return plain, nil
}

// keyOf derives the key of a path. A path cannot contain the separator.
func (k *RootKey) keyOf(namespace, path string) []byte {
	key, err := hkdf.Expand(sha256.New, k.secret, purposeVariable+"\x00"+namespace+"\x00"+path, pki.ClusterKeySize)
	if err != nil {
		panic("keyring: " + err.Error()) // only a larger key fails
	}
	return key
}

// Fingerprint returns a name for a key that reveals nothing of it.
func Fingerprint(key []byte) string {
	name, err := hkdf.Key(sha256.New, key, nil, purposeFingerprint, 8)
	if err != nil {
		panic("keyring: " + err.Error()) // only a larger name fails
	}
	return hex.EncodeToString(name)
}

// SigningKey derives the key that signs the identities of tasks.
func (k *RootKey) SigningKey() ed25519.PrivateKey {
	seed, err := hkdf.Expand(sha256.New, k.secret, purposeIdentity, ed25519.SeedSize)
	if err != nil {
		panic("keyring: " + err.Error()) // only a larger key fails
	}
	return ed25519.NewKeyFromSeed(seed)
}
