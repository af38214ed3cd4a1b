// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
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

// trustHint returns advice for a server that the roots of a context refused, or "".
func (c *cli) trustHint(no *client.NoAnswer) string {
	var refused *pki.CertificateError
	if errors.As(no.Source(), &refused) {
		return c.refusalHint(hostPort(no.Address), refused)
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

// hostPort returns the host and port of a URL.
func hostPort(address string) string {
	if u, err := url.Parse(address); err == nil && u.Host != "" {
		return u.Host
	}
	return address
}
