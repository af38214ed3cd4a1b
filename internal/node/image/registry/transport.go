// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package registry

import (
	"context"
	"io"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"time"
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
	ctx, cancel := context.WithCancelCause(req.Context())
	timer := time.AfterFunc(g.stall, func() { cancel(errStalled) })
	resp, err := g.inner.RoundTrip(req.WithContext(ctx))
	timer.Stop()
	if err != nil {
		if context.Cause(ctx) == errStalled {
			err = errStalled
		}
		cancel(nil)
		return nil, err
	}
	body := &guardedBody{ReadCloser: resp.Body, ctx: ctx, cancel: cancel, timer: timer, stall: g.stall, left: maxResponse}
	if req.Context().Value(blobKey{}) != nil {
		body.left = 1 << 62 // a blob's own size bounds it
	}
	resp.Body = body
	return resp, nil
}

// A guardedBody ends when no byte arrives for a while. Time in which the reader does not read
// does not count.
type guardedBody struct {
	io.ReadCloser
	ctx    context.Context
	cancel context.CancelCauseFunc
	timer  *time.Timer
	stall  time.Duration
	left   int64
}

func (b *guardedBody) Read(p []byte) (int, error) {
	if b.left <= 0 {
		return 0, fatal("the registry's response has more than %d bytes", maxResponse)
	}
	b.timer.Reset(b.stall)
	n, err := b.ReadCloser.Read(p[:min(int64(len(p)), b.left)])
	b.timer.Stop()
	b.left -= int64(n)
	if err != nil && err != io.EOF && context.Cause(b.ctx) == errStalled {
		err = errStalled
	}
	return n, err
}

func (b *guardedBody) Close() error {
	b.timer.Stop()
	b.cancel(nil)
	return b.ReadCloser.Close()
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
