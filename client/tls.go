// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package client

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net"
	"net/http"
	"os"
	"slices"
	"strings"

	"github.com/reeve-run/reeve/api"
)

// tlsConfig returns the configuration that verifies the servers of an https address.
func (c *Config) tlsConfig(scheme string) (*tls.Config, error) {
	if c.TLS != nil || scheme != "https" {
		return c.TLS, nil
	}
	text, from := c.CA, "Config.CA"
	if len(text) == 0 {
		path := firstOf(os.Getenv("REEVE_CACERT"), os.Getenv("NOMAD_CACERT"))
		if path == "" {
			return nil, nil
		}
		from = "REEVE_CACERT"
		if os.Getenv("REEVE_CACERT") == "" {
			from = "NOMAD_CACERT"
		}
		var err error
		if text, err = os.ReadFile(path); err != nil {
			return nil, api.Errorf(api.CodeInvalid, "%s names a file that cannot be read: %v; name a readable PEM file with the cluster's root certificate", from, err)
		}
		from += " (" + path + ")"
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(text) {
		return nil, api.Errorf(api.CodeInvalid, "%s contains no certificate: name a PEM file with the cluster's root certificate", from)
	}
	return &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12}, nil
}

// plainAnswers begin the answers to plain HTTP on a port that speaks TLS: of Reeve and of
// net/http.
var plainAnswers = []string{"this port speaks TLS", "Client sent an HTTP request to an HTTPS server"}

// alertAnswer is a part of the error of plain HTTP on a port that answers with an alert of TLS.
const alertAnswer = `malformed HTTP response "\x15\x03`

// protocolError explains an error of TLS that another attempt would not change; nil for other
// errors.
func (c *Client) protocolError(err error) error {
	host := c.base.Host
	var foreign x509.UnknownAuthorityError
	var name x509.HostnameError
	var invalid x509.CertificateInvalidError
	var remote *net.OpError
	switch {
	case errors.Is(err, http.ErrSchemeMismatch):
		return api.Errorf(api.CodeInvalid, "the port at %s speaks plain HTTP: use http://%s", host, host)
	case errors.As(err, &foreign):
		return api.Errorf(api.CodeInvalid, "the certificate of %s is signed by another CA (%.100q): pass the root certificate of its cluster as REEVE_CACERT, or log in with `reeve login`", host, issuer(foreign.Cert))
	case errors.As(err, &name):
		return api.Errorf(api.CodeInvalid, "the certificate of %s is not valid for this name: %v; use an address that the server advertises", host, name)
	case errors.As(err, &invalid) && invalid.Reason == x509.Expired:
		return api.Errorf(api.CodeInvalid, "the certificate of %s has expired or is not valid yet: %v; compare the clocks of both machines, and see the log of the agent there", host, invalid)
	case errors.As(err, &remote) && remote.Op == "remote error" && strings.Contains(remote.Err.Error(), "certificate"): // an alert
		return api.Errorf(api.CodeInvalid, "%s rejected the connection (%v): compare the CA and the certificate of this client with those of the cluster", host, remote.Err)
	}
	if c.base.Scheme == "http" && strings.Contains(err.Error(), alertAnswer) {
		return c.speaksTLS()
	}
	return nil
}

// speaksTLS returns the error of plain HTTP on a port that speaks TLS.
func (c *Client) speaksTLS() error {
	return api.Errorf(api.CodeInvalid, "the port at %s speaks TLS: use https://%s, and `reeve login` or REEVE_CACERT to trust its certificate", c.base.Host, c.base.Host)
}

func startsWithAny(text string, beginnings []string) bool {
	return slices.ContainsFunc(beginnings, func(b string) bool { return strings.HasPrefix(text, b) })
}

func issuer(c *x509.Certificate) string {
	if c == nil {
		return ""
	}
	return c.Issuer.String()
}
