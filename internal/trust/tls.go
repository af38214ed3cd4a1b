// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package trust

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/reeve-run/reeve/internal/pki"
)

var errNotJoined = errors.New("this agent has not joined a cluster yet")

// A source gives handshakes the newest identity. Store and External are sources.
type source interface {
	newest() *state
	logger() *slog.Logger
}

// ServerConfig returns the configuration of this agent's listener. Each handshake uses the
// newest certificate and roots. Clients may present a certificate: a member's passes, also if
// it is expired; any other one ends the handshake. Before Enter, the listener presents a
// temporary certificate, and identifies no client.
func (s *Store) ServerConfig(protocols ...string) *tls.Config { return serverConfig(s, protocols) }

// ClientConfig returns the configuration with which this member dials servers. Each handshake
// uses the newest certificate and roots, and verifies that the peer is a server of this
// cluster.
func (s *Store) ClientConfig(protocols ...string) *tls.Config {
	return clientConfig(s, wantServer, protocols)
}

// MemberConfig is ClientConfig for peers of any role: servers use it to reach nodes.
func (s *Store) MemberConfig(protocols ...string) *tls.Config {
	return clientConfig(s, func(pki.Identity) error { return nil }, protocols)
}

// Peer returns the member at the other end of a connection; false if it presented no
// certificate, or one that the roots do not verify (any longer).
func (s *Store) Peer(c tls.ConnectionState) (pki.Identity, bool) { return peerOf(s, c) }

func serverConfig(from source, protocols []string) *tls.Config {
	c := newConfig(protocols)
	c.GetConfigForClient = func(*tls.ClientHelloInfo) (*tls.Config, error) {
		st := from.newest()
		if st.cert == nil {
			return nil, errNotJoined
		}
		c := newConfig(protocols)
		c.Certificates = []tls.Certificate{*st.cert}
		c.ClientAuth = tls.RequestClientCert
		if st.roots != nil {
			c.ClientCAs = st.roots.Pool() // a hint, so that browsers offer no foreign certificate
			c.VerifyConnection = func(cs tls.ConnectionState) error {
				if len(cs.PeerCertificates) == 0 {
					return nil // a user, who presents a token
				}
				_, err := verify(from, st, cs.PeerCertificates)
				return err
			}
		}
		return c, nil
	}
	return c
}

// newConfig returns the part that all configurations share. It disables session tickets,
// because a resumed session keeps the identity that the peer had when it began.
func newConfig(protocols []string) *tls.Config {
	return &tls.Config{MinVersion: tls.VersionTLS13, NextProtos: protocols, SessionTicketsDisabled: true}
}

func clientConfig(from source, want func(pki.Identity) error, protocols []string) *tls.Config {
	c := newConfig(protocols)
	c.InsecureSkipVerify = true // VerifyConnection verifies, and ignores the host name
	c.VerifyConnection = func(cs tls.ConnectionState) error {
		st := from.newest()
		if st.roots == nil {
			return errNotJoined
		}
		id, err := verify(from, st, cs.PeerCertificates)
		if err != nil {
			return err
		}
		return want(id)
	}
	c.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) {
		st := from.newest()
		if st.roots == nil {
			return nil, errNotJoined
		}
		return st.cert, nil
	}
	return c
}

// verify identifies the peer of a handshake, and warns of an expired certificate.
func verify(from source, st *state, chain []*x509.Certificate) (pki.Identity, error) {
	now := time.Now()
	id, err := st.peers.identify(st.roots, chain, now)
	if err == nil && st.peers.remind(id, now) {
		from.logger().Warn("a member's certificate expired: it could not renew it", "role", id.Role, "member", id.ID, "expired", id.NotAfter)
	}
	return id, err
}

func peerOf(from source, c tls.ConnectionState) (pki.Identity, bool) {
	st := from.newest()
	if st.roots == nil || len(c.PeerCertificates) == 0 {
		return pki.Identity{}, false
	}
	id, err := st.peers.identify(st.roots, c.PeerCertificates, time.Now())
	return id, err == nil
}

func wantServer(id pki.Identity) error {
	if id.Role == pki.RoleServer {
		return nil
	}
	return &pki.CertificateError{Reason: pki.ReasonRole, Message: fmt.Sprintf("the peer is %s %s, not a server: give the address of a server", id.Role, id.ID)}
}

// UserConfig returns the configuration of a client that is no member: a command of an
// operator, or an agent that joins. It verifies that the peer is a server of the cluster with
// the roots, and presents no certificate.
func UserConfig(roots *pki.Roots, protocols ...string) *tls.Config {
	c := newConfig(protocols)
	c.InsecureSkipVerify = true // VerifyConnection verifies, and ignores the host name
	c.VerifyConnection = func(cs tls.ConnectionState) error {
		id, err := roots.Identify(cs.PeerCertificates, time.Now())
		if err != nil {
			return err
		}
		return wantServer(id)
	}
	return c
}

// KeyConfig returns a configuration that accepts the peer with one public key, given as
// SubjectPublicKeyInfo in DER: a server uses it to check that a joiner owns the address that
// it advertises.
func KeyConfig(key []byte, protocols ...string) *tls.Config {
	c := newConfig(protocols)
	c.InsecureSkipVerify = true // VerifyConnection compares the key
	c.VerifyConnection = func(cs tls.ConnectionState) error {
		if len(cs.PeerCertificates) == 0 || !bytes.Equal(cs.PeerCertificates[0].RawSubjectPublicKeyInfo, key) {
			return &pki.CertificateError{Reason: pki.ReasonForeign, Message: "another machine or another agent answers at this address: its key is not the key of the request; advertise the address of this agent"}
		}
		return nil
	}
	return c
}

// UnverifiedConfig returns a configuration that trusts every server. A joiner uses it only to
// fetch the roots, of which it keeps the one that its token names (pki.Roots.Pin).
func UnverifiedConfig(protocols ...string) *tls.Config {
	c := newConfig(protocols)
	c.InsecureSkipVerify = true
	return c
}
