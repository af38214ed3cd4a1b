// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package router

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/router/acme"
	"github.com/reeve-run/reeve/internal/router/certs"
)

// A secure is the router's part for HTTPS. Go's net/http serves its requests, with either
// engine.
type secure struct {
	listener   *net.TCPListener
	certs      *certs.Store
	issuer     *acme.Issuer // nil: no certificates by ACME
	config     *tls.Config
	unknown    *tls.Config // of clients that ask for a name without a certificate
	server     *http.Server
	handed     chan net.Conn
	handshakes handshakes

	terminated, passed, unknownName, failed, dropped atomic.Uint64
}

// maxHandshakes is the default of Config.MaxHandshakes.
const maxHandshakes = 1024

var errPassthrough = errors.New("an instance continues the handshake")

// openSecure listens for HTTPS, if the configuration has an address for it.
func (r *Router) openSecure() error {
	if r.config.HTTPSAddr == "" {
		return nil
	}
	l, err := listenFor(r.config.HTTPSAddr, "-router-https")
	if err != nil {
		return err
	}
	s := &secure{listener: l, handed: make(chan net.Conn), certs: certs.New(r.config.Certificates, r.config.Variables, r.config.Logger)}
	if s.issuer, err = r.newIssuer(s.certs); err != nil {
		l.Close()
		return err
	}
	s.handshakes.limit = r.config.MaxHandshakes
	protocols := []string{"h2", "http/1.1"}
	s.config = &tls.Config{MinVersion: tls.VersionTLS12, NextProtos: protocols, GetCertificate: func(hello *tls.ClientHelloInfo) (*tls.Certificate, error) {
		return s.certs.For(hello), nil
	}}
	s.config.GetConfigForClient = r.greet
	s.unknown = &tls.Config{MinVersion: tls.VersionTLS12, SessionTicketsDisabled: true, // a resumed session would need no certificate
		GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return nil, nil }} // alert unrecognized_name
	s.server = r.newServer()
	s.server.Protocols.SetHTTP1(true)
	s.server.Protocols.SetHTTP2(true)
	s.server.Protocols.SetUnencryptedHTTP2(false)
	s.server.ConnState = func(nc net.Conn, state http.ConnState) {
		if state != http.StateNew { // a request may have come with the end of the handshake
			nc.(*tls.Conn).NetConn().(*helloConn).silent.Store(false)
		}
	}
	r.secure = s
	return nil
}

// greet decides about a connection when the client has said which name it wants.
func (r *Router) greet(hello *tls.ClientHelloInfo) (*tls.Config, error) {
	c := hello.Conn.(*helloConn)
	c.name = certs.NameOf(hello)
	if answer := r.answerTLS(hello); answer != nil {
		c.decide(nil)
		return answer, nil
	}
	if hello.ServerName != "" {
		if p := r.table.Load().passthrough(c.name); p != nil {
			c.decide(p)
			return nil, errPassthrough
		}
	}
	c.decide(nil)
	if r.secure.certs.For(hello) == nil {
		c.unknown = true
		return r.secure.unknown, nil
	}
	return nil, nil
}

// serveSecure serves a connection to the address of HTTPS until it is closed.
func (r *Router) serveSecure(nc *net.TCPConn) {
	s := r.secure
	c := &helloConn{handedConn: newHandedConn(nc, nil), undecided: true}
	ok, dropped := s.handshakes.add(c)
	if dropped {
		s.dropped.Add(1)
	}
	if !ok {
		nc.Close()
		return
	}
	begun := time.Now()
	nc.SetDeadline(begun.Add(r.config.HeaderTimeout))
	conn := tls.Server(c, s.config)
	err := conn.HandshakeContext(context.Background())
	s.handshakes.remove(c)
	nc.SetDeadline(time.Time{})
	switch {
	case c.pool != nil:
		s.passed.Add(1)
		r.passTCP(nc, c.pool, c.pool.key.host, c.hello)
	case err != nil:
		r.countHandshake(c, err)
		c.Close()
	case conn.ConnectionState().NegotiatedProtocol == acme.TLSProtocol:
		s.terminated.Add(1)
		conn.Close()
	default:
		s.terminated.Add(1)
		c.hello = nil
		c.silent.Store(true)
		if !r.conns.add(c) {
			nc.Close()
			return
		}
		defer r.conns.remove(c)
		r.handOver(s.handed, conn, c.handedConn)
	}
}

// countHandshake counts a handshake that failed.
func (r *Router) countHandshake(c *helloConn, err error) {
	why := inWords(err)
	if c.unknown {
		r.secure.unknownName.Add(1)
		why = "the router has no certificate for this name"
	} else {
		r.secure.failed.Add(1)
	}
	r.config.Logger.Debug("a TLS handshake failed", "client", c.RemoteAddr().String(), "name", api.Printable(c.name, 200), "error", why)
}

// passthrough returns the pool that receives TLS connections for a name, or nil. The name
// itself precedes its wildcard, whichever kind of route it has.
func (t *table) passthrough(name string) *pool {
	if t.passthroughs == 0 || name == "" {
		return nil
	}
	if p := t.get(poolKey{listen: passthroughs, host: name}); p != nil {
		return p
	}
	if i := strings.IndexByte(name, '.'); i > 0 && !t.hasHost(name) {
		return t.get(poolKey{listen: passthroughs, host: "*" + name[i:]})
	}
	return nil
}

// misdirected refuses a request within TLS for a host whose connections go to instances: a
// client may use one HTTP/2 connection for all hosts of a certificate.
var misdirected = &refusal{status: http.StatusMisdirectedRequest, why: "TLS connections for this host go to its instances: open another connection for it"}

// checkTLS returns the router's answer to a request that must use another connection.
func (r *Router) checkTLS(t *table, q *asked, p *pool) *refusal {
	if passed := t.passthrough(q.host); passed != nil {
		if q.tls {
			return misdirected
		}
		p = passed
	}
	if p == nil || !p.redirects || q.secure || p.key.host == "" {
		return nil
	}
	host := q.host
	if port := r.securePort(); port != "443" {
		host = net.JoinHostPort(host, port)
	}
	target := q.target
	if !strings.HasPrefix(target, "/") {
		target = "/"
	}
	return &refusal{status: http.StatusPermanentRedirect, why: "this host is served over HTTPS", location: "https://" + host + target}
}

// securePort returns the port of HTTPS that clients use. Without HTTPS of the router itself,
// something in front of it serves it.
func (r *Router) securePort() string {
	if p := r.config.HTTPSPort; p != 0 {
		return strconv.Itoa(p)
	}
	if r.secure == nil {
		return "443"
	}
	_, port, _ := net.SplitHostPort(r.secure.listener.Addr().String())
	return port
}

// status returns the counters of handshakes.
func (s *secure) status() *api.RouterTLS {
	return &api.RouterTLS{
		Pending: int64(s.handshakes.len()), Terminated: s.terminated.Load(), Passed: s.passed.Load(),
		UnknownName: s.unknownName.Load(), Failed: s.failed.Load(), Dropped: s.dropped.Load(),
	}
}

// CertificateTrouble returns a sentence about the first certificate that is unusable or about to
// expire; "" if all are in order.
func (r *Router) CertificateTrouble() string {
	if r.secure == nil {
		return ""
	}
	for _, c := range r.secure.certs.Status(time.Now()) {
		if trouble := cmp.Or(c.Problem, c.Warning); trouble != "" {
			return trouble
		}
	}
	return ""
}
