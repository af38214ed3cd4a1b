// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package trust

import (
	"crypto/ecdh"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"

	"github.com/reeve-run/reeve/internal/pki"
)

const keyBlock = "PRIVATE KEY" // PKCS #8

// newSealKey creates a private seal key, as its file holds it.
func newSealKey() ([]byte, error) {
	private, _, err := pki.NewSealKey()
	if err != nil {
		return nil, err
	}
	key, err := ecdh.X25519().NewPrivateKey(private)
	if err != nil {
		return nil, fmt.Errorf("create seal key: %w", err)
	}
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return nil, fmt.Errorf("create seal key: %w", err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: keyBlock, Bytes: der}), nil
}

// decodeSealKey returns the private seal key of a file.
func decodeSealKey(text []byte) ([]byte, error) {
	block, rest := pem.Decode(text)
	if block == nil || block.Type != keyBlock || len(rest) > 0 {
		return nil, errors.New("it is truncated or damaged")
	}
	key, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	if err != nil {
		return nil, errors.New("it is damaged") // the cause may quote the key
	}
	x, ok := key.(*ecdh.PrivateKey)
	if !ok || x.Curve() != ecdh.X25519() {
		return nil, errors.New("it is no X25519 key")
	}
	return x.Bytes(), nil
}
