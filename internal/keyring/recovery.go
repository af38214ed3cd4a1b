// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package keyring

import (
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base32"
	"errors"
	"strings"

	"github.com/reeve-run/reeve/internal/pki"
)

const (
	recoveryPrefix = "reeve-recovery-1-"
	checkBytes     = 4 // of a recovery key's SHA-256, against mistakes of typing
)

var recoveryEncoding = base32.StdEncoding.WithPadding(base32.NoPadding)

// A Recovery is the secret with which an operator opens root keys on new machines. The cluster has
// only its public key.
type Recovery struct{ private []byte }

// NewRecovery creates a recovery key.
func NewRecovery() (*Recovery, error) {
	private, _, err := pki.NewSealKey()
	if err != nil {
		return nil, err
	}
	return &Recovery{private}, nil
}

// Text returns the secret as its operator keeps it.
func (r *Recovery) Text() string {
	sum := sha256.Sum256(r.private)
	return recoveryPrefix + strings.ToLower(recoveryEncoding.EncodeToString(append(r.private[:len(r.private):len(r.private)], sum[:checkBytes]...)))
}

// String hides the secret.
func (r *Recovery) String() string { return recoveryPrefix + "..." }

// GoString hides the secret.
func (r *Recovery) GoString() string { return r.String() }

// Public returns the public key.
func (r *Recovery) Public() []byte {
	public, err := pki.SealPublic(r.private)
	if err != nil {
		panic("keyring: " + err.Error()) // ParseRecovery checked it
	}
	return public
}

// ParseRecovery reads the text of a recovery key. White space within it, as in a letter, does not
// matter. No error repeats the text.
func ParseRecovery(text string) (*Recovery, error) {
	text = strings.ToLower(strings.Join(strings.Fields(text), ""))
	encoded, ok := strings.CutPrefix(text, recoveryPrefix)
	if !ok {
		return nil, errors.New("this is no recovery key: it begins with " + recoveryPrefix)
	}
	data, err := recoveryEncoding.DecodeString(strings.ToUpper(encoded))
	if err != nil || len(data) <= checkBytes {
		return nil, errors.New("the recovery key is not complete, or has a wrong character")
	}
	private, check := data[:len(data)-checkBytes], data[len(data)-checkBytes:]
	sum := sha256.Sum256(private)
	if subtle.ConstantTimeCompare(sum[:checkBytes], check) != 1 {
		return nil, errors.New("the recovery key is mistyped: its last characters do not fit the others")
	}
	if _, err := pki.SealPublic(private); err != nil {
		return nil, errors.New("the recovery key is damaged")
	}
	return &Recovery{private}, nil
}

// SealFor encrypts the key for the recovery key with a public key.
func (k *RootKey) SealFor(public []byte) ([]byte, error) {
	return pki.Seal(public, k.secret, purposeRoot+k.id)
}

// Open decrypts a root key that SealFor encrypted.
func (r *Recovery) Open(id string, sealed []byte) (*RootKey, error) {
	secret, err := pki.Unseal(r.private, sealed, purposeRoot+id)
	return opened(id, secret, err)
}
