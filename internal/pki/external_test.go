// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package pki

import (
	"crypto"
	"crypto/elliptic"
	"crypto/x509"
	"crypto/x509/pkix"
	"net"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// A company is an authority that knows nothing of clusters: it has an intermediate authority,
// and keys of other kinds.
type company struct {
	root, middle *x509.Certificate
	key          crypto.Signer // of the intermediate authority
}

// companyKey is slow to make, and nothing depends on its being new.
var companyKey = sync.OnceValue(func() crypto.Signer { return rsaKey(2048) })

func newCompany() company {
	rootKey, key := ecKey(elliptic.P521()), ecKey(elliptic.P384())
	authority := func(name string) *x509.Certificate {
		return &x509.Certificate{
			Subject: pkix.Name{CommonName: name}, NotBefore: day.Add(-time.Hour), NotAfter: day.Add(1000 * time.Hour),
			KeyUsage: x509.KeyUsageCertSign, IsCA: true, BasicConstraintsValid: true,
		}
	}
	template := authority("Example Root")
	root := must(signCertificate(template, template, rootKey.Public(), rootKey))
	return company{root, must(signCertificate(authority("Example Issuing CA"), root, key.Public(), rootKey)), key}
}

// issue returns the chain of a certificate with a common name, DNS names and addresses.
func (c company) issue(change func(*x509.Certificate), name string, names ...string) []*x509.Certificate {
	template := &x509.Certificate{
		Subject: pkix.Name{CommonName: name}, DNSNames: names, NotBefore: day.Add(-time.Hour), NotAfter: day.Add(100 * time.Hour),
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}
	if change != nil {
		change(template)
	}
	return []*x509.Certificate{must(signCertificate(template, c.middle, companyKey().Public(), c.key)), c.middle}
}

func (c company) roots(region string) *Roots {
	text := append([]byte("Certificate of the company:\n"), encodeBlock(blockCertificate, c.root.Raw)...)
	return must(ParseExternalRoots(append(text, "\nThe end.\n"...), region))
}

func TestExternalCertificatesNameRoleAndMachine(t *testing.T) {
	c := newCompany()
	addresses := func(ips ...string) func(*x509.Certificate) {
		return func(template *x509.Certificate) {
			for _, ip := range ips {
				template.IPAddresses = append(template.IPAddresses, net.ParseIP(ip))
			}
		}
	}
	for _, k := range []struct {
		chain []*x509.Certificate
		id    string
		role  Role
	}{
		{c.issue(nil, "s1.example.com", "s1.example.com", "server.eu.reeve"), "s1.example.com", RoleServer},
		{c.issue(nil, "web-1", "node.eu.reeve"), "web-1", RoleNode},
		{c.issue(nil, "server.eu.nomad", "server.eu.nomad", "localhost", "s2.example.com"), "s2.example.com", RoleServer},
		{c.issue(nil, "client.eu.nomad", "client.eu.nomad", "localhost", "web-2"), "web-2", RoleNode},
		{c.issue(nil, "", "SERVER.EU.REEVE", "s3"), "s3", RoleServer},
		{c.issue(addresses("127.0.0.1", "10.0.0.4"), "", "server.eu.reeve", "localhost"), "10.0.0.4", RoleServer},
		{c.issue(addresses("fd00::5"), "", "server.eu.reeve"), "fd00--5", RoleServer},
		{c.issue(nil, "s4", "server.eu.reeve", "server.eu.nomad"), "s4", RoleServer},
	} {
		id, err := c.roots("eu").Identify(k.chain, day)
		if err != nil {
			t.Errorf("%s: %v", k.id, err)
			continue
		}
		want := Identity{ID: k.id, Role: k.role, NotBefore: day.Add(-time.Hour), NotAfter: day.Add(100 * time.Hour), Key: k.chain[0].RawSubjectPublicKeyInfo}
		if diff := cmp.Diff(want, id); diff != "" {
			t.Errorf("identity (-want +got):\n%s", diff)
		}
	}
	if id, err := c.roots("").Identify(c.issue(nil, "s1", "server.us.reeve"), day); err != nil || id.Role != RoleServer {
		t.Errorf("a client of every region: %+v, %v", id, err)
	}
	if id, err := c.roots("eu").Identify(c.issue(nil, "s1", "server.eu.reeve"), day.Add(200*time.Hour)); err != nil || !id.Expired {
		t.Errorf("expired: %+v, %v", id, err)
	}
}

func TestExternalCertificatesAreRefused(t *testing.T) {
	c := newCompany()
	good := c.issue(nil, "s1", "server.eu.reeve")
	for _, k := range []struct {
		what   string
		chain  []*x509.Certificate
		now    time.Time
		reason Reason
		say    string
	}{
		{"other company", newCompany().issue(nil, "s1", "server.eu.reeve"), day, ReasonForeign, "ca_file"},
		{"without the intermediate authority", good[:1], day, ReasonForeign, `issuer "Example Issuing CA"`},
		{"own authority", sign(newAuthority(t), leafOf("s1", RoleServer), day), day, ReasonForeign, "ca_file"},
		{"web server", c.issue(nil, "www.example.com", "www.example.com"), day, ReasonRole, "server.eu.reeve or node.eu.reeve"},
		{"role in the common name alone", c.issue(nil, "server.eu.reeve", "s1"), day, ReasonRole, "DNS name"},
		{"role in the unit alone", c.issue(func(t *x509.Certificate) { t.Subject.OrganizationalUnit = []string{"server"} }, "s1", "s1"), day, ReasonRole, "DNS name"},
		{"other region", c.issue(nil, "s1", "server.us.reeve"), day, ReasonRole, "server.eu.reeve"},
		{"region with a suffix", c.issue(nil, "s1", "server.eu.evil.reeve"), day, ReasonRole, "server.eu.reeve"},
		{"wildcard", c.issue(nil, "s1", "*.eu.reeve"), day, ReasonRole, "server.eu.reeve"},
		{"suffix of another domain", c.issue(nil, "s1", "server.eu.reeve.example.com"), day, ReasonRole, "server.eu.reeve"},
		{"both roles", c.issue(nil, "s1", "server.eu.reeve", "node.eu.reeve"), day, ReasonRole, "one certificate for each"},
		{"no machine", c.issue(nil, "server.eu.nomad", "server.eu.nomad", "localhost"), day, ReasonMalformed, "names no machine"},
		{"authority", []*x509.Certificate{c.middle}, day, ReasonMalformed, "authority"},
		{"early", good, day.Add(-3 * time.Hour), ReasonEarly, "at least 2h0m0s"},
		{"authority that expired", c.issue(func(t *x509.Certificate) { t.NotAfter = day.Add(2000 * time.Hour) }, "s1", "server.eu.reeve"), day.Add(1500 * time.Hour), ReasonExpired, "replace it in ca_file"},
	} {
		_, err := c.roots("eu").Identify(k.chain, k.now)
		wantReason(t, k.what, err, k.reason, k.say)
	}
}

func TestExternalRootsRejectDamagedInput(t *testing.T) {
	c := newCompany()
	whole := encodeBlock(blockCertificate, c.root.Raw)
	for _, k := range []struct {
		what string
		text []byte
		say  string
	}{
		{"empty", nil, "no PEM block"},
		{"text alone", []byte("hello"), "no PEM block"},
		{"truncated", whole[:100], "truncated"},
		{"truncated at its end", whole[:len(whole)-3], "truncated"},
		{"truncated, and a whole one", append(whole[:100:100], whole...), "truncated"},
		{"leaf", encodeBlock(blockCertificate, c.issue(nil, "s1", "server.eu.reeve")[0].Raw), `"s1", is not the certificate of an authority`},
		{"key", must(encodeKey(c.key)), "expected CERTIFICATE"},
	} {
		_, err := ParseExternalRoots(k.text, "eu")
		wantWords(t, k.what, err, "read authorities", k.say)
	}
	if c.roots("eu").ClusterID() != "" {
		t.Error("an external authority belongs to a cluster")
	}
}
