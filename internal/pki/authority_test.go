// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package pki

import (
	"bytes"
	"crypto/elliptic"
	"crypto/x509"
	"crypto/x509/pkix"
	"strings"
	"testing"
	"time"
)

func TestAuthorityIsARootOfTwentyYears(t *testing.T) {
	a := newAuthority(t)
	root := must(ParseChain(a.CertPEM()))[0]
	if got := root.NotAfter.Sub(day); got != 20*365*24*time.Hour {
		t.Errorf("the root is valid for %s, want 20 years", got)
	}
	if got := day.Sub(root.NotBefore); got != time.Hour {
		t.Errorf("the root is backdated by %s, want 1h", got)
	}
	if !root.IsCA || a.ClusterID() != cluster || root.KeyUsage != x509.KeyUsageCertSign {
		t.Errorf("root: CA %v, cluster %s, usage %v", root.IsCA, a.ClusterID(), root.KeyUsage)
	}
	again := must(ParseAuthority(a.CertPEM(), must(a.KeyPEM())))
	if _, err := rootsOf(a).Identify(sign(again, leafOf("s1", RoleServer), day), day); err != nil {
		t.Errorf("a leaf of the parsed authority is refused: %v", err)
	}
}

func TestAuthorityNeedsAClusterID(t *testing.T) {
	for _, id := range []string{"", "-a", "a-", "a b", "a\n", "ü", strings.Repeat("a", 65)} {
		_, err := NewAuthority(id, day)
		wantWords(t, id, err, "cluster id", "letters")
	}
}

func TestParseAuthorityRejectsDamagedInput(t *testing.T) {
	a, b := newAuthority(t), newAuthority(t)
	cert, key := a.CertPEM(), must(a.KeyPEM())
	leaf := must(a.Sign(newRequest(), leafOf("s1", RoleServer), day))
	for _, c := range []struct {
		what      string
		cert, key []byte
		say       string
	}{
		{"no certificate", nil, key, "no PEM block of type CERTIFICATE"},
		{"no key", cert, nil, "no PEM block of type PRIVATE KEY"},
		{"another authority's key", cert, must(b.KeyPEM()), "belongs to no root"},
		{"a leaf", leaf, key, "not the certificate of an authority"},
		{"truncated certificate", cert[:len(cert)/2], key, "truncated"},
		{"truncated key", cert, key[:len(key)/2], "truncated"},
		{"certificate for a key", cert, cert, "type \"CERTIFICATE\"; expected PRIVATE KEY"},
		{"damaged key", cert, encodeBlock(blockKey, []byte("x")), "damaged"},
		{"key of another kind", cert, must(encodeKey(ecKey(elliptic.P384()))), "P-384"},
		{"huge certificate", bytes.Repeat([]byte("a"), maxPEM+1), key, "more than 65536"},
	} {
		_, err := ParseAuthority(c.cert, c.key)
		wantWords(t, c.what, err, c.say)
	}
}

func TestRootsRejectDamagedInput(t *testing.T) {
	a := newAuthority(t)
	other := must(NewAuthority("other", day))
	selfSigned := func(change func(*x509.Certificate)) []byte {
		key := ecKey(elliptic.P256())
		template := &x509.Certificate{
			Subject: pkix.Name{CommonName: "ca", Organization: []string{cluster}}, NotBefore: day, NotAfter: day.Add(time.Hour),
			KeyUsage: x509.KeyUsageCertSign, IsCA: true, BasicConstraintsValid: true,
		}
		change(template)
		return encodeBlock(blockCertificate, must(signCertificate(template, template, key.Public(), key)).Raw)
	}
	cross := must(a.CrossSign(newAuthority(t)))
	var many []byte
	for range maxCerts + 1 {
		many = append(many, newAuthority(t).CertPEM()...)
	}
	for _, c := range []struct {
		what string
		text []byte
		say  string
	}{
		{"empty", nil, "no PEM block"},
		{"blank", []byte(" \n"), "no PEM block"},
		{"huge", bytes.Repeat([]byte("\n"), maxPEM+1), "65537 bytes"},
		{"text before", append([]byte("hello\n"), a.CertPEM()...), "text besides"},
		{"text after", append(a.CertPEM(), "hello"...), "text besides"},
		{"truncated", a.CertPEM()[:200], "truncated"},
		{"truncated, and a whole one", append(a.CertPEM()[:200:200], append([]byte("\n"), a.CertPEM()...)...), "truncated"},
		{"many", many, "more than 8 PEM blocks"},
		{"duplicate", append(a.CertPEM(), a.CertPEM()...), "duplicate"},
		{"two clusters", append(a.CertPEM(), other.CertPEM()...), `cluster "other"`},
		{"key", must(a.KeyPEM()), "type \"PRIVATE KEY\""},
		{"garbage", encodeBlock(blockCertificate, []byte("garbage")), "damaged"},
		{"wrong signature", breakSignature(a.CertPEM()), "signature is wrong"},
		{"cross-signed", cross, "not self-signed"},
		{"no cluster", selfSigned(func(c *x509.Certificate) { c.Subject.Organization = nil }), "names no cluster"},
		{"two organizations", selfSigned(func(c *x509.Certificate) { c.Subject.Organization = []string{"a", "b"} }), "names no cluster"},
		{"no authority", selfSigned(func(c *x509.Certificate) { c.IsCA = false }), "not the certificate of an authority"},
		{"no right to sign", selfSigned(func(c *x509.Certificate) { c.KeyUsage = x509.KeyUsageDigitalSignature }), "signature is wrong"},
	} {
		_, err := ParseRoots(c.text)
		wantWords(t, c.what, err, c.say)
	}
	key := rsaKey(2048)
	template := &x509.Certificate{Subject: pkix.Name{Organization: []string{cluster}}, NotAfter: day, KeyUsage: x509.KeyUsageCertSign, IsCA: true, BasicConstraintsValid: true}
	_, err := ParseRoots(encodeBlock(blockCertificate, must(signCertificate(template, template, key.Public(), key)).Raw))
	wantWords(t, "RSA root", err, "ECDSA P-256 or Ed25519")
}

func TestPinTrustsOneRootAlone(t *testing.T) {
	mine, attackers := newAuthority(t), newAuthority(t)
	digest := must(Digest(mine.CertPEM()))
	offered := rootsOf(attackers, mine) // by a server that the joiner cannot verify yet
	if !offered.HasDigest(digest) || offered.HasDigest(must(Digest(newAuthority(t).CertPEM()))) || offered.HasDigest("") {
		t.Error("HasDigest does not find the root by its digest alone")
	}
	pinned, ok := offered.Pin(digest)
	if !ok {
		t.Fatal("the root was not found")
	}
	if _, err := pinned.Identify(sign(mine, leafOf("s1", RoleServer), day), day); err != nil {
		t.Errorf("a leaf of the pinned root is refused: %v", err)
	}
	_, err := pinned.Identify(sign(attackers, leafOf("s1", RoleServer), day), day)
	wantReason(t, "leaf of the root beside it", err, ReasonForeign)
	if !bytes.Equal(pinned.PEM(), mine.CertPEM()) {
		t.Error("PEM returns more than the pinned root")
	}
}
