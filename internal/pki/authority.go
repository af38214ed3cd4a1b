// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package pki

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"time"
)

// rootLifetime is the life of a root: 20 years.
const rootLifetime = 20 * 365 * 24 * time.Hour

// Backdate is the time by which certificates become valid before they are signed, so that a
// member whose clock is slow accepts them.
const Backdate = time.Hour

// An Authority is the root certificate of a cluster and its key. It signs the certificates of
// members.
type Authority struct {
	root  *x509.Certificate
	key   crypto.Signer
	carry []*x509.Certificate // certificates by which members that know only an earlier root verify new leaves
}

// NewAuthority creates the authority of a cluster, or its successor in a rotation.
func NewAuthority(clusterID string, now time.Time) (*Authority, error) {
	if !isID(clusterID) {
		return nil, fmt.Errorf("create authority: cluster id %s must have 1 to %d letters, digits, \".\", \"-\" or \"_\", and begin and end with a letter or digit", show(clusterID), maxIDLength)
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("create authority: %w", err)
	}
	public, err := x509.MarshalPKIXPublicKey(key.Public())
	if err != nil {
		return nil, fmt.Errorf("create authority: %w", err)
	}
	digest := sha256.Sum256(public)
	template := &x509.Certificate{
		// The name differs per key: verifiers find the issuer of a certificate by name.
		Subject:               pkix.Name{CommonName: "reeve-ca-" + hex.EncodeToString(digest[:4]), Organization: []string{clusterID}},
		NotBefore:             now.Add(-Backdate),
		NotAfter:              now.Add(rootLifetime),
		KeyUsage:              x509.KeyUsageCertSign,
		IsCA:                  true,
		BasicConstraintsValid: true,
	}
	root, err := signCertificate(template, template, key.Public(), key)
	if err != nil {
		return nil, fmt.Errorf("create authority: %w", err)
	}
	return &Authority{root: root, key: key}, nil
}

func signCertificate(template, parent *x509.Certificate, public crypto.PublicKey, key crypto.Signer) (*x509.Certificate, error) {
	der, err := x509.CreateCertificate(rand.Reader, template, parent, public, key)
	if err != nil {
		return nil, err
	}
	return x509.ParseCertificate(der)
}

// ParseAuthority returns the authority with a private key. The certificates are those of the
// cluster's roots; during a rotation, the key decides which of them is the authority's.
func ParseAuthority(certPEM, keyPEM []byte) (*Authority, error) {
	roots, err := ParseRoots(certPEM)
	if err != nil {
		return nil, fmt.Errorf("read authority: %w", err)
	}
	key, err := ParseKey(keyPEM)
	if err != nil {
		return nil, fmt.Errorf("read authority: %w", err)
	}
	for _, root := range roots.certs {
		if samePublicKey(root.PublicKey, key.Public()) {
			return &Authority{root: root, key: key}, nil
		}
	}
	return nil, errors.New("read authority: the private key belongs to no root certificate")
}

func samePublicKey(a, b crypto.PublicKey) bool {
	key, ok := a.(interface{ Equal(crypto.PublicKey) bool })
	return ok && key.Equal(b)
}

// CertPEM returns the root certificate.
func (a *Authority) CertPEM() []byte { return encodeBlock(blockCertificate, a.root.Raw) }

// KeyPEM returns the private key, which is the cluster's most valuable secret.
func (a *Authority) KeyPEM() ([]byte, error) { return encodeKey(a.key) }

// ClusterID returns the id of the authority's cluster.
func (a *Authority) ClusterID() string { return organization(a.root) }

// organization returns the cluster id of a root that ParseRoots or NewAuthority checked.
func organization(root *x509.Certificate) string { return root.Subject.Organization[0] }

// CrossSign signs the root of a successor, so that members that know only this authority's
// root verify the certificates that the successor signs. The successor's leaves carry the
// result: see WithCrossSigned.
func (a *Authority) CrossSign(next *Authority) (certPEM []byte, err error) {
	switch {
	case samePublicKey(a.root.PublicKey, next.root.PublicKey):
		return nil, errors.New("cross-sign root: an authority does not succeed itself")
	case a.ClusterID() != next.ClusterID():
		return nil, fmt.Errorf("cross-sign root: it belongs to cluster %s, not to %s", show(next.ClusterID()), show(a.ClusterID()))
	}
	template := &x509.Certificate{
		Subject:               next.root.Subject,
		SubjectKeyId:          next.root.SubjectKeyId,
		NotBefore:             latest(a.root.NotBefore, next.root.NotBefore),
		NotAfter:              earliest(a.root.NotAfter, next.root.NotAfter),
		KeyUsage:              x509.KeyUsageCertSign,
		IsCA:                  true,
		BasicConstraintsValid: true,
	}
	if !template.NotBefore.Before(template.NotAfter) {
		return nil, fmt.Errorf("cross-sign root: the old root expired at %s, before the new one becomes valid: members must join again", stamp(a.root.NotAfter))
	}
	cross, err := signCertificate(template, a.root, next.root.PublicKey, a.key)
	if err != nil {
		return nil, fmt.Errorf("cross-sign root: %w", err)
	}
	return encodeBlock(blockCertificate, cross.Raw), nil
}

// WithCrossSigned returns the authority with cross-signed certificates of its root, which the
// leaves that it signs carry. Without certificates, leaves carry none.
func (a *Authority) WithCrossSigned(certPEM []byte) (*Authority, error) {
	next := &Authority{root: a.root, key: a.key}
	if len(certPEM) == 0 {
		return next, nil
	}
	carry, err := ParseChain(certPEM)
	if err != nil {
		return nil, err
	}
	if slices.ContainsFunc(carry, func(c *x509.Certificate) bool { return !c.IsCA || !samePublicKey(c.PublicKey, a.root.PublicKey) }) {
		return nil, errors.New("read cross-signed certificate: it does not certify the key of this root")
	}
	next.carry = carry
	return next, nil
}

func earliest(a, b time.Time) time.Time {
	if b.Before(a) {
		return b
	}
	return a
}

func latest(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}
