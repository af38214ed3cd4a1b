// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package trust

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/reeve-run/reeve/internal/pki"
	"github.com/reeve-run/reeve/internal/testbed/bubble"
)

func TestDirectoryWithoutAMemberIsEmpty(t *testing.T) {
	for what, dir := range map[string]string{"missing": identityDir(t), "empty": t.TempDir()} {
		s, err := Open(dir)
		if err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		if m, ok := s.Member(); ok || m.ID != "" || s.SealKey() != nil || !s.Expires().IsZero() || s.Roots() != nil || s.Warning(time.Now()) != "" {
			t.Errorf("%s: holds member %v", what, m)
		}
	}
}

func TestIdentitySurvivesARestart(t *testing.T) {
	dir, c := identityDir(t), newCA()
	want := member("s1", pki.RoleServer)
	s := c.join(t, dir, want)
	again, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range []*Store{s, again} {
		got, ok := s.Member()
		if !slices.Equal(got.Digests, s.Roots().Digests()) {
			t.Errorf("the member remembers the roots %q, want %q", got.Digests, s.Roots().Digests())
		}
		got.Digests = nil
		if diff := cmp.Diff(want, got); !ok || diff != "" {
			t.Errorf("member %v (-want +got):\n%s", ok, diff)
		}
	}
	if !again.Expires().Equal(s.Expires()) || time.Until(s.Expires()) < 89*24*time.Hour {
		t.Errorf("expires at %s, after a restart %s", s.Expires(), again.Expires())
	}
	if len(s.SealKey()) != 32 || !bytes.Equal(s.SealKey(), again.SealKey()) {
		t.Error("the seal key changed")
	}
	if !bytes.Equal(again.Roots().PEM(), c.CertPEM()) {
		t.Error("the roots changed")
	}
	for _, name := range append(fileNames, lockName, ".") {
		want := os.FileMode(0o600)
		if name == "." {
			want = 0o700
		}
		if got := must(os.Stat(filepath.Join(dir, name))).Mode().Perm(); got != want {
			t.Errorf("%s has mode %o, want %o", name, got, want)
		}
	}
}

func TestPrepareCanBeRepeated(t *testing.T) {
	dir := identityDir(t)
	s := must(Open(dir))
	first, seal1, err := s.Prepare("s1")
	if err != nil {
		t.Fatal(err)
	}
	s = must(Open(dir)) // the agent was killed while it joined
	if got := s.PreparedID(); got != "s1" {
		t.Errorf("prepared as %q, want s1", got)
	}
	second, seal2, err := s.Prepare("s1")
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(must(pki.RequestKey(first)), must(pki.RequestKey(second))) || !bytes.Equal(seal1, seal2) {
		t.Error("the same id got other keys")
	}
	third, seal3, err := s.Prepare("s2")
	if err != nil {
		t.Fatal(err)
	}
	if bytes.Equal(must(pki.RequestKey(first)), must(pki.RequestKey(third))) || bytes.Equal(seal1, seal3) {
		t.Error("another id got the same keys")
	}
	if _, ok := s.Member(); ok {
		t.Error("a prepared agent is a member")
	}
	_, _, err = s.Prepare("")
	wantWords(t, "no id", err, "names no member")
	if got := s.PreparedID(); got != "s2" {
		t.Errorf("prepared as %q after an error, want s2", got)
	}
}

func TestMemberKeepsItsIdentity(t *testing.T) {
	dir, c := identityDir(t), newCA()
	m := member("s1", pki.RoleServer)
	s := c.join(t, dir, m)
	before := contents(t, dir)
	csr, _, err := s.Prepare("s1")
	if err != nil {
		t.Errorf("a member cannot prepare again: %v", err)
	}
	_, _, err = s.Prepare("s2")
	wantWords(t, "prepare another id", err, "identity of member s1 (server) of cluster c1", "use another data directory", dir)
	other := must(pki.NewAuthority("c2", time.Now()))
	for _, change := range []func(*Member){
		func(m *Member) { m.ID = "s2" },
		func(m *Member) { m.Role = pki.RoleNode },
		func(m *Member) { m.ClusterID = "c2" },
	} {
		changed := m
		change(&changed)
		signer := c
		if changed.ClusterID == "c2" {
			signer = ca{other}
		}
		err := s.Enter(changed, signer.sign(csr, changed, 0), signer.CertPEM())
		wantWords(t, "enter another identity", err, "use another data directory")
	}
	if diff := cmp.Diff(before, contents(t, dir)); diff != "" {
		t.Errorf("a refused change changed files (-before +after):\n%s", diff)
	}
}

// TestReplacedRootsAreRemembered enters a member again with another root: the digests of both are
// known as those of its cluster, also after a restart.
func TestReplacedRootsAreRemembered(t *testing.T) {
	now := time.Now()
	dir := t.TempDir() + "/identity"
	s, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for range maxDigests + 2 {
		authority, err := pki.NewAuthority("c1", now)
		if err != nil {
			t.Fatal(err)
		}
		request, _, err := s.Prepare("n1")
		if err != nil {
			t.Fatal(err)
		}
		certificate, err := authority.Sign(request, pki.Leaf{ID: "n1", Role: pki.RoleNode, ClusterID: "c1", Region: "global", Address: "10.0.0.1:4646"}, now)
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Enter(Member{ID: "n1", Role: pki.RoleNode, ClusterID: "c1"}, certificate, authority.CertPEM()); err != nil {
			t.Fatal(err)
		}
		digest, err := pki.Digest(authority.CertPEM())
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, digest)
	}
	if err := s.SetServers([]string{"10.0.0.2:4646"}); err != nil {
		t.Fatal(err)
	}
	if s, err = Open(dir); err != nil {
		t.Fatal(err)
	}
	m, _ := s.Member()
	for i, digest := range all {
		if got, want := m.HasDigest(digest), i >= 2; got != want {
			t.Errorf("root %d of %d is known: %t, want %t", i, len(all), got, want)
		}
	}
}

func TestEnterRefusesWhatDoesNotFit(t *testing.T) {
	dir, c, foreign := identityDir(t), newCA(), newCA()
	m := member("n1", pki.RoleNode)
	s := must(Open(dir))
	wantWords(t, "before Prepare", s.Enter(m, c.CertPEM(), c.CertPEM()), "prepare it first")
	csr, _, err := s.Prepare(m.ID)
	if err != nil {
		t.Fatal(err)
	}
	good := c.sign(csr, m, 0)
	otherKey := c.sign(must(pki.NewRequest(must(pki.NewKey()), m.ID)), m, 0)
	before := contents(t, dir)
	for _, k := range []struct {
		what        string
		m           Member
		cert, roots []byte
		say         string
	}{
		{"no cluster", Member{ID: "n1", Role: pki.RoleNode}, good, c.CertPEM(), "names no cluster"},
		{"other id", member("n2", pki.RoleNode), good, c.CertPEM(), "belongs to member n1"},
		{"other role", member("n1", pki.RoleServer), good, c.CertPEM(), "role node"},
		{"other cluster", Member{ID: "n1", Role: pki.RoleNode, ClusterID: "c2"}, good, c.CertPEM(), "of cluster c1"},
		{"other key", m, otherKey, c.CertPEM(), "private key in key.pem does not belong"},
		{"foreign roots", m, good, foreign.CertPEM(), "another cluster"},
		{"no certificate", m, nil, c.CertPEM(), "no PEM block"},
		{"no roots", m, good, nil, "no PEM block"},
		{"truncated certificate", m, good[:300], c.CertPEM(), "truncated"},
		{"expired certificate", m, must(ca{must(pki.NewAuthority(cluster, time.Now().Add(-9999*time.Hour)))}.Sign(csr, c.leaf(m), time.Now().Add(-9000*time.Hour))), c.CertPEM(), "correct the clock"},
		{"bad address of a server", Member{ID: "n1", Role: pki.RoleNode, ClusterID: cluster, Servers: []string{"10.0.0.1"}}, good, c.CertPEM(), "HOST:PORT"},
	} {
		wantWords(t, k.what, s.Enter(k.m, k.cert, k.roots), "store identity:", k.say)
	}
	if diff := cmp.Diff(before, contents(t, dir)); diff != "" {
		t.Errorf("a refused change changed files (-before +after):\n%s", diff)
	}
	if err := s.Enter(m, good, c.CertPEM()); err != nil {
		t.Errorf("the right certificate is refused after the wrong ones: %v", err)
	}
}

func TestSlowClockIsNamed(t *testing.T) {
	dir := identityDir(t)
	bubble.Test(t, func(t *testing.T) {
		c := newCA()
		m := member("n1", pki.RoleNode)
		s := must(Open(dir))
		csr, _, _ := s.Prepare(m.ID)
		err := s.Enter(m, c.sign(csr, m, -3*time.Hour), c.CertPEM())
		wantWords(t, "enter", err, "clock of this machine", "at least 2h0m0s", "correct it")
		time.Sleep(3 * time.Hour)
		if err := s.Enter(m, c.sign(csr, m, 0), c.CertPEM()); err != nil {
			t.Fatal(err)
		}
	})
	bubble.Test(t, func(t *testing.T) { // its clock begins where the other began, three hours earlier
		_, err := Open(dir)
		wantWords(t, "open", err, "clock of this machine", "at least 2h0m0s")
		if err != nil && strings.Contains(err.Error(), "backup") {
			t.Errorf("a wrong clock is no reason to restore files: %v", err)
		}
	})
}

func TestServersAreRemembered(t *testing.T) {
	dir, c := identityDir(t), newCA()
	s := must(Open(dir))
	wantWords(t, "before Prepare", s.SetServers([]string{"10.0.0.1:4646"}), "not prepared")
	s = c.join(t, dir, member("n1", pki.RoleNode))
	want := []string{"10.0.0.2:4646", "[fd00::1]:4646", "s3.example.com:4646"}
	if err := s.SetServers(append(want, want[0])); err != nil {
		t.Fatal(err)
	}
	m, _ := must(Open(dir)).Member()
	if diff := cmp.Diff(want, m.Servers); diff != "" {
		t.Errorf("servers (-want +got):\n%s", diff)
	}
	for _, bad := range []string{"", "10.0.0.1", ":4646", "h:0", "h:x", "h:65536", "h:-1", strings.Repeat("h", 300) + ":1"} {
		wantWords(t, bad, s.SetServers([]string{bad}), "HOST:PORT")
	}
	var many []string
	for i := range maxServers + 1 {
		many = append(many, "h:"+string(rune('1'+i/10))+string(rune('0'+i%10)))
	}
	wantWords(t, "many", s.SetServers(many), "at most 64")
	csr, _, _ := s.Prepare("n1")
	m.Servers = nil
	if err := s.Enter(m, c.sign(csr, m, 0), c.CertPEM()); err != nil {
		t.Fatal(err)
	}
	if m, _ := s.Member(); !cmp.Equal(m.Servers, want) {
		t.Errorf("a renewal forgot the servers: %v", m.Servers)
	}
}

func TestProcessesThatWriteTogetherLeaveAWholeIdentity(t *testing.T) {
	dir, c := identityDir(t), newCA()
	m := member("s1", pki.RoleServer)
	var all sync.WaitGroup
	for range 4 { // each is another process: it has its own store, and its own file of the lock
		all.Go(func() {
			for range 10 {
				s, err := Open(dir)
				if err != nil {
					t.Error(err)
					return
				}
				csr, _, err := s.Prepare(m.ID)
				if err == nil {
					err = s.Enter(m, c.sign(csr, m, 0), c.CertPEM())
				}
				if err == nil {
					err = s.SetServers([]string{"10.0.0.7:4646"})
				}
				if err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	if _, ok := must(Open(dir)).Member(); !ok {
		t.Error("the directory holds no member")
	}
	for name, text := range contents(t, dir) {
		if text == "directory" {
			t.Errorf("%s was left behind", name)
		}
	}
}
