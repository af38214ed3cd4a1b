// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package pki

import (
	"bytes"
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
)

// Bounds of PEM input. A certificate of this package has less than 1 KiB.
const (
	maxPEM   = 64 << 10 // bytes of a file or a message
	maxCerts = 8        // certificates in a bundle or a chain
)

const (
	blockCertificate = "CERTIFICATE"
	blockRequest     = "CERTIFICATE REQUEST"
	blockKey         = "PRIVATE KEY" // PKCS #8
)

// decodeBlocks returns the contents of all PEM blocks, which must be of one type. It accepts
// only white space around them.
func decodeBlocks(text []byte, kind string) ([][]byte, error) {
	if len(text) > maxPEM {
		return nil, fmt.Errorf("has %d bytes, more than %d", len(text), maxPEM)
	}
	var blocks [][]byte
	for rest := bytes.TrimSpace(text); len(rest) > 0; rest = bytes.TrimSpace(rest) {
		if !bytes.HasPrefix(rest, []byte("-----BEGIN ")) {
			return nil, fmt.Errorf("contains text besides its PEM blocks")
		}
		block, after := pem.Decode(rest)
		switch {
		case block == nil || bytes.Contains(rest[1:len(rest)-len(after)], []byte("-----BEGIN ")):
			return nil, errors.New("is truncated or damaged: a PEM block does not end, or is not base64")
		case block.Type != kind:
			return nil, fmt.Errorf("contains a PEM block of type %s; expected %s", show(block.Type), kind)
		case len(blocks) == maxCerts:
			return nil, fmt.Errorf("contains more than %d PEM blocks", maxCerts)
		}
		blocks, rest = append(blocks, block.Bytes), after
	}
	if len(blocks) == 0 {
		return nil, fmt.Errorf("contains no PEM block of type %s", kind)
	}
	return blocks, nil
}

// decodeBlock returns the content of the only PEM block.
func decodeBlock(text []byte, kind string) ([]byte, error) {
	blocks, err := decodeBlocks(text, kind)
	if err != nil {
		return nil, err
	}
	if len(blocks) > 1 {
		return nil, fmt.Errorf("contains %d PEM blocks; expected one", len(blocks))
	}
	return blocks[0], nil
}

func encodeBlock(kind string, der []byte) []byte {
	return pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der})
}

// ParseChain returns the certificates of a PEM text: a leaf and its intermediates.
func ParseChain(certPEM []byte) ([]*x509.Certificate, error) {
	blocks, err := decodeBlocks(certPEM, blockCertificate)
	if err != nil {
		return nil, fmt.Errorf("read certificate: it %w", err)
	}
	chain := make([]*x509.Certificate, len(blocks))
	for i, der := range blocks {
		if chain[i], err = x509.ParseCertificate(der); err != nil {
			return nil, fmt.Errorf("read certificate: it is damaged: %w", err)
		}
	}
	return chain, nil
}

// ParseKey returns the private key of a PEM text.
func ParseKey(keyPEM []byte) (crypto.Signer, error) {
	der, err := decodeBlock(keyPEM, blockKey)
	if err != nil {
		return nil, fmt.Errorf("read private key: it %w", err)
	}
	key, err := x509.ParsePKCS8PrivateKey(der)
	if err != nil {
		return nil, errors.New("read private key: it is damaged") // the cause may quote the key
	}
	signer, ok := key.(crypto.Signer)
	if !ok {
		return nil, fmt.Errorf("read private key: a key of type %T cannot sign", key)
	}
	if err := checkKey(signer.Public()); err != nil {
		return nil, fmt.Errorf("read private key: %w", err)
	}
	return signer, nil
}

// checkKey accepts the two kinds of keys that members may have.
func checkKey(public crypto.PublicKey) error {
	switch key := public.(type) {
	case *ecdsa.PublicKey:
		if key.Curve == elliptic.P256() {
			return nil
		}
		return fmt.Errorf("an ECDSA key on curve %s is not supported: use P-256", key.Curve.Params().Name)
	case ed25519.PublicKey:
		return nil
	}
	return errors.New("a key must be ECDSA P-256 or Ed25519")
}
