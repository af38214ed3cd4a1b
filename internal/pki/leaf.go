// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package pki

import (
	"crypto/x509"
	"crypto/x509/pkix"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"time"
)

// A Role is what a member may do in its cluster.
type Role string

// Roles of members.
const (
	RoleServer Role = "server"
	RoleNode   Role = "node"
)

// Lifetimes of members' certificates.
const (
	DefaultLifetime = 90 * 24 * time.Hour
	MinLifetime     = time.Hour
)

// A Leaf describes a member's certificate.
type Leaf struct {
	ID        string // of the member
	Role      Role
	ClusterID string
	Region    string
	Address   string        // advertised HOST:PORT of a server; "" for none
	Lifetime  time.Duration // 0: DefaultLifetime; at least MinLifetime
}

// Sign signs a member's certificate for the public key of a certificate signing request, and
// ignores everything else in the request. The result ends with the authority's cross-signed
// certificates, if it has any.
func (a *Authority) Sign(csrPEM []byte, leaf Leaf, now time.Time) (certPEM []byte, err error) {
	public, err := requestKey(csrPEM)
	if err != nil {
		return nil, err
	}
	template, err := a.template(leaf, now)
	if err != nil {
		return nil, fmt.Errorf("sign certificate of %s: %w", show(leaf.ID), err)
	}
	cert, err := signCertificate(template, a.root, public, a.key)
	if err != nil {
		return nil, fmt.Errorf("sign certificate of %s: %w", show(leaf.ID), err)
	}
	certPEM = encodeBlock(blockCertificate, cert.Raw)
	for _, cross := range a.carry {
		certPEM = append(certPEM, encodeBlock(blockCertificate, cross.Raw)...)
	}
	return certPEM, nil
}

func (a *Authority) template(leaf Leaf, now time.Time) (*x509.Certificate, error) {
	if leaf.Lifetime == 0 {
		leaf.Lifetime = DefaultLifetime
	}
	switch {
	case !isID(leaf.ID):
		return nil, fmt.Errorf("a member's id must have 1 to %d letters, digits, \".\", \"-\" or \"_\", and begin and end with a letter or digit", maxIDLength)
	case leaf.Role != RoleServer && leaf.Role != RoleNode:
		return nil, fmt.Errorf("role %s is unknown; use server or node", show(string(leaf.Role)))
	case leaf.ClusterID != a.ClusterID():
		return nil, fmt.Errorf("the authority belongs to cluster %s, not to %s", show(a.ClusterID()), show(leaf.ClusterID))
	case leaf.Lifetime < MinLifetime:
		return nil, fmt.Errorf("lifetime %s is below the minimum of %s", leaf.Lifetime, MinLifetime)
	case now.Before(a.root.NotBefore):
		return nil, fmt.Errorf("the cluster's root becomes valid at %s, but the clock of this server shows %s: correct the clock", stamp(a.root.NotBefore), stamp(now))
	case now.Add(MinLifetime).After(a.root.NotAfter):
		return nil, fmt.Errorf("the cluster's root expires at %s: rotate it", stamp(a.root.NotAfter))
	}
	names, ips, err := alternatives(leaf)
	if err != nil {
		return nil, err
	}
	return &x509.Certificate{
		Subject: pkix.Name{
			CommonName: leaf.ID, Organization: []string{leaf.ClusterID}, OrganizationalUnit: []string{string(leaf.Role)},
		},
		DNSNames:              names,
		IPAddresses:           ips,
		NotBefore:             latest(now.Add(-Backdate), a.root.NotBefore),
		NotAfter:              earliest(now.Add(leaf.Lifetime), a.root.NotAfter),
		KeyUsage:              x509.KeyUsageDigitalSignature,
		ExtKeyUsage:           []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
		BasicConstraintsValid: true,
	}, nil
}

// alternatives returns the names and addresses by which clients outside of the cluster, such
// as browsers, reach a member.
//
// A node's certificate has no address. Such clients know nothing of roles, and a node chooses
// the address that it advertises: with the address of a server in its certificate, it could
// take the place of that server.
func alternatives(leaf Leaf) (names []string, ips []net.IP, err error) {
	var host string
	var ip netip.Addr
	if leaf.Role == RoleServer && leaf.Address != "" {
		if host, ip, err = splitAddress(leaf.Address); err != nil {
			return nil, nil, err
		}
	}
	role := string(leaf.Role) + "." + leaf.Region + ".reeve"
	if !isHost(role) {
		return nil, nil, fmt.Errorf("region %s cannot be part of a host name: use letters, digits and \"-\"", show(leaf.Region))
	}
	names = []string{"localhost", role}
	addrs := []netip.Addr{netip.AddrFrom4([4]byte{127, 0, 0, 1}), netip.IPv6Loopback()}
	if ip.IsValid() {
		addrs = append(addrs, ip)
	} else if host != "" {
		names = append(names, host)
	}
	slices.SortFunc(addrs, netip.Addr.Compare)
	slices.Sort(names)
	for _, addr := range slices.Compact(addrs) {
		ips = append(ips, addr.AsSlice())
	}
	return slices.Compact(names), ips, nil
}

// RenewAt returns the time at which a member renews its certificate: between 50 and 80 % of
// the life that the signer intended. random is in [0, 1), and spreads the members of a fleet.
func RenewAt(notBefore, notAfter time.Time, random float64) time.Time {
	start := notBefore.Add(Backdate)
	if !start.Before(notAfter) {
		start = notBefore
	}
	random = min(max(random, 0), 1)
	return start.Add(time.Duration(float64(notAfter.Sub(start)) * (0.5 + 0.3*random)))
}
