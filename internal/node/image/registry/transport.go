// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package registry

import (
	"io"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/reeve-run/reeve/internal/node/stall"
)

// maxResponse bounds every response that is not a blob, in bytes.
const maxResponse = 8 << 20

// blobKey marks the context of requests whose responses may be long.
type blobKey struct{}

// A guard is the transport below the login. It ends stalled connections, bounds responses, and
// keeps plain HTTP to where it is allowed.
type guard struct {
	inner    http.RoundTripper
	stall    time.Duration
	insecure []string // hosts with plain HTTP
	local    bool     // the registry is a service of this machine
}

func (g *guard) RoundTrip(req *http.Request) (*http.Response, error) {
	if req.URL.Scheme != "https" && !isLocal(req.URL.Hostname()) && !slices.Contains(g.insecure, req.URL.Host) {
		return nil, fatal("%s does not offer TLS: add a certificate, or declare the registry insecure in the agent's configuration", req.URL.Host)
	}
	if isLocal(req.URL.Hostname()) && !g.local {
		return nil, fatal("the registry leads to %s, which is a service of the node or of its cloud", req.URL.Host)
	}
	resp, err := (&stall.Transport{Inner: g.inner, Limit: g.stall, Err: errStalled}).RoundTrip(req)
	if err != nil {
		return nil, err
	}
	body := &boundedBody{ReadCloser: resp.Body, left: maxResponse}
	if req.Context().Value(blobKey{}) != nil {
		body.left = 1 << 62 // a blob's own size bounds it
	}
	resp.Body = body
	return resp, nil
}

// A boundedBody ends with an error after a number of bytes.
type boundedBody struct {
	io.ReadCloser
	left int64
}

func (b *boundedBody) Read(p []byte) (int, error) {
	if b.left <= 0 {
		return 0, fatal("the registry's response has more than %d bytes", maxResponse)
	}
	n, err := b.ReadCloser.Read(p[:min(int64(len(p)), b.left)])
	b.left -= int64(n)
	return n, err
}

// isLocal reports whether a host is this machine, or reachable from it alone.
func isLocal(host string) bool {
	if strings.EqualFold(host, "localhost") {
		return true
	}
	ip, err := netip.ParseAddr(host)
	return err == nil && (ip.IsLoopback() || ip.IsUnspecified() || ip.IsLinkLocalUnicast())
}

// checkRedirect bounds redirects and keeps TLS. The guard checks where each one leads.
func checkRedirect(req *http.Request, via []*http.Request) error {
	if len(via) >= 10 {
		return fatal("the registry redirected 10 times")
	}
	if first := via[0].URL; first.Scheme == "https" && req.URL.Scheme != "https" {
		return fatal("%s redirects to %s without TLS", first.Host, req.URL.Host)
	}
	return nil
}

// newTransport returns the transport to all registries of a node.
func newTransport() *http.Transport {
	return &http.Transport{
		Proxy:                  http.ProxyFromEnvironment,
		DialContext:            (&net.Dialer{Timeout: 10 * time.Second, KeepAlive: 30 * time.Second}).DialContext,
		ForceAttemptHTTP2:      true,
		MaxIdleConnsPerHost:    8,
		IdleConnTimeout:        30 * time.Second,
		TLSHandshakeTimeout:    10 * time.Second,
		MaxResponseHeaderBytes: 256 << 10,
	}
}
