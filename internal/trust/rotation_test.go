// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package trust

import (
	"bytes"
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/reeve-run/reeve/internal/pki"
	"github.com/reeve-run/reeve/internal/testbed/bubble"
)

// A leader signs for a fleet, and rotates the cluster's root.
type leader struct {
	mu    sync.Mutex
	ca    ca
	roots []byte // that it gives to members
}

func (l *leader) set(c ca, roots ...[]byte) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.ca, l.roots = c, bytes.Join(roots, nil)
}

// a fleetMember renews its certificate until the test ends.
type fleetMember struct {
	Member
	*Store
}

func (l *leader) start(t *testing.T, m Member) fleetMember {
	t.Helper()
	s := l.ca.join(t, identityDir(t), m)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		s.Renew(ctx, func(_ context.Context, csr []byte) ([]byte, []byte, error) {
			l.mu.Lock()
			defer l.mu.Unlock()
			return l.ca.sign(csr, m, 0), l.roots, nil
		})
	}()
	t.Cleanup(func() { cancel(); <-done })
	return fleetMember{m, s}
}

// wantConnections checks that every member reaches every server.
func wantConnections(t *testing.T, when string, fleet []fleetMember) {
	t.Helper()
	for _, from := range fleet {
		for _, to := range fleet {
			if to.Role != pki.RoleServer {
				continue
			}
			_, at, err1, err2 := shake(t, from.ClientConfig("h2"), to.ServerConfig("h2"))
			if id, ok := to.Peer(at); err1 != nil || err2 != nil || !ok || id.ID != from.ID || id.Expired {
				t.Errorf("%s: %s does not reach %s: client %v, server %v, seen as %+v", when, from.ID, to.ID, err1, err2, id)
			}
		}
	}
}

func TestRootIsRotatedWithoutALostConnection(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		old := newCA()
		l := &leader{ca: old, roots: old.CertPEM()}
		fleet := []fleetMember{
			l.start(t, member("s1", pki.RoleServer)), l.start(t, member("s2", pki.RoleServer)),
			l.start(t, member("s3", pki.RoleServer)), l.start(t, member("n1", pki.RoleNode)),
		}
		wantConnections(t, "before", fleet)
		time.Sleep(200 * days)
		wantConnections(t, "after 200 days", fleet)

		next := must(pki.NewAuthority(cluster, time.Now()))
		crossed := must(next.WithCrossSigned(must(old.CrossSign(next))))
		l.set(ca{crossed}, next.CertPEM(), old.CertPEM())
		for _, m := range fleet {
			m.RenewNow()
			synctest.Wait()
			if chain := m.current.Load().cert.Certificate; len(chain) != 2 {
				t.Fatalf("%s has not renewed: its chain has %d certificates", m.ID, len(chain))
			}
			wantConnections(t, m.ID+" renewed", fleet)
		}
		l.set(ca{next}, next.CertPEM())
		for _, m := range fleet {
			m.RenewNow()
			synctest.Wait()
			if !bytes.Equal(m.Roots().PEM(), next.CertPEM()) {
				t.Fatalf("%s has not dropped the old root", m.ID)
			}
			wantConnections(t, m.ID+" dropped the old root", fleet)
		}
		// A member that missed the rotation is refused.
		late := old.join(t, identityDir(t), member("n9", pki.RoleNode))
		_, _, err, _ := shake(t, late.ClientConfig(), fleet[0].ServerConfig())
		wantWords(t, "a member that missed the rotation", err, "another cluster", "join it again")
		_, _, _, err = shake(t, stranger(old, late.current.Load().member, nil), fleet[0].ServerConfig())
		wantWords(t, "its certificate", err, `certificate of "n9"`, "join it again")
	})
}
