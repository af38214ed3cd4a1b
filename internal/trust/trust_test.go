// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package trust

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/reeve-run/reeve/internal/pki"
)

const cluster = "c1"

// A ca signs certificates for members, as the leader of a cluster does.
type ca struct{ *pki.Authority }

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

func newCA() ca { return ca{must(pki.NewAuthority(cluster, time.Now()))} }

func (c ca) leaf(m Member) pki.Leaf {
	return pki.Leaf{ID: m.ID, Role: m.Role, ClusterID: m.ClusterID, Region: "global", Address: "127.0.0.1:4646"}
}

// sign returns a certificate that was signed some time ago.
func (c ca) sign(csr []byte, m Member, ago time.Duration) []byte {
	return must(c.Sign(csr, c.leaf(m), time.Now().Add(-ago)))
}

func member(id string, role pki.Role) Member {
	return Member{ID: id, Role: role, ClusterID: cluster, Servers: []string{"10.0.0.1:4646"}}
}

// join makes the directory that of a member, and returns its store.
func (c ca) join(t *testing.T, dir string, m Member) *Store {
	t.Helper()
	s, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	csr, _, err := s.Prepare(m.ID)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Enter(m, c.sign(csr, m, 0), c.CertPEM()); err != nil {
		t.Fatal(err)
	}
	return s
}

// identityDir returns a directory that does not exist yet.
func identityDir(t *testing.T) string { return filepath.Join(t.TempDir(), "identity") }

func wantWords(t *testing.T, what string, err error, words ...string) {
	t.Helper()
	if err == nil {
		t.Errorf("%s: no error; want one that says %q", what, words)
		return
	}
	for _, word := range words {
		if !strings.Contains(err.Error(), word) {
			t.Errorf("%s: error %q does not say %q", what, err, word)
		}
	}
}

// contents returns all files of a directory.
func contents(t *testing.T, dir string) map[string]string {
	t.Helper()
	found := map[string]string{}
	for _, e := range must(os.ReadDir(dir)) {
		if e.IsDir() {
			found[e.Name()] = "directory"
			continue
		}
		found[e.Name()] = string(must(os.ReadFile(filepath.Join(dir, e.Name()))))
	}
	return found
}
