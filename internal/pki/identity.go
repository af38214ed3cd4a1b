// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package pki

import (
	"crypto/x509"
	"errors"
	"time"
)

// An Identity is a member whose certificate was verified.
type Identity struct {
	ID        string
	Role      Role
	ClusterID string // empty if an external authority signed the certificate
	NotBefore time.Time
	NotAfter  time.Time
	Expired   bool   // reports whether the certificate expired, at the time of verification
	Key       []byte // public key: SubjectPublicKeyInfo in DER
}

// maxChain bounds the certificates that a peer may present: its leaf, and cross-signed roots
// or intermediate authorities.
const maxChain = 5

// Identify returns the member to which a verified chain belongs. The first certificate is
// the leaf. Identify accepts an expired leaf, and reports it: callers decide what its owner
// may still do. Errors are of type *CertificateError.
func (r *Roots) Identify(chain []*x509.Certificate, now time.Time) (Identity, error) {
	if len(chain) == 0 {
		return Identity{}, refuse(ReasonMissing, "the peer presented no certificate: it is no member of a cluster, or has not joined yet")
	}
	leaf := chain[0]
	if err := r.verify(chain, now); err != nil {
		return Identity{}, err
	}
	id, err := r.subject(leaf)
	if err != nil {
		return Identity{}, err
	}
	if early := leaf.NotBefore.Sub(now); early > 0 {
		e := refuse(ReasonEarly, "the certificate of %s becomes valid at %s, but the clock of this machine shows %s: the clock of this machine or of the server that signed the certificate is wrong by at least %s; correct it",
			show(id.ID), stamp(leaf.NotBefore), stamp(now), early.Round(time.Second))
		e.Skew = early
		return Identity{}, e
	}
	id.NotBefore, id.NotAfter, id.Expired, id.Key = leaf.NotBefore, leaf.NotAfter, now.After(leaf.NotAfter), leaf.RawSubjectPublicKeyInfo
	return id, nil
}

// verify checks the signatures, at a time at which the leaf was valid: a foreign certificate
// is refused as foreign, also if a clock is wrong.
func (r *Roots) verify(chain []*x509.Certificate, now time.Time) error {
	leaf := chain[0]
	if len(chain) > maxChain {
		return refuse(ReasonMalformed, "the peer presented %d certificates; at most %d are expected", len(chain), maxChain)
	}
	intermediates := x509.NewCertPool()
	for _, c := range chain[1:] {
		intermediates.AddCert(c)
	}
	_, err := leaf.Verify(x509.VerifyOptions{
		Roots: r.pool, Intermediates: intermediates,
		CurrentTime: earliest(latest(now, leaf.NotBefore), leaf.NotAfter),
		KeyUsages:   []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	})
	var invalid x509.CertificateInvalidError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &invalid) && invalid.Reason == x509.Expired:
		if r.external {
			return refuse(ReasonExpired, "an authority that signed the certificate of %s is not valid at %s: replace it in ca_file, or correct the clock", show(leaf.Subject.CommonName), stamp(now))
		}
		return refuse(ReasonExpired, "the root that signed the certificate of %s is not valid at %s: rotate the cluster's root, or correct the clock", show(leaf.Subject.CommonName), stamp(now))
	}
	if leaf.Subject.CommonName == temporaryName {
		return refuse(ReasonForeign, "the peer is joining a cluster, and has no certificate of this one yet: if it does not stop soon, read the log of its agent")
	}
	if r.external {
		return refuse(ReasonForeign, "no authority in ca_file signed the certificate of %s (issuer %s): add its authority to ca_file, or give the peer another certificate (%v)",
			show(leaf.Subject.CommonName), show(leaf.Issuer.CommonName), err)
	}
	return refuse(ReasonForeign, "no root of cluster %s signed the certificate of %s (issuer %s): the peer belongs to another cluster, or missed the rotation of the root; remove the directory identity in its data directory, and join it again",
		show(r.ClusterID()), show(leaf.Subject.CommonName), show(leaf.Issuer.CommonName))
}

// subject returns what a leaf says about its owner.
func (r *Roots) subject(leaf *x509.Certificate) (Identity, error) {
	name := leaf.Subject
	switch {
	case leaf.IsCA:
		return Identity{}, refuse(ReasonMalformed, "the peer presented the certificate of an authority, not of a member")
	case r.external:
		return r.externalSubject(leaf)
	case len(name.Organization) != 1 || name.Organization[0] == "":
		return Identity{}, refuse(ReasonMalformed, "the certificate of %s names no cluster", show(name.CommonName))
	case name.Organization[0] != r.ClusterID():
		return Identity{}, refuse(ReasonCluster, "the certificate of %s belongs to cluster %s, not to %s", show(name.CommonName), show(name.Organization[0]), show(r.ClusterID()))
	case !isID(name.CommonName):
		return Identity{}, refuse(ReasonMalformed, "the certificate has no valid member id: %s", show(name.CommonName))
	case len(name.OrganizationalUnit) != 1:
		return Identity{}, refuse(ReasonMalformed, "the certificate of %s has %d roles; expected one", show(name.CommonName), len(name.OrganizationalUnit))
	}
	role := Role(name.OrganizationalUnit[0])
	if role != RoleServer && role != RoleNode {
		return Identity{}, refuse(ReasonRole, "the certificate of %s has the role %s; expected server or node", show(name.CommonName), show(string(role)))
	}
	return Identity{ID: name.CommonName, Role: role, ClusterID: r.ClusterID()}, nil
}
