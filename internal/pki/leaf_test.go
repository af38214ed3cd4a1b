// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package pki

import (
	"bytes"
	"crypto"
	"crypto/elliptic"
	"crypto/x509"
	"crypto/x509/pkix"
	"net"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestLeafNamesItsOwner(t *testing.T) {
	a := newAuthority(t)
	for _, c := range []struct {
		address string
		names   []string
		ips     []string
	}{
		{"10.0.0.1:4646", []string{"localhost", "server.global.reeve"}, []string{"10.0.0.1", "127.0.0.1", "::1"}},
		{"127.0.0.1:4646", []string{"localhost", "server.global.reeve"}, []string{"127.0.0.1", "::1"}},
		{"[fd00::1]:4646", []string{"localhost", "server.global.reeve"}, []string{"127.0.0.1", "::1", "fd00::1"}},
		{"[fe80::1%eth0]:4646", []string{"localhost", "server.global.reeve"}, []string{"127.0.0.1", "::1", "fe80::1"}},
		{"s1.example.com:4646", []string{"localhost", "s1.example.com", "server.global.reeve"}, []string{"127.0.0.1", "::1"}},
		{"localhost:4646", []string{"localhost", "server.global.reeve"}, []string{"127.0.0.1", "::1"}},
		{"", []string{"localhost", "server.global.reeve"}, []string{"127.0.0.1", "::1"}},
	} {
		leaf := leafOf("s1", RoleServer)
		leaf.Address = c.address
		cert := sign(a, leaf, day)[0]
		var ips []string
		for _, ip := range cert.IPAddresses {
			ips = append(ips, ip.String())
		}
		if diff := cmp.Diff(c.names, cert.DNSNames); diff != "" {
			t.Errorf("%s: names (-want +got):\n%s", c.address, diff)
		}
		if diff := cmp.Diff(c.ips, ips); diff != "" {
			t.Errorf("%s: addresses (-want +got):\n%s", c.address, diff)
		}
	}
	cert := sign(a, leafOf("s1", RoleServer), day)[0]
	want := "CN=s1,OU=server,O=" + cluster
	if got := cert.Subject.String(); got != want {
		t.Errorf("subject %s, want %s", got, want)
	}
	if before, after := day.Sub(cert.NotBefore), cert.NotAfter.Sub(day); before != time.Hour || after != 90*24*time.Hour {
		t.Errorf("valid from %s before to %s after its signature, want 1h and 90 days", before, after)
	}
	if cert.SerialNumber.BitLen() < 64 {
		t.Errorf("serial number %s is not random", cert.SerialNumber)
	}
}

// TestNodesCannotTakeThePlaceOfServers checks that clients that verify host names, and not
// roles, accept a node under no server's address.
func TestNodesCannotTakeThePlaceOfServers(t *testing.T) {
	a := newAuthority(t)
	for _, address := range []string{"10.0.0.1:4646", "s1.example.com:4646", "server.global.reeve:4646"} {
		leaf := leafOf("n1", RoleNode)
		leaf.Address = address
		cert := sign(a, leaf, day)[0]
		host, _, _ := net.SplitHostPort(address)
		if err := cert.VerifyHostname(host); err == nil {
			t.Errorf("a node that advertises %s passes for it", address)
		}
		if err := cert.VerifyHostname("node.global.reeve"); err != nil {
			t.Errorf("a node does not pass for a node: %v", err)
		}
	}
}

func TestSignTakesOnlyTheKeyOfARequest(t *testing.T) {
	a := newAuthority(t)
	key := edKey()
	csr := request(&x509.CertificateRequest{
		Subject:        pkix.Name{CommonName: "s1", Organization: []string{"other"}, OrganizationalUnit: []string{"server", "admin"}, Country: []string{"XX"}},
		DNSNames:       []string{"leader.example.com", "*"},
		EmailAddresses: []string{"root@example.com"},
		IPAddresses:    []net.IP{net.IPv4(10, 9, 9, 9)},
		URIs:           []*url.URL{{Scheme: "spiffe", Host: "x"}},
		ExtraExtensions: []pkix.Extension{
			{Id: oidBasicConstraints, Critical: true, Value: []byte{0x30, 0x03, 0x01, 0x01, 0xff}}, // CA: true
		},
	}, key)
	cert := must(ParseChain(must(a.Sign(csr, leafOf("n1", RoleNode), day))))[0]
	if cert.IsCA || cert.Subject.String() != "CN=n1,OU=node,O="+cluster {
		t.Errorf("CA %v, subject %s: the request decided", cert.IsCA, cert.Subject)
	}
	if diff := cmp.Diff([]string{"localhost", "node.global.reeve"}, cert.DNSNames); diff != "" {
		t.Errorf("names (-want +got):\n%s", diff)
	}
	if len(cert.IPAddresses) != 2 || len(cert.URIs) != 0 || len(cert.EmailAddresses) != 0 {
		t.Errorf("the request decided about %v %v %v", cert.IPAddresses, cert.URIs, cert.EmailAddresses)
	}
	id := must(rootsOf(a).Identify([]*x509.Certificate{cert}, day))
	if got := must(RequestKey(csr)); !bytes.Equal(got, id.Key) {
		t.Error("RequestKey differs from the key of the certificate")
	}
	if got := must(x509.MarshalPKIXPublicKey(key.Public())); !bytes.Equal(got, id.Key) {
		t.Error("the certificate has another key than the request")
	}
}

func TestSignRejectsRequests(t *testing.T) {
	a := newAuthority(t)
	good := newRequest()
	of := func(key crypto.Signer) []byte { return request(&x509.CertificateRequest{}, key) }
	for _, c := range []struct {
		what string
		csr  []byte
		say  string
	}{
		{"empty", nil, "no PEM block"},
		{"certificate", a.CertPEM(), "expected CERTIFICATE REQUEST"},
		{"two", append(bytes.Clone(good), good...), "2 PEM blocks; expected one"},
		{"truncated", good[:len(good)-40], "truncated"},
		{"garbage", encodeBlock(blockRequest, []byte("garbage")), "damaged"},
		{"huge", bytes.Repeat([]byte("x"), maxPEM+1), "bytes, more than"},
		{"wrong signature", breakSignature(of(edKey())), "signature does not fit"},
		{"RSA", of(rsaKey(2048)), "ECDSA P-256 or Ed25519"},
		{"P-224", of(ecKey(elliptic.P224())), "P-224"},
		{"P-384", of(ecKey(elliptic.P384())), "P-384"},
		{"P-521", of(ecKey(elliptic.P521())), "P-521"},
	} {
		_, err := a.Sign(c.csr, leafOf("n1", RoleNode), day)
		wantWords(t, c.what, err, c.say)
		_, err = RequestKey(c.csr)
		wantWords(t, c.what, err, c.say)
	}
}

func TestSignRejectsLeaves(t *testing.T) {
	a := newAuthority(t)
	for _, c := range []struct {
		what   string
		change func(*Leaf)
		now    time.Time
		say    string
	}{
		{"no id", func(l *Leaf) { l.ID = "" }, day, "id must have"},
		{"id with a comma", func(l *Leaf) { l.ID = "a,OU=server" }, day, "id must have"},
		{"id with a newline", func(l *Leaf) { l.ID = "a\nb" }, day, "id must have"},
		{"long id", func(l *Leaf) { l.ID = strings.Repeat("x", 65) }, day, "1 to 64"},
		{"no role", func(l *Leaf) { l.Role = "" }, day, "role"},
		{"other role", func(l *Leaf) { l.Role = "admin" }, day, `role "admin" is unknown`},
		{"other cluster", func(l *Leaf) { l.ClusterID = "other" }, day, `not to "other"`},
		{"short life", func(l *Leaf) { l.Lifetime = time.Hour - 1 }, day, "minimum of 1h"},
		{"negative life", func(l *Leaf) { l.Lifetime = -1 }, day, "minimum of 1h"},
		{"region with a dot at its end", func(l *Leaf) { l.Region = "eu." }, day, "region"},
		{"empty region", func(l *Leaf) { l.Region = "" }, day, "region"},
		{"region with a wildcard", func(l *Leaf) { l.Region = "*" }, day, "region"},
		{"no port", func(l *Leaf) { l.Address = "10.0.0.1" }, day, "HOST:PORT"},
		{"empty port", func(l *Leaf) { l.Address = "10.0.0.1:" }, day, "HOST:PORT"},
		{"no host", func(l *Leaf) { l.Address = ":4646" }, day, "host"},
		{"any address", func(l *Leaf) { l.Address = "0.0.0.0:4646" }, day, "advertise an address"},
		{"any address of IPv6", func(l *Leaf) { l.Address = "[::]:4646" }, day, "advertise an address"},
		{"wildcard", func(l *Leaf) { l.Address = "*.example.com:4646" }, day, "host name"},
		{"spaces", func(l *Leaf) { l.Address = "a b:4646" }, day, "host name"},
		{"before the root", func(*Leaf) {}, day.Add(-2 * time.Hour), "correct the clock"},
		{"after the root", func(*Leaf) {}, day.Add(rootLifetime), "rotate it"},
	} {
		leaf := leafOf("s1", RoleServer)
		c.change(&leaf)
		_, err := a.Sign(newRequest(), leaf, c.now)
		wantWords(t, c.what, err, c.say)
	}
}

func TestLeafEndsWithItsRoot(t *testing.T) {
	a := newAuthority(t)
	root := must(ParseChain(a.CertPEM()))[0]
	cert := sign(a, leafOf("n1", RoleNode), root.NotAfter.Add(-2*time.Hour))[0]
	if !cert.NotAfter.Equal(root.NotAfter) {
		t.Errorf("the leaf is valid until %s, its root until %s", cert.NotAfter, root.NotAfter)
	}
}

func TestRenewalIsBetweenHalfAndFourFifthsOfLife(t *testing.T) {
	before, after := day.Add(-Backdate), day.Add(100*time.Hour)
	for _, c := range []struct {
		random float64
		want   time.Duration
	}{{0, 50 * time.Hour}, {0.5, 65 * time.Hour}, {1, 80 * time.Hour}, {-3, 50 * time.Hour}, {7, 80 * time.Hour}} {
		if got := RenewAt(before, after, c.random).Sub(day).Round(time.Second); got != c.want {
			t.Errorf("random %v: renewal %s after the signature, want %s", c.random, got, c.want)
		}
	}
	// The shortest certificate must not be renewed immediately.
	if got := RenewAt(before, day.Add(MinLifetime), 0).Sub(day); got != 30*time.Minute {
		t.Errorf("a certificate of an hour is renewed after %s, want 30m", got)
	}
	if got := RenewAt(day, day.Add(10*time.Minute), 0).Sub(day); got != 5*time.Minute {
		t.Errorf("a certificate of ten minutes is renewed after %s, want 5m", got)
	}
}
