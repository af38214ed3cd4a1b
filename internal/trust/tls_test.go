// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package trust

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"errors"
	"io"
	"log/slog"
	"math/big"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/reeve-run/reeve/internal/pki"
	"github.com/reeve-run/reeve/internal/testbed/bubble"
)

// pipe returns a connection that holds one write per direction, as the alerts of both sides
// may cross.
func pipe() (client, server net.Conn) {
	client, a := net.Pipe()
	server, b := net.Pipe()
	relay := func(to, from net.Conn) {
		_, _ = io.Copy(to, from) // it ends with the test's connections
		to.Close()
	}
	go relay(a, b)
	go relay(b, a)
	return client, server
}

// shake connects a client with a server, and returns both sides after one byte went each way.
func shake(t *testing.T, client, server *tls.Config) (onClient, onServer tls.ConnectionState, errClient, errServer error) {
	t.Helper()
	a, b := pipe()
	defer a.Close()
	defer b.Close()
	cc, sc := tls.Client(a, client), tls.Server(b, server)
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer b.Close()
		if errServer = sc.HandshakeContext(context.Background()); errServer != nil {
			return
		}
		_, errServer = sc.Write([]byte{1})
	}()
	if errClient = cc.HandshakeContext(t.Context()); errClient == nil {
		_, errClient = cc.Read(make([]byte, 1)) // a server refuses a certificate after the client's handshake
	}
	a.Close()
	<-done
	return cc.ConnectionState(), sc.ConnectionState(), errClient, errServer
}

func TestMembersIdentifyEachOther(t *testing.T) {
	c := newCA()
	server := c.join(t, identityDir(t), member("s1", pki.RoleServer))
	for _, m := range []Member{member("n1", pki.RoleNode), member("s2", pki.RoleServer)} {
		client := c.join(t, identityDir(t), m)
		onClient, onServer, err1, err2 := shake(t, client.ClientConfig("reeve-raft/1"), server.ServerConfig("h2", "reeve-raft/1"))
		if err1 != nil || err2 != nil {
			t.Fatalf("%s: client %v, server %v", m.ID, err1, err2)
		}
		if onServer.NegotiatedProtocol != "reeve-raft/1" || onServer.Version != tls.VersionTLS13 {
			t.Errorf("protocol %q over version %x", onServer.NegotiatedProtocol, onServer.Version)
		}
		if id, ok := server.Peer(onServer); !ok || id.ID != m.ID || id.Role != m.Role || id.Expired {
			t.Errorf("the server sees %+v, %v; want %s", id, ok, m.ID)
		}
		if id, ok := client.Peer(onClient); !ok || id.ID != "s1" || id.Role != pki.RoleServer {
			t.Errorf("%s sees %+v, %v; want s1", m.ID, id, ok)
		}
	}
}

func TestUsersNeedNoCertificate(t *testing.T) {
	c := newCA()
	server := c.join(t, identityDir(t), member("s1", pki.RoleServer))
	roots := must(pki.ParseRoots(c.CertPEM()))
	_, onServer, err1, err2 := shake(t, UserConfig(roots, "h2"), server.ServerConfig("h2"))
	if err1 != nil || err2 != nil {
		t.Fatalf("client %v, server %v", err1, err2)
	}
	if id, ok := server.Peer(onServer); ok {
		t.Errorf("a user is member %+v", id)
	}
	// An ordinary client verifies names, and knows nothing of roles.
	ordinary := &tls.Config{RootCAs: roots.Pool(), ServerName: "localhost"}
	if _, _, err, _ := shake(t, ordinary, server.ServerConfig()); err != nil {
		t.Errorf("a client that verifies the name localhost: %v", err)
	}
}

// stranger returns a client configuration with a certificate that its own authority signed.
func stranger(c ca, m Member, roots *x509.CertPool) *tls.Config {
	key := must(pki.NewKey())
	chain := must(pki.ParseChain(c.sign(must(pki.NewRequest(key, m.ID)), m, 0)))
	cert := tls.Certificate{Certificate: [][]byte{chain[0].Raw}, PrivateKey: must(pki.ParseKey(key))}
	return &tls.Config{
		InsecureSkipVerify: true, RootCAs: roots,
		GetClientCertificate: func(*tls.CertificateRequestInfo) (*tls.Certificate, error) { return &cert, nil },
	}
}

func TestHandshakeRefusesOthers(t *testing.T) {
	c, foreign, other := newCA(), newCA(), ca{must(pki.NewAuthority("c2", time.Now()))}
	server := c.join(t, identityDir(t), member("s1", pki.RoleServer))
	node := c.join(t, identityDir(t), member("n1", pki.RoleNode))
	foreignServer := foreign.join(t, identityDir(t), member("s1", pki.RoleServer))
	otherMember := member("s1", pki.RoleServer)
	otherMember.ClusterID = "c2"
	otherServer := other.join(t, identityDir(t), otherMember)
	roots := must(pki.ParseRoots(c.CertPEM()))
	joining := must(Open(identityDir(t)))
	csr, _, err := joining.Prepare("n2")
	if err != nil {
		t.Fatal(err)
	}
	noTLS13 := node.ClientConfig()
	noTLS13.MinVersion, noTLS13.MaxVersion = tls.VersionTLS12, tls.VersionTLS12

	for _, k := range []struct {
		what           string
		client, server *tls.Config
		reason         pki.Reason // of the side that refuses
		say            string
	}{
		{"node dialled as a server", server.ClientConfig(), node.ServerConfig(), pki.ReasonRole, "node n1, not a server"},
		{"node dialled by a user", UserConfig(roots), node.ServerConfig(), pki.ReasonRole, "not a server"},
		{"server of a foreign CA", node.ClientConfig(), foreignServer.ServerConfig(), pki.ReasonForeign, "another cluster"},
		{"server of another cluster", node.ClientConfig(), otherServer.ServerConfig(), pki.ReasonForeign, "another cluster"},
		{"user with a server of another cluster", UserConfig(roots), otherServer.ServerConfig(), pki.ReasonForeign, "another cluster"},
		{"client of a foreign CA", stranger(foreign, member("n1", pki.RoleNode), nil), server.ServerConfig(), pki.ReasonForeign, "another cluster"},
		{"server that has not joined", node.ClientConfig(), joining.ServerConfig(), pki.ReasonForeign, "is joining a cluster"},
		{"client that has not joined", joining.ClientConfig(), server.ServerConfig(), "", "has not joined"},
		{"listener without a key", node.ClientConfig(), must(Open(identityDir(t))).ServerConfig(), "", ""},
		{"TLS 1.2", noTLS13, server.ServerConfig(), "", "version"},
		{"other key at the address", KeyConfig(must(pki.RequestKey(csr))), node.ServerConfig(), pki.ReasonForeign, "advertise the address"},
	} {
		_, _, err1, err2 := shake(t, k.client, k.server)
		if err1 == nil {
			t.Errorf("%s: the client got through", k.what)
			continue
		}
		err := errors.Join(err1, err2)
		var refused *pki.CertificateError
		if k.reason != "" && (!errors.As(err1, &refused) && !errors.As(err2, &refused) || refused.Reason != k.reason) {
			t.Errorf("%s: client %v, server %v; want the reason %q", k.what, err1, err2, k.reason)
		}
		wantWords(t, k.what, err, k.say)
	}
	if _, _, err1, err2 := shake(t, KeyConfig(must(pki.RequestKey(csr))), joining.ServerConfig()); err1 != nil || err2 != nil {
		t.Errorf("a joiner that is dialled back: client %v, server %v", err1, err2)
	}
	if _, _, err1, err2 := shake(t, UnverifiedConfig(), server.ServerConfig()); err1 != nil || err2 != nil {
		t.Errorf("a joiner that asks for the roots: client %v, server %v", err1, err2)
	}
}

func TestJoinerIdentifiesNobody(t *testing.T) {
	c := newCA()
	joining := must(Open(identityDir(t)))
	if _, _, err := joining.Prepare("n2"); err != nil {
		t.Fatal(err)
	}
	_, onServer, err1, err2 := shake(t, stranger(c, member("s1", pki.RoleServer), nil), joining.ServerConfig())
	if err1 != nil || err2 != nil {
		t.Fatalf("client %v, server %v", err1, err2)
	}
	if id, ok := joining.Peer(onServer); ok {
		t.Errorf("a joiner, which has no roots, identified %+v", id)
	}
}

// TestCertificateOfAnotherKeyIsNoProof presents a member's certificate without its key.
func TestCertificateOfAnotherKeyIsNoProof(t *testing.T) {
	c := newCA()
	server := c.join(t, identityDir(t), member("s1", pki.RoleServer))
	victim := c.join(t, identityDir(t), member("s2", pki.RoleServer))
	thief := stranger(c, member("n1", pki.RoleNode), nil)
	thief.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) {
		stolen := *victim.current.Load().cert
		stolen.PrivateKey = must(pki.ParseKey(must(pki.NewKey())))
		return &stolen, nil
	}
	if _, _, err, _ := shake(t, thief, server.ServerConfig()); err == nil {
		t.Error("a certificate without its key got through")
	}
}

func TestExpiredMembersPassAndAreTold(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		c := newCA()
		server := c.join(t, identityDir(t), member("s1", pki.RoleServer))
		node := c.join(t, identityDir(t), member("n1", pki.RoleNode))
		var log bytes.Buffer
		server.Logger = slog.New(slog.NewTextHandler(&log, nil))
		node.Logger = server.Logger
		_, early, err1, err2 := shake(t, node.ClientConfig(), server.ServerConfig())
		if err1 != nil || err2 != nil {
			t.Fatalf("client %v, server %v", err1, err2)
		}
		time.Sleep(91 * 24 * time.Hour)
		for range 3 {
			onClient, onServer, err1, err2 := shake(t, node.ClientConfig(), server.ServerConfig())
			if err1 != nil || err2 != nil {
				t.Fatalf("client %v, server %v", err1, err2)
			}
			for what, of := range map[string]func() (pki.Identity, bool){
				"the node":                       func() (pki.Identity, bool) { return server.Peer(onServer) },
				"the server":                     func() (pki.Identity, bool) { return node.Peer(onClient) },
				"the node on its old connection": func() (pki.Identity, bool) { return server.Peer(early) },
			} {
				if id, ok := of(); !ok || !id.Expired {
					t.Errorf("%s is %+v, %v; want it identified, and expired", what, id, ok)
				}
			}
		}
		if n := strings.Count(log.String(), "certificate expired"); n != 2 {
			t.Errorf("%d warnings, want one of each side within an hour:\n%s", n, log.String())
		}
	})
}

func TestHandshakesUseTheNewestIdentity(t *testing.T) {
	old := newCA()
	m := member("s1", pki.RoleServer)
	server, node := old.join(t, identityDir(t), m), old.join(t, identityDir(t), member("n1", pki.RoleNode))
	onServer, onClient := server.ServerConfig("h2"), node.ClientConfig("h2")
	_, before, err1, err2 := shake(t, onClient, onServer)
	if err1 != nil || err2 != nil {
		t.Fatalf("client %v, server %v", err1, err2)
	}

	next := must(pki.NewAuthority(cluster, time.Now()))
	crossed := ca{must(next.WithCrossSigned(must(old.CrossSign(next))))}
	csr, _, err := server.Prepare("s1")
	if err != nil {
		t.Fatal(err)
	}
	cert := crossed.sign(csr, m, 0)
	if err := server.Enter(m, cert, append(next.CertPEM(), old.CertPEM()...)); err != nil {
		t.Fatal(err)
	}
	atNode, _, err1, err2 := shake(t, onClient, onServer)
	if err1 != nil || err2 != nil {
		t.Fatalf("the old configurations, after a rotation: client %v, server %v", err1, err2)
	}
	if len(atNode.PeerCertificates) != 2 {
		t.Errorf("the server presented %d certificates, want its new leaf and the cross-signed root", len(atNode.PeerCertificates))
	}
	if err := server.Enter(m, cert, next.CertPEM()); err != nil {
		t.Fatal(err)
	}
	if _, ok := server.Peer(before); ok {
		t.Error("a connection of a member under the dropped root is still identified")
	}
	if _, _, err, _ := shake(t, onClient, onServer); err == nil {
		t.Error("a member under the dropped root got through")
	}
}

func TestPeersAreBounded(t *testing.T) {
	p := newPeers()
	for i := range maxPeers {
		p.known[[32]byte(big.NewInt(int64(i)).FillBytes(make([]byte, 32)))] = pki.Identity{}
	}
	c := newCA()
	chain := must(pki.ParseChain(c.sign(must(pki.NewRequest(must(pki.NewKey()), "n1")), member("n1", pki.RoleNode), 0)))
	roots := must(pki.ParseRoots(c.CertPEM()))
	for range 2 {
		if id, err := p.identify(roots, chain, time.Now()); err != nil || id.ID != "n1" {
			t.Errorf("identified %+v, %v", id, err)
		}
	}
	if len(p.known) != 1 {
		t.Errorf("the cache holds %d peers after it was full", len(p.known))
	}
	_, err := p.identify(must(pki.ParseRoots(newCA().CertPEM())), selfSigned(), time.Now())
	if err == nil || len(p.known) != 1 {
		t.Errorf("a stranger is cached: error %v, %d peers", err, len(p.known))
	}
}

func selfSigned() []*x509.Certificate {
	key := must(pki.ParseKey(must(pki.NewKey())))
	template := &x509.Certificate{Subject: pkix.Name{CommonName: "x"}, NotAfter: time.Now().Add(time.Hour)}
	return []*x509.Certificate{must(x509.ParseCertificate(must(x509.CreateCertificate(rand.Reader, template, template, key.Public(), key))))}
}
