// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package pki

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"fmt"
)

// NewKey creates the private key of a member: ECDSA P-256.
func NewKey() (keyPEM []byte, err error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("create key: %w", err)
	}
	return encodeKey(key)
}

func encodeKey(key crypto.Signer) ([]byte, error) {
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return nil, fmt.Errorf("encode key: %w", err)
	}
	return encodeBlock(blockKey, der), nil
}

// NewRequest creates a certificate signing request. The authority takes nothing from it but
// the public key; the name helps a person who reads it.
func NewRequest(keyPEM []byte, id string) (csrPEM []byte, err error) {
	key, err := ParseKey(keyPEM)
	if err != nil {
		return nil, err
	}
	der, err := x509.CreateCertificateRequest(rand.Reader, &x509.CertificateRequest{Subject: pkix.Name{CommonName: id}}, key)
	if err != nil {
		return nil, fmt.Errorf("create certificate request: %w", err)
	}
	return encodeBlock(blockRequest, der), nil
}

// RequestKey returns the public key of a certificate signing request as SubjectPublicKeyInfo
// in DER, after it verified that the sender has the private key.
func RequestKey(csrPEM []byte) (spki []byte, err error) {
	public, err := requestKey(csrPEM)
	if err != nil {
		return nil, err
	}
	return x509.MarshalPKIXPublicKey(public)
}

func requestKey(csrPEM []byte) (crypto.PublicKey, error) {
	der, err := decodeBlock(csrPEM, blockRequest)
	if err != nil {
		return nil, fmt.Errorf("read certificate request: it %w", err)
	}
	request, err := x509.ParseCertificateRequest(der)
	if err != nil {
		return nil, fmt.Errorf("read certificate request: it is damaged: %w", err)
	}
	// The kind of key comes first: to verify a huge RSA key is expensive.
	if err := checkKey(request.PublicKey); err != nil {
		return nil, fmt.Errorf("read certificate request: %w", err)
	}
	if err := request.CheckSignature(); err != nil {
		return nil, fmt.Errorf("read certificate request: its signature does not fit its key: %w", err)
	}
	return request.PublicKey, nil
}
