// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"net/http"

	"github.com/reeve-run/reeve/internal/pki"
)

// A nodeTarget is the node to which a request is forwarded.
type nodeTarget struct{ id, addr string }

// targetKey is the context key of a request's nodeTarget.
type targetKey struct{}

func targetOf(ctx context.Context) nodeTarget { return ctx.Value(targetKey{}).(nodeTarget) }

// toNodes sends requests to the agents of nodes. With TLS, the certificate of the other side must
// be that of the node, or of a server: an address that another machine has taken over must not
// receive what the caller means for a task. The id of the node takes the place of the host, so
// that the pool of connections and the verification know it.
type toNodes struct {
	h       *Handler
	secured *http.Transport
}

func newToNodes(h *Handler) *toNodes {
	t := &toNodes{h: h}
	if h.Transport == nil {
		return t
	}
	t.secured = NewTransport(nil)
	dial := t.secured.DialContext
	t.secured.DialContext = func(ctx context.Context, network, _ string) (net.Conn, error) {
		return dial(ctx, network, targetOf(ctx).addr)
	}
	t.secured.ForceAttemptHTTP2, t.secured.HTTP2 = false, nil // websockets need HTTP/1.1
	t.secured.TLSClientConfig = &tls.Config{
		MinVersion: tls.VersionTLS13, NextProtos: []string{"http/1.1"}, InsecureSkipVerify: true, VerifyConnection: t.verify,
		GetClientCertificate: func(info *tls.CertificateRequestInfo) (*tls.Certificate, error) {
			own := h.Transport()
			if own == nil || own.TLSClientConfig == nil || own.TLSClientConfig.GetClientCertificate == nil {
				return new(tls.Certificate), nil
			}
			return own.TLSClientConfig.GetClientCertificate(info)
		},
	}
	return t
}

// verify returns an error unless the peer is the node that the connection is for, or a server.
func (t *toNodes) verify(state tls.ConnectionState) error {
	if t.h.Door == nil || t.h.Door.Peer == nil {
		return fmt.Errorf("this agent cannot verify nodes")
	}
	member, ok := t.h.Door.Peer(state)
	switch {
	case !ok:
		return fmt.Errorf("the agent that answers is no member of this cluster")
	case member.Role == pki.RoleServer || member.ID == state.ServerName:
		return nil
	}
	return fmt.Errorf("node %s answers at the address of node %s: the address has a new owner; restart the agent of the latter, so that it registers its address", member.ID, state.ServerName)
}

// RoundTrip implements http.RoundTripper.
func (t *toNodes) RoundTrip(r *http.Request) (*http.Response, error) {
	target := targetOf(r.Context())
	_, scheme := t.h.outbound()
	r.URL.Scheme, r.URL.Host = scheme, target.addr
	if scheme == "http" {
		return t.h.transport.RoundTrip(r)
	}
	r.URL.Host = target.id
	// The node relies on the check of this server. Who controls a node must not learn the tokens of users.
	for _, name := range []string{"X-Nomad-Token", "Authorization", "Cookie"} {
		r.Header.Del(name)
	}
	return t.secured.RoundTrip(r)
}

// closeIdle closes the idle connections.
func (t *toNodes) closeIdle() {
	if t.secured != nil {
		t.secured.CloseIdleConnections()
	}
}
