// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package identity

import (
	"crypto/ed25519"
	"encoding/base64"

	"github.com/go-jose/go-jose/v4"
)

// Algorithm is that of all signatures.
const Algorithm = string(jose.EdDSA)

// A KeySet holds the public keys that verify identities: a JSON Web Key Set (RFC 7517, RFC 8037).
type KeySet struct {
	Keys []Key `json:"keys"`
}

// A Key is a public Ed25519 key.
type Key struct {
	KeyType   string `json:"kty"`
	Curve     string `json:"crv"`
	Public    string `json:"x"` // base64url
	ID        string `json:"kid"`
	Use       string `json:"use"`
	Algorithm string `json:"alg"`
}

// Add adds a public key.
func (s *KeySet) Add(id string, key ed25519.PublicKey) {
	s.Keys = append(s.Keys, Key{
		KeyType: "OKP", Curve: "Ed25519", Public: base64.RawURLEncoding.EncodeToString(key), ID: id, Use: "sig", Algorithm: Algorithm,
	})
}
