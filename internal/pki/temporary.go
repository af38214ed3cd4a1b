// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package pki

import (
	"crypto/x509"
	"crypto/x509/pkix"
	"fmt"
	"time"
)

// temporaryName is the common name of temporary certificates.
const temporaryName = "reeve-joining"

// temporaryLifetime bounds a temporary certificate, which an agent keeps in memory alone.
const temporaryLifetime = 10 * 365 * 24 * time.Hour

// Temporary returns a certificate that a key signs for itself. A joiner serves it until it has
// a certificate of the cluster: the leader dials the joiner, and compares the key with the
// joiner's request. No member trusts it.
func Temporary(keyPEM []byte, now time.Time) (certPEM []byte, err error) {
	key, err := ParseKey(keyPEM)
	if err != nil {
		return nil, err
	}
	template := &x509.Certificate{
		Subject:               pkix.Name{CommonName: temporaryName},
		NotBefore:             now.Add(-Backdate),
		NotAfter:              now.Add(temporaryLifetime),
		KeyUsage:              x509.KeyUsageDigitalSignature,
		ExtKeyUsage:           []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
		BasicConstraintsValid: true,
	}
	cert, err := signCertificate(template, template, key.Public(), key)
	if err != nil {
		return nil, fmt.Errorf("create temporary certificate: %w", err)
	}
	return encodeBlock(blockCertificate, cert.Raw), nil
}
