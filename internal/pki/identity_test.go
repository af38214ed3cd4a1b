// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package pki

import (
	"bytes"
	"crypto/elliptic"
	"crypto/x509"
	"crypto/x509/pkix"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestIdentityOfAMember(t *testing.T) {
	a := newAuthority(t)
	csr := newRequest()
	chain := must(ParseChain(must(a.Sign(csr, leafOf("n1", RoleNode), day))))
	want := Identity{ID: "n1", Role: RoleNode, ClusterID: cluster, NotBefore: day.Add(-time.Hour), NotAfter: day.Add(DefaultLifetime), Key: must(RequestKey(csr))}
	got := must(rootsOf(a).Identify(chain, day))
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("identity (-want +got):\n%s", diff)
	}
}

func TestExpiredLeafIsIdentifiedAsExpired(t *testing.T) {
	a := newAuthority(t)
	chain := sign(a, leafOf("s1", RoleServer), day)
	for _, c := range []struct {
		after   time.Duration
		expired bool
	}{{0, false}, {DefaultLifetime, false}, {DefaultLifetime + time.Second, true}, {10 * DefaultLifetime, true}} {
		id, err := rootsOf(a).Identify(chain, day.Add(c.after))
		if err != nil || id.Expired != c.expired || id.ID != "s1" {
			t.Errorf("after %s: %+v, error %v; want expired %v", c.after, id, err, c.expired)
		}
	}
}

func TestClocksThatDifferAreNamed(t *testing.T) {
	a := newAuthority(t)
	chain := sign(a, leafOf("s1", RoleServer), day)
	if _, err := rootsOf(a).Identify(chain, day.Add(-Backdate)); err != nil {
		t.Errorf("a clock that is slow by %s: %v", Backdate, err)
	}
	_, err := rootsOf(a).Identify(chain, day.Add(-Backdate-90*time.Minute))
	wantReason(t, "slow clock", err, ReasonEarly, "2026-06-01T11:00:00Z", "2026-06-01T09:30:00Z", "at least 1h30m", "correct it")
	var refused *CertificateError
	if errors.As(err, &refused) && refused.Skew != 90*time.Minute {
		t.Errorf("skew %s, want 1h30m", refused.Skew)
	}
	// A wrong clock must not hide that a certificate is foreign.
	_, err = rootsOf(newAuthority(t)).Identify(chain, day.Add(-1000*time.Hour))
	wantReason(t, "foreign certificate, slow clock", err, ReasonForeign)
	_, err = rootsOf(a).Identify(sign(a, leafOf("s1", RoleServer), day.Add(rootLifetime-2*time.Hour)), day.Add(2*rootLifetime))
	if err != nil {
		t.Errorf("an expired leaf of an expired root: %v; want it identified as expired", err)
	}
}

func TestIdentifyRefusesOthers(t *testing.T) {
	a := newAuthority(t)
	root := a.root
	key := ecKey(elliptic.P256())
	// leaf signs whatever the authority's key would never sign.
	leaf := func(change func(*x509.Certificate)) []*x509.Certificate {
		template := must(a.template(leafOf("n1", RoleNode), day))
		change(template)
		return []*x509.Certificate{must(signCertificate(template, root, key.Public(), a.key))}
	}
	// A member signs a certificate with its own leaf.
	member := must(NewKey())
	memberChain := must(ParseChain(must(a.Sign(must(NewRequest(member, "n1")), leafOf("n1", RoleNode), day))))
	fake := must(a.template(leafOf("s1", RoleServer), day))
	byLeaf := must(signCertificate(fake, memberChain[0], key.Public(), must(ParseKey(member))))
	// An authority with the same name and another key.
	namesake := *a
	namesake.key = ecKey(elliptic.P256())
	template := *root // with the identifier of the genuine key
	template.PublicKey = namesake.key.Public()
	namesake.root = must(signCertificate(&template, &template, namesake.key.Public(), namesake.key))
	long := make([]*x509.Certificate, maxChain+1)
	for i := range long {
		long[i] = memberChain[0]
	}
	for _, c := range []struct {
		what   string
		chain  []*x509.Certificate
		reason Reason
		say    string
	}{
		{"no certificate", nil, ReasonMissing, "no member"},
		{"foreign CA", sign(newAuthority(t), leafOf("s1", RoleServer), day), ReasonForeign, "another cluster"},
		{"CA of the same name", sign(&namesake, leafOf("s1", RoleServer), day), ReasonForeign, "another cluster"},
		{"CA of the same name, presented with it", append(sign(&namesake, leafOf("s1", RoleServer), day), namesake.root), ReasonForeign, "another cluster"},
		{"leaf used as a CA", []*x509.Certificate{byLeaf, memberChain[0]}, ReasonForeign, "another cluster"},
		{"long chain", long, ReasonMalformed, "6 certificates"},
		{"the root itself", []*x509.Certificate{root}, ReasonMalformed, "authority"},
		{"leaf with the CA bit", leaf(func(c *x509.Certificate) { c.IsCA = true }), ReasonMalformed, "authority"},
		{"other cluster id", leaf(func(c *x509.Certificate) { c.Subject.Organization = []string{"other"} }), ReasonCluster, `cluster "other"`},
		{"no cluster id", leaf(func(c *x509.Certificate) { c.Subject.Organization = nil }), ReasonMalformed, "names no cluster"},
		{"two cluster ids", leaf(func(c *x509.Certificate) { c.Subject.Organization = []string{cluster, "b"} }), ReasonMalformed, "names no cluster"},
		{"no role", leaf(func(c *x509.Certificate) { c.Subject.OrganizationalUnit = nil }), ReasonMalformed, "0 roles"},
		{"two roles", leaf(func(c *x509.Certificate) { c.Subject.OrganizationalUnit = []string{"node", "server"} }), ReasonMalformed, "2 roles"},
		{"unknown role", leaf(func(c *x509.Certificate) { c.Subject.OrganizationalUnit = []string{"root"} }), ReasonRole, `"root"`},
		{"no id", leaf(func(c *x509.Certificate) { c.Subject.CommonName = "" }), ReasonMalformed, "id"},
		{"id with a newline", leaf(func(c *x509.Certificate) { c.Subject.CommonName = "a\nb" }), ReasonMalformed, `"a\nb"`},
		{"no purpose of a member", leaf(func(c *x509.Certificate) { c.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageCodeSigning} }), ReasonForeign, ""},
	} {
		_, err := rootsOf(a).Identify(c.chain, day)
		wantReason(t, c.what, err, c.reason, c.say)
	}
}

func TestRefusalsBoundWhatPeersSay(t *testing.T) {
	a := newAuthority(t)
	other := newAuthority(t)
	template := must(other.template(leafOf("n1", RoleNode), day))
	template.Subject = pkix.Name{CommonName: strings.Repeat("long \x1b[31m", 1000)}
	key := ecKey(elliptic.P256())
	chain := []*x509.Certificate{must(signCertificate(template, other.root, key.Public(), other.key))}
	_, err := rootsOf(a).Identify(chain, day)
	if err == nil || len(err.Error()) > 600 || bytes.ContainsRune([]byte(err.Error()), '\x1b') {
		t.Errorf("the refusal repeats %d characters, or control characters", len(err.Error()))
	}
}
