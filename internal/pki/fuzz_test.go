// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package pki

import (
	"strings"
	"testing"
)

func FuzzParseToken(f *testing.F) {
	f.Add("")
	f.Add("reeve-node-1-")
	f.Add(NewToken(OperatorToken, strings.Repeat("0", 50)).String() + "\n")
	f.Add(Token{Kind: IntroductionToken, Digest: strings.Repeat("0", 50), Secret: strings.Repeat("0", 108)}.String())
	f.Add(NewToken(ServerToken, strings.Repeat("0", 50)).String() + "\r\n")
	f.Fuzz(func(t *testing.T, text string) {
		token, err := ParseToken(text)
		if err != nil {
			if token != (Token{}) || len(err.Error()) > 200 {
				t.Errorf("ParseToken(%q) = %v, %v", text, token, err)
			}
			return
		}
		if got := token.String(); got != strings.TrimRight(text, "\r\n") {
			t.Errorf("ParseToken(%q).String() = %q", text, got)
		}
	})
}

func FuzzParseRoots(f *testing.F) {
	a := must(NewAuthority(cluster, day))
	f.Add([]byte(nil))
	f.Add(a.CertPEM())
	f.Add(append(a.CertPEM(), must(NewAuthority(cluster, day)).CertPEM()...))
	f.Add(must(a.Sign(newRequest(), leafOf("n1", RoleNode), day)))
	f.Fuzz(func(t *testing.T, text []byte) {
		roots, err := ParseRoots(text)
		if err != nil {
			return
		}
		again, err := ParseRoots(roots.PEM())
		if err != nil || len(again.certs) != len(roots.certs) || again.ClusterID() != roots.ClusterID() {
			t.Errorf("the roots of %q do not survive PEM: %v", text, err)
		}
		if _, err := roots.Identify(roots.certs, day); err == nil {
			t.Error("a root is a member")
		}
	})
}

func FuzzSign(f *testing.F) {
	a := must(NewAuthority(cluster, day))
	roots := rootsOf(a)
	f.Add(newRequest(), "n1", "10.0.0.1:4646", "global")
	f.Add(newRequest(), "n1", "[::1%lo]:4646", "eu-1")
	f.Add([]byte("-----BEGIN CERTIFICATE REQUEST-----\n"), "", "", "")
	f.Fuzz(func(t *testing.T, csr []byte, id, address, region string) {
		text, err := a.Sign(csr, Leaf{ID: id, Role: RoleServer, ClusterID: cluster, Region: region, Address: address}, day)
		if err != nil {
			return
		}
		chain, err := ParseChain(text)
		if err != nil {
			t.Fatalf("the signed certificate is damaged: %v", err)
		}
		got, err := roots.Identify(chain, day)
		if err != nil || got.ID != id || got.Role != RoleServer || got.Expired || chain[0].IsCA {
			t.Errorf("Sign(%q, %q, %q, %q) made %+v, %v", csr, id, address, region, got, err)
		}
	})
}
