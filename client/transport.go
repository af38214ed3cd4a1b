// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package client

import (
	"context"
	"net/http"
	"net/url"
)

// Base returns the URL to which the paths of requests are appended.
func (c *Client) Base() *url.URL {
	base := *c.base
	return &base
}

// Transport returns the transport of the client's requests. It verifies the servers, and adds nothing to
// requests: neither the token nor the namespace.
func (c *Client) Transport() http.RoundTripper {
	if c.http.Transport == nil {
		return http.DefaultTransport
	}
	return c.http.Transport
}

// IsServed reports whether the agent serves the web UI.
func (u UI) IsServed(ctx context.Context) (bool, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodHead, u.c.base.String()+"/ui/", nil)
	if err != nil {
		return false, err
	}
	resp, err := u.c.Transport().RoundTrip(req)
	if err != nil {
		return false, u.c.transportError(ctx, err)
	}
	resp.Body.Close()
	return resp.StatusCode == http.StatusOK, nil
}
