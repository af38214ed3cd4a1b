// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package pki

import (
	"bytes"
	"crypto/x509"
	"testing"
	"time"
)

// A rotating is a member in the walk through a rotation.
type rotating struct {
	id    string
	roots *Roots
	chain []*x509.Certificate
}

// wantMutualTrust checks that every member identifies every other.
func wantMutualTrust(t *testing.T, when string, fleet []*rotating, now time.Time) {
	t.Helper()
	for _, from := range fleet {
		for _, to := range fleet {
			if id, err := to.roots.Identify(from.chain, now); err != nil || id.ID != from.id || id.Expired {
				t.Errorf("%s: %s refuses %s: %v", when, to.id, from.id, err)
			}
		}
	}
}

func TestRotationOfAFleetNeverBreaksTrust(t *testing.T) {
	old := newAuthority(t)
	var fleet []*rotating
	for _, id := range []string{"s1", "s2", "s3"} {
		fleet = append(fleet, &rotating{id, rootsOf(old), sign(old, leafOf(id, RoleServer), day)})
	}
	wantMutualTrust(t, "before", fleet, day)

	start := day.Add(300 * 24 * time.Hour)
	for _, m := range fleet {
		m.chain = sign(old, leafOf(m.id, RoleServer), start)
	}
	next := must(NewAuthority(cluster, start))
	next = must(next.WithCrossSigned(must(old.CrossSign(next))))
	for i, m := range fleet {
		m.chain = sign(next, leafOf(m.id, RoleServer), start)
		if len(m.chain) != 2 {
			t.Fatalf("the leaf carries %d certificates, want the cross-signed root", len(m.chain)-1)
		}
		wantMutualTrust(t, m.id+" renewed, and knows the old root alone", fleet, start)
		m.roots = rootsOf(next, old)
		wantMutualTrust(t, m.id+" knows both roots", fleet, start)
		// A joiner has the digest of the old root until the rotation ends: it verifies every server.
		joiner, ok := rootsOf(next, old).Pin(must(Digest(rootsOf(next, old).PEM())))
		if !ok {
			t.Fatal("the old root is not among both")
		}
		for _, server := range fleet {
			if _, err := joiner.Identify(server.chain, start); err != nil {
				t.Errorf("%d renewed: a joiner refuses %s: %v", i+1, server.id, err)
			}
		}
	}

	for _, a := range []*Authority{next, old} {
		if got := must(ParseAuthority(rootsOf(next, old).PEM(), must(a.KeyPEM()))); !bytes.Equal(got.CertPEM(), a.CertPEM()) {
			t.Error("ParseAuthority returned the root of the other key")
		}
	}
	stale := sign(old, leafOf("stale", RoleServer), start)
	end, err := next.WithCrossSigned(nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range fleet {
		m.roots = rootsOf(next)
		wantMutualTrust(t, m.id+" forgot the old root", fleet, start)
		_, err := m.roots.Identify(stale, start)
		wantReason(t, "a member that never renewed", err, ReasonForeign, "join it again")
	}
	for _, m := range fleet {
		m.chain = sign(end, leafOf(m.id, RoleServer), start)
		wantMutualTrust(t, m.id+" carries no cross-signed root", fleet, start)
	}
}

func TestCrossSignRejectsForeignRoots(t *testing.T) {
	a := newAuthority(t)
	_, err := a.CrossSign(a)
	wantWords(t, "itself", err, "does not succeed itself")
	_, err = a.CrossSign(must(NewAuthority("other", day)))
	wantWords(t, "other cluster", err, `cluster "other"`)
	_, err = a.CrossSign(must(NewAuthority(cluster, day.Add(2*rootLifetime))))
	wantWords(t, "expired", err, "join again")
	next := newAuthority(t)
	cross := must(a.CrossSign(next))
	for _, c := range []struct {
		what string
		of   *Authority
		cert []byte
		say  string
	}{
		{"of another root", a, cross, "does not certify the key"},
		{"garbage", next, []byte("garbage"), "text besides"},
		{"a leaf", next, must(next.Sign(newRequest(), leafOf("n1", RoleNode), day)), "does not certify the key"},
	} {
		_, err := c.of.WithCrossSigned(c.cert)
		wantWords(t, c.what, err, c.say)
	}
	if bytes.Equal(cross, next.CertPEM()) {
		t.Error("the cross-signed certificate is the root itself")
	}
}

func TestForeignCrossSignedRootHelpsNobody(t *testing.T) {
	a, attacker := newAuthority(t), newAuthority(t)
	// The attacker presents a leaf with intermediates of its own, and the genuine root.
	next := must(NewAuthority(cluster, day))
	next = must(next.WithCrossSigned(must(attacker.CrossSign(next))))
	chain := append(sign(next, leafOf("s1", RoleServer), day), a.root)
	_, err := rootsOf(a).Identify(chain, day)
	wantReason(t, "foreign cross-signed root", err, ReasonForeign)
}
