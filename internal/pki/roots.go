// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package pki

import (
	"crypto/sha256"
	"crypto/x509"
	"errors"
	"fmt"
	"math/big"
	"slices"
	"time"
)

// Roots are the root certificates that a member trusts, newest first: one, or two during a
// rotation.
type Roots struct {
	certs []*x509.Certificate
	pool  *x509.CertPool

	external bool   // reports whether they belong to authorities outside of the cluster
	region   string // of members with external certificates; "" for any
}

// ParseRoots returns the roots of a PEM text, newest first.
func ParseRoots(rootsPEM []byte) (*Roots, error) {
	certs, err := ParseChain(rootsPEM)
	if err != nil {
		return nil, fmt.Errorf("read roots: %w", err)
	}
	for i, root := range certs {
		if err := checkRoot(root); err != nil {
			return nil, fmt.Errorf("read roots: certificate %d: %w", i+1, err)
		}
		if organization(root) != organization(certs[0]) {
			return nil, fmt.Errorf("read roots: certificate %d belongs to cluster %s, but the first to %s", i+1, show(organization(root)), show(organization(certs[0])))
		}
		if slices.ContainsFunc(certs[:i], root.Equal) {
			return nil, fmt.Errorf("read roots: certificate %d is a duplicate", i+1)
		}
	}
	return newRoots(certs), nil
}

func newRoots(certs []*x509.Certificate) *Roots {
	r := &Roots{certs: certs, pool: x509.NewCertPool()}
	for _, root := range certs {
		r.pool.AddCert(root)
	}
	return r
}

func checkRoot(root *x509.Certificate) error {
	switch {
	case !root.IsCA || !root.BasicConstraintsValid:
		return errors.New("it is not the certificate of an authority")
	case len(root.Subject.Organization) != 1 || !isID(root.Subject.Organization[0]):
		return errors.New("it names no cluster")
	}
	if err := checkKey(root.PublicKey); err != nil {
		return err
	}
	if err := root.CheckSignatureFrom(root); err != nil {
		return errors.New("it is not self-signed, or its signature is wrong")
	}
	return nil
}

// PEM returns the certificates.
func (r *Roots) PEM() []byte {
	var text []byte
	for _, root := range r.certs {
		text = append(text, encodeBlock(blockCertificate, root.Raw)...)
	}
	return text
}

// Pool returns the certificates for a TLS configuration.
func (r *Roots) Pool() *x509.CertPool { return r.pool.Clone() }

// ClusterID returns the id of the cluster; "" for external authorities.
func (r *Roots) ClusterID() string {
	if r.external {
		return ""
	}
	return organization(r.certs[0])
}

// Expires returns the time at which the newest root expires.
func (r *Roots) Expires() time.Time { return r.certs[0].NotAfter }

// Digests returns the digests of the roots, newest first.
func (r *Roots) Digests() []string {
	var digests []string
	for _, root := range r.certs {
		digests = append(digests, digestOf(root.Raw))
	}
	return digests
}

// HasDigest reports whether one of the roots has the digest. It does not make the other roots
// trustworthy: a joiner, which received them over a connection that it could not verify, uses
// Pin.
func (r *Roots) HasDigest(digest string) bool {
	_, ok := r.Pin(digest)
	return ok
}

// Pin returns the root with the digest alone.
func (r *Roots) Pin(digest string) (*Roots, bool) {
	for _, root := range r.certs {
		if digestOf(root.Raw) == digest {
			return newRoots([]*x509.Certificate{root}), true
		}
	}
	return nil, false
}

// Digest returns the digest of the oldest of a cluster's roots, which tokens contain. Until a
// rotation ends, members verify old and new certificates with the oldest root.
func Digest(rootsPEM []byte) (string, error) {
	roots, err := ParseRoots(rootsPEM)
	if err != nil {
		return "", err
	}
	return digestOf(roots.certs[len(roots.certs)-1].Raw), nil
}

func digestOf(der []byte) string {
	sum := sha256.Sum256(der)
	return base36(sum[:])
}

// base36 encodes bytes with digits and lower-case letters, in a length that depends only on
// their number: 25 characters for 16 bytes, 50 for 32.
func base36(b []byte) string {
	text := new(big.Int).SetBytes(b).Text(36)
	return fmt.Sprintf("%0*s", base36Length(len(b)), text)
}

// base36Length returns the number of characters for n bytes.
func base36Length(n int) int {
	most := new(big.Int).Lsh(big.NewInt(1), uint(8*n))
	return len(most.Sub(most, big.NewInt(1)).Text(36))
}
