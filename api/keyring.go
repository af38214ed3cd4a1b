// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package api

// States of root keys.
const (
	RootKeyActive       = "active"       // encrypts new writes
	RootKeyPrepublished = "prepublished" // becomes active at its PublishTime
	RootKeyRekeying     = "rekeying"     // its variables are being encrypted with the active key
	RootKeyInactive     = "inactive"     // only decrypts
)

// RootKeyAES256GCM is the algorithm of all root keys.
const RootKeyAES256GCM = "aes256-gcm"

// A RootKey describes a key that encrypts variables. The key itself never leaves the servers.
type RootKey struct {
	KeyID       string
	Algorithm   string
	State       string
	CreateTime  int64 // Unix time in nanoseconds
	PublishTime int64 // Unix time in nanoseconds
	Variables   int   // that it encrypts
	// Problem is why this server cannot use the key; "": it can.
	Problem string `json:",omitempty"`
	// Recovery is the name of the recovery key that opens the key; "": none does.
	Recovery string `json:",omitempty"`

	CreateIndex uint64
	ModifyIndex uint64
}

// A KeyringRotateResponse is the new root key.
type KeyringRotateResponse struct {
	Key   *RootKey
	Index uint64
}

// A RecoveryKey describes the key with which an operator opens the root keys on new machines.
type RecoveryKey struct {
	Name       string // fingerprint of the public key
	PublicKey  []byte // X25519
	CreateTime int64  // Unix time in nanoseconds

	CreateIndex uint64
	ModifyIndex uint64
}

// A RecoverKeyringRequest contains the secret of a recovery key.
type RecoverKeyringRequest struct{ RecoveryKey string }

// A RecoverKeyringResponse says what a recovery key opened.
type RecoverKeyringResponse struct {
	Recovered []string // ids of root keys
	Failed    []string // reasons, each with the id of a root key
	Index     uint64
}
