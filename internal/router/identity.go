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
)

// newRequestID names a request that came without a name.
func newRequestID() string {
	var b [8]byte
	binary.BigEndian.PutUint64(b[:], rand.Uint64())
	return hex.EncodeToString(b[:])
}

// isRequestID reports whether a client's name for a request can be kept.
func isRequestID(b []byte) bool { return len(b) > 0 && len(b) <= 128 && all(b, isToken) }

// believes reports whether what a peer says of where a request came from is
// passed on.
func (r *Router) believes(peer netip.Addr) bool {
	return slices.ContainsFunc(r.config.Trusted, func(p netip.Prefix) bool { return p.Contains(peer) })
}

// forwardedNode is an address as the Forwarded field has it.
func forwardedNode(a netip.Addr) string {
	if a.Is6() {
		return "\"[" + a.String() + "]\""
	}
	return a.String()
}

// session is the value of a cookie among those of a Cookie field.
func session(cookies, name string) string {
	for part := range strings.SplitSeq(cookies, ";") {
		if n, v, ok := strings.Cut(strings.TrimLeft(part, " \t"), "="); ok && n == name {
			return strings.TrimRight(v, " \t")
		}
	}
	return ""
}

// setSession is the Set-Cookie field's value that keeps a client with an
// instance.
func setSession(p *pool, i *instance) string {
	path := p.key.path
	if path == "" || strings.ContainsAny(path, ";,") {
		path = "/"
	}
	return p.sticky + "=" + i.cookie() + "; Path=" + path + "; HttpOnly; SameSite=Lax"
}
