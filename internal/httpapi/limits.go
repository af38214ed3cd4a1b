// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"math"
	"net/http"
	"strconv"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/door"
	"github.com/reeve-run/reeve/internal/limit"
	"github.com/reeve-run/reeve/internal/pki"
)

// Requests of logins: everyone may send them, and some make the leader ask an identity provider. The
// burst is what an office behind one address sends in the morning.
const (
	loginsPerSecond = 5
	loginsBurst     = 100
	loginAddresses  = 10_000 // that are remembered
)

// limit returns an error if the caller's address sends too many requests of limited routes. The agent
// that receives a request from outside counts it: the address of a forwarded one is that of a server.
func (c *call) limit() error {
	if !c.route.Limited {
		return nil
	}
	switch callerOf(c.r).Kind {
	case door.Local, door.Operator, door.Server:
		return nil
	}
	if c.fromServer() {
		return nil
	}
	wait := c.logins.Take(limit.AddressKey(c.r.RemoteAddr), time.Now())
	if wait == 0 {
		return nil
	}
	c.Metrics.Limited()
	seconds := int(math.Ceil(wait.Seconds()))
	c.w.Header().Set("Retry-After", strconv.Itoa(seconds))
	return api.Errorf(api.CodeRateLimited, "this address sends more logins than %d a second: wait %d s, and try again", loginsPerSecond, seconds)
}

// fromServer reports whether another server sent or forwarded the request.
func (c *call) fromServer() bool {
	member, ok := c.memberOf(c.r)
	return ok && member.Role == pki.RoleServer
}

// memberOf returns the member of the cluster at the other end of a request's connection.
func (h *Handler) memberOf(r *http.Request) (pki.Identity, bool) {
	if h.Door == nil || h.Door.Peer == nil || r.TLS == nil || len(r.TLS.PeerCertificates) == 0 {
		return pki.Identity{}, false
	}
	return h.Door.Peer(*r.TLS)
}
