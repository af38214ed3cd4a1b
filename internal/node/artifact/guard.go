// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package artifact

import (
	"crypto/tls"
	"net"
	"net/http"
	"net/netip"
	"sync"
	"syscall"
	"time"

	"github.com/reeve-run/reeve/internal/node/stall"
)

// A guard decides where the requests for one artifact may lead. The source's author could run a
// task on the node and reach all that the source names. A redirect however is chosen by the
// server: it must not lead to services of the node or of its cloud.
type guard struct {
	mu         sync.Mutex
	redirected bool
	reached    map[reach]bool // by the source itself
}

// reach classifies addresses by who can reach them.
type reach int

const (
	reachAny      reach = iota
	reachMachine        // loopback
	reachLink           // link-local: metadata services of clouds, too
	reachMetadata       // a metadata service at another address
)

var metadataIPv6 = netip.MustParseAddr("fd00:ec2::254")

func reachOf(ip netip.Addr) reach {
	switch ip = ip.Unmap(); {
	case ip.IsLoopback() || ip.IsUnspecified():
		return reachMachine
	case ip.IsLinkLocalUnicast() || ip.IsMulticast():
		return reachLink
	case ip.WithZone("") == metadataIPv6:
		return reachMetadata
	}
	return reachAny
}

// control runs before each connection, with the address that the name resolved to.
func (g *guard) control(_, address string, _ syscall.RawConn) error {
	to, err := netip.ParseAddrPort(address)
	if err != nil {
		return err
	}
	r := reachOf(to.Addr())
	g.mu.Lock()
	defer g.mu.Unlock()
	if !g.redirected {
		g.reached[r] = true
		return nil
	}
	if r != reachAny && !g.reached[r] {
		return refuse("the server redirects to %s, which is a service of the node or of its cloud", to.Addr())
	}
	return nil
}

const maxRedirects = 10

// check decides about a redirect, and removes the artifact's headers if it leads to another host:
// they may hold secrets.
func (g *guard) check(headers map[string]string) func(*http.Request, []*http.Request) error {
	return func(req *http.Request, via []*http.Request) error {
		from := via[0].URL
		switch {
		case len(via) > maxRedirects:
			return refuse("the server redirected %d times", maxRedirects)
		case req.URL.Scheme != from.Scheme && !(from.Scheme == "http" && req.URL.Scheme == "https"):
			return refuse("the server redirects from %s to a URL with the scheme %q", from.Scheme, req.URL.Scheme)
		case req.URL.User != nil:
			return refuse("the server redirects to a URL with a user")
		}
		if req.URL.Host != from.Host {
			for name := range headers {
				req.Header.Del(name)
			}
			req.Header.Del("Authorization")
			req.Header.Del("Referer")
		}
		g.mu.Lock()
		defer g.mu.Unlock()
		g.redirected = true
		return nil
	}
}

// newClient returns a client for one artifact.
func newClient(r *Request) *http.Client {
	g := &guard{reached: map[reach]bool{}}
	dialer := &net.Dialer{Timeout: min(10*time.Second, r.Limits.Stall), Control: g.control}
	t := &http.Transport{
		Proxy: http.ProxyFromEnvironment, DialContext: dialer.DialContext, TLSHandshakeTimeout: 10 * time.Second, DisableKeepAlives: true,
		MaxResponseHeaderBytes: 256 << 10, DisableCompression: true, ForceAttemptHTTP2: true,
	}
	if r.Insecure {
		t.TLSClientConfig = &tls.Config{InsecureSkipVerify: true}
	}
	return &http.Client{Transport: &stall.Transport{Inner: t, Limit: r.Limits.Stall, Err: errStalled}, CheckRedirect: g.check(r.Headers)}
}
