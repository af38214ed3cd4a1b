// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package agent

import (
	"crypto/tls"
	"net"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/pki"
	"github.com/reeve-run/reeve/internal/trust"
)

// joined returns the identity of a member of an authority's cluster.
func joined(t *testing.T, authority *pki.Authority, cluster, id string, role pki.Role) *trust.Store {
	t.Helper()
	s, err := trust.Open(t.TempDir() + "/identity")
	if err != nil {
		t.Fatal(err)
	}
	request, _, err := s.Prepare(id)
	if err != nil {
		t.Fatal(err)
	}
	certificate, err := authority.Sign(request, pki.Leaf{ID: id, Role: role, ClusterID: cluster, Region: "global", Address: "127.0.0.1:4646", Lifetime: time.Hour}, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Enter(trust.Member{ID: id, Role: role, ClusterID: cluster, Servers: []string{"127.0.0.1:1"}}, certificate, authority.CertPEM()); err != nil {
		t.Fatal(err)
	}
	return s
}

// answers accepts connections as a member, and returns its address.
func answers(t *testing.T, s *trust.Store) string {
	t.Helper()
	l, err := tls.Listen("tcp", "127.0.0.1:0", s.ServerConfig("http/1.1"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer conn.Close()
				if conn.(*tls.Conn).HandshakeContext(t.Context()) == nil {
					conn.Read(make([]byte, 1))
				}
			}()
		}
	}()
	return l.Addr().String()
}

// TestANodeTakesOnlyServersOfItsCluster replaces the list of servers with good and bad addresses.
func TestANodeTakesOnlyServersOfItsCluster(t *testing.T) {
	authority, err := pki.NewAuthority("c1", time.Now())
	if err != nil {
		t.Fatal(err)
	}
	foreign, err := pki.NewAuthority("c2", time.Now())
	if err != nil {
		t.Fatal(err)
	}
	node := joined(t, authority, "c1", "n1", pki.RoleNode)
	one, two := answers(t, joined(t, authority, "c1", "s1", pki.RoleServer)), answers(t, joined(t, authority, "c1", "s2", pki.RoleServer))
	other, peer := answers(t, joined(t, foreign, "c2", "s3", pki.RoleServer)), answers(t, joined(t, authority, "c1", "n2", pki.RoleNode))
	gone, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	gone.Close()
	for what, addresses := range map[string][]string{
		"a server of another cluster": {one, other},
		"a node":                      {peer, one},
		"a closed port":               {gone.Addr().String()},
		"no address":                  {one, ""},
		"control characters":          {"\x1b[2J:1"},
		"a port that does not exist":  {"127.0.0.1:99999"},
		"too many":                    slices.Repeat([]string{one}, mostNamedServers+1),
	} {
		err := setServers(t.Context(), node, addresses)
		if api.CodeOf(err) != api.CodeInvalid || strings.Contains(err.Error(), "\x1b") {
			t.Errorf("%s: %v, want a printable error of the caller", what, err)
		}
		if m, _ := node.Member(); !slices.Equal(m.Servers, []string{"127.0.0.1:1"}) {
			t.Fatalf("%s changed the servers to %q", what, m.Servers)
		}
	}
	if err := setServers(t.Context(), node, []string{two, one, two}); err != nil {
		t.Fatal(err)
	}
	if m, _ := node.Member(); !slices.Equal(m.Servers, []string{two, one}) {
		t.Errorf("servers %q, want %q and %q", m.Servers, two, one)
	}
}
