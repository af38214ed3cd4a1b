// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package router

import (
	"crypto/tls"
	"net/http"
	"strings"

	"github.com/reeve-run/reeve/internal/router/acme"
	"github.com/reeve-run/reeve/internal/router/certs"
)

// newIssuer returns the issuer that fills the store; nil if none is configured.
func (r *Router) newIssuer(store *certs.Store) (*acme.Issuer, error) {
	if r.config.ACME == nil {
		return nil, nil
	}
	c := *r.config.ACME
	c.Open, c.Store, c.Logger = r.config.Variables, store, r.config.Logger
	return acme.New(c)
}

// followHosts gives the issuer the hosts of routes.
func (r *Router) followHosts() {
	if r.secure == nil || r.secure.issuer == nil || len(r.config.ACME.RouteHosts) == 0 {
		return
	}
	var hosts []string
	for _, shard := range r.table.Load().hosts {
		for host := range shard {
			hosts = append(hosts, host)
		}
	}
	r.secure.issuer.SetHosts(hosts)
}

// answerChallenge returns the answer to a challenge of an authority. Requests for other tokens go
// to the routes, because an instance may order certificates itself.
func (r *Router) answerChallenge(q *asked) *refusal {
	token, found := strings.CutPrefix(q.path, acme.ChallengePath)
	if !found || r.secure == nil || r.secure.issuer == nil {
		return nil
	}
	text := r.secure.issuer.HTTPAnswer(q.host, token)
	if text == "" {
		return nil
	}
	return &refusal{status: http.StatusOK, why: "the router answers the challenge of a certificate authority", text: text}
}

// answerTLS returns the configuration of a handshake that is a challenge of an authority; nil for
// all others.
func (r *Router) answerTLS(hello *tls.ClientHelloInfo) *tls.Config {
	if r.secure.issuer == nil {
		return nil
	}
	cert := r.secure.issuer.TLSAnswer(hello)
	if cert == nil {
		return nil
	}
	return &tls.Config{MinVersion: tls.VersionTLS12, NextProtos: []string{acme.TLSProtocol}, Certificates: []tls.Certificate{*cert}, SessionTicketsDisabled: true}
}
