// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package pki

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/ecdh"
	"crypto/hpke"
	"crypto/rand"
	"errors"
	"fmt"
)

// ClusterKeySize is the size of a cluster key in bytes.
const ClusterKeySize = 32

// sealVersion is the first byte of everything that Seal and Encrypt return. A change of
// algorithms gets another number.
const sealVersion = 1

func kem() hpke.KEM { return hpke.DHKEM(ecdh.X25519()) }

// NewSealKey creates the key pair of a server, to which other servers seal secrets.
func NewSealKey() (private, public []byte, err error) {
	key, err := kem().GenerateKey()
	if err != nil {
		return nil, nil, fmt.Errorf("create seal key: %w", err)
	}
	if private, err = key.Bytes(); err != nil {
		return nil, nil, fmt.Errorf("create seal key: %w", err)
	}
	return private, key.PublicKey().Bytes(), nil
}

// SealPublic returns the public key that belongs to a private seal key.
func SealPublic(private []byte) ([]byte, error) {
	key, err := kem().NewPrivateKey(private)
	if err != nil {
		return nil, errors.New("read seal key: it is damaged")
	}
	return key.PublicKey().Bytes(), nil
}

// Seal encrypts a secret for the server with a public seal key: HPKE with X25519,
// HKDF-SHA256 and AES-256-GCM. Unseal needs the same purpose.
func Seal(public, secret []byte, purpose string) ([]byte, error) {
	key, err := kem().NewPublicKey(public)
	if err != nil {
		return nil, fmt.Errorf("seal secret: the server's seal key is damaged: %w", err)
	}
	sealed, err := hpke.Seal(key, hpke.HKDFSHA256(), hpke.AES256GCM(), binding(purpose), secret)
	if err != nil {
		return nil, fmt.Errorf("seal secret: %w", err)
	}
	return append([]byte{sealVersion}, sealed...), nil
}

// Unseal decrypts what Seal encrypted.
func Unseal(private, sealed []byte, purpose string) ([]byte, error) {
	key, err := kem().NewPrivateKey(private)
	if err != nil {
		return nil, errors.New("unseal secret: the seal key is damaged")
	}
	if len(sealed) == 0 || sealed[0] != sealVersion {
		return nil, errUnknownSeal
	}
	secret, err := hpke.Open(key, hpke.HKDFSHA256(), hpke.AES256GCM(), binding(purpose), sealed[1:])
	if err != nil {
		return nil, errors.New("unseal secret: it was sealed for another server or another purpose, or is damaged")
	}
	return secret, nil
}

var errUnknownSeal = errors.New("decrypt secret: it is damaged, or a newer release encrypted it: upgrade this server")

// binding returns the text that binds a ciphertext to its purpose.
func binding(purpose string) []byte { return []byte("reeve/1 " + purpose) }

// NewClusterKey creates the key that encrypts the secrets in a cluster's state.
func NewClusterKey() []byte {
	key := make([]byte, ClusterKeySize)
	_, _ = rand.Read(key) // it never fails
	return key
}

// Encrypt encrypts with AES-256-GCM and a random nonce. Decrypt needs the same purpose.
// Encrypt panics if the key does not have ClusterKeySize bytes.
func Encrypt(clusterKey, plain []byte, purpose string) []byte {
	aead, err := newAEAD(clusterKey)
	if err != nil {
		panic("pki: " + err.Error())
	}
	return aead.Seal([]byte{sealVersion}, nil, plain, binding(purpose))
}

// Decrypt decrypts what Encrypt encrypted.
func Decrypt(clusterKey, sealed []byte, purpose string) ([]byte, error) {
	aead, err := newAEAD(clusterKey)
	if err != nil {
		return nil, fmt.Errorf("decrypt secret: %w", err)
	}
	if len(sealed) == 0 || sealed[0] != sealVersion {
		return nil, errUnknownSeal
	}
	plain, err := aead.Open(nil, nil, sealed[1:], binding(purpose))
	if err != nil {
		return nil, errors.New("decrypt secret: another cluster key or purpose encrypted it, or it is damaged")
	}
	return plain, nil
}

func newAEAD(clusterKey []byte) (cipher.AEAD, error) {
	if len(clusterKey) != ClusterKeySize {
		return nil, fmt.Errorf("the cluster key has %d bytes; expected %d", len(clusterKey), ClusterKeySize)
	}
	block, err := aes.NewCipher(clusterKey)
	if err != nil {
		return nil, err
	}
	return cipher.NewGCMWithRandomNonce(block)
}
