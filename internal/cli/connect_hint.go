// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net/url"
	"strings"

	"github.com/reeve-run/reeve/client"
	"github.com/reeve-run/reeve/internal/pki"
)

// connectionHint returns advice for errors of connections, or "" for other errors.
func (c *cli) connectionHint(err error) string {
	if errors.Is(err, context.Canceled) {
		return "interrupted; the servers continue without this command"
	}
	var no *client.NoAnswer
	if !errors.As(err, &no) {
		return ""
	}
	if hint := c.trustHint(no); hint != "" {
		return hint
	}
	if c.used != nil && c.address() == "" {
		return fmt.Sprintf("no server of context %s answers (%s): %s\nCheck the servers, choose another cluster with \"reeve context use NAME\", or set -address or REEVE_ADDR.", c.used.Name, strings.Join(c.used.Servers, ", "), no.Cause)
	}
	return fmt.Sprintf("%s\nThe address is %s; set -address or REEVE_ADDR to use another.", err, no.Address)
}

// trustHint returns advice for a server that could not be verified, or "".
func (c *cli) trustHint(no *client.NoAnswer) string {
	host := hostPort(no.Address)
	var refused *pki.CertificateError
	switch {
	case errors.As(no.Source(), &refused):
		return c.refusalHint(host, refused)
	case isUnverified(no.Source()):
		return fmt.Sprintf("the certificate of %s is signed by an authority that this machine does not know: log in to the cluster with: reeve login %s", host, host)
	case isPlain(no.Source()):
		return fmt.Sprintf("the agent at %s serves plain HTTP, for its own machine only: use http://%s there, or name a server of a cluster", host, host)
	}
	return ""
}

// refusalHint explains why the roots of the context did not verify a server.
func (c *cli) refusalHint(host string, refused *pki.CertificateError) string {
	switch refused.Reason {
	case pki.ReasonForeign, pki.ReasonCluster:
		name := ""
		if c.used != nil {
			name = " " + c.used.Name
		}
		return fmt.Sprintf("the server at %s is not verified by the certificates of context%s: it belongs to another cluster, or its cluster replaced its root certificate; log in again with: reeve login %s", host, name, host)
	}
	return fmt.Sprintf("the server at %s is not accepted: %v", host, refused)
}

// isUnverified reports whether the roots of this machine do not verify a server.
func isUnverified(err error) bool {
	var failed *tls.CertificateVerificationError
	return errors.As(err, &failed)
}

// isPlain reports whether an https address belongs to a server without TLS.
func isPlain(err error) bool {
	var record tls.RecordHeaderError
	return errors.As(err, &record) || err != nil && strings.Contains(err.Error(), "server gave HTTP response to HTTPS client")
}

// hostPort returns the host and port of a URL.
func hostPort(address string) string {
	if u, err := url.Parse(address); err == nil && u.Host != "" {
		return u.Host
	}
	return address
}
