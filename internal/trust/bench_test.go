// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package trust

import (
	"crypto/tls"
	"crypto/x509"
	"io"
	"path/filepath"
	"testing"
	"time"

	"github.com/reeve-run/reeve/internal/pki"
)

// members returns a server and a node of one cluster.
func members(b *testing.B) (server, node *Store) {
	b.Helper()
	c := newCA()
	open := func(m Member) *Store {
		s := must(Open(filepath.Join(b.TempDir(), "identity")))
		csr, _, err := s.Prepare(m.ID)
		if err == nil {
			err = s.Enter(m, c.sign(csr, m, 0), c.CertPEM())
		}
		if err != nil {
			b.Fatal(err)
		}
		return s
	}
	return open(member("s1", pki.RoleServer)), open(member("n1", pki.RoleNode))
}

// BenchmarkHandshake measures both sides of a mutual handshake, and what it allocates.
func BenchmarkHandshake(b *testing.B) {
	server, node := members(b)
	onServer, onClient := server.ServerConfig("h2"), node.ClientConfig("h2")
	for b.Loop() {
		client, accepted := pipe()
		go func() {
			c := tls.Server(accepted, onServer)
			_, _ = io.Copy(c, c)
			c.Close()
		}()
		c := tls.Client(client, onClient)
		if _, err := c.Write([]byte{1}); err != nil {
			b.Fatal(err)
		}
		if _, err := c.Read(make([]byte, 1)); err != nil {
			b.Fatal(err)
		}
		client.Close()
	}
}

// BenchmarkPeer measures the identification of the caller of a request.
func BenchmarkPeer(b *testing.B) {
	server, node := members(b)
	c := tls.ConnectionState{PeerCertificates: []*x509.Certificate{node.current.Load().cert.Leaf}}
	for _, k := range []struct {
		name string
		peer func() bool
	}{
		{"known", func() bool { _, ok := server.Peer(c); return ok }},
		{"new", func() bool {
			_, err := server.Roots().Identify(c.PeerCertificates, time.Now())
			return err == nil
		}},
	} {
		b.Run(k.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if !k.peer() {
					b.Fatal("not identified")
				}
			}
		})
	}
}
