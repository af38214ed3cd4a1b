// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package router

import (
	"encoding/binary"
	"encoding/hex"
	"math/rand/v2"
	"net/netip"
	"slices"
	"strings"

	"github.com/reeve-run/reeve/internal/router/http1"
)

// newRequestID returns an id for a request without one.
func newRequestID() string {
	var b [8]byte
	binary.BigEndian.PutUint64(b[:], rand.Uint64())
	return hex.EncodeToString(b[:])
}

// isRequestID reports whether the router keeps a client's id of a request.
func isRequestID(b []byte) bool { return len(b) > 0 && len(b) <= 128 && http1.IsToken(b) }

// trusts reports whether a peer is a trusted proxy, whose fields about the origin
// of a request the router keeps.
func (r *Router) trusts(peer netip.Addr) bool {
	return slices.ContainsFunc(r.config.Trusted, func(p netip.Prefix) bool { return p.Contains(peer) })
}

// forwardedNode returns an address in the syntax of the Forwarded field.
func forwardedNode(a netip.Addr) string {
	if a.Is6() {
		return "\"[" + a.String() + "]\""
	}
	return a.String()
}

// session returns the value of a cookie in a Cookie field.
func session(cookies, name string) string {
	for part := range strings.SplitSeq(cookies, ";") {
		if n, v, ok := strings.Cut(strings.TrimLeft(part, " \t"), "="); ok && n == name {
			return strings.TrimRight(v, " \t")
		}
	}
	return ""
}

// setSession returns the value of the Set-Cookie field that keeps a client on an
// instance.
func setSession(p *pool, i *instance, secure bool) string {
	path := p.key.path
	if path == "" || strings.ContainsAny(path, ";,") {
		path = "/"
	}
	return setCookie(p.sticky, i.cookie(), path, secure)
}
