// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

// Package door decides which requests an agent's HTTP API serves. A loopback address is no
// boundary: every user of the machine can connect to it, and so can every web page in a
// browser there, under any host name that the page's site resolves to it.
//
// A request is admitted if its Host names this agent, no page of another site sent it, and
// its caller is trusted. Trusted are
//
//   - callers that present the agent's token, which is in a file in the data directory;
//   - processes of the agent's own user, of root, and of the user who started the
//     agent through sudo. The kernel reports the user of a connection.
//
// Two kinds of processes need the token even as such a user: isolated tasks, which have
// another root directory than the agent, and the agent itself, because its router, checks
// and callbacks send requests on behalf of others. Unidentified callers are not trusted.
//
// The package handles connections and requests. It knows neither routes nor jobs.
package door

import (
	"context"
	"crypto/subtle"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"os"
	"os/user"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/reeve-run/reeve/api"
)

// Config configures a Door.
type Config struct {
	Token     string   // secret that admits any caller
	TokenFile string   // path of the token's file, for messages
	Hosts     []string // additional names of the agent besides localhost and loopback addresses

	// Identify returns the process behind a connection; nil asks the kernel.
	Identify func(local, remote netip.AddrPort) (Caller, error)
}

// A Door guards one agent's listener. Make one with New.
type Door struct {
	Config
	users []uint32 // users whose processes are trusted
}

// A Caller is the process at the other end of a connection.
type Caller struct {
	UID      uint32
	Self     bool // reports whether it is this process
	Isolated bool // reports whether it has another root directory
}

// New returns the door of this process.
func New(c Config) (*Door, error) {
	hosts := make([]string, len(c.Hosts))
	for i, name := range c.Hosts {
		if !isName(name) {
			return nil, api.Errorf(api.CodeInvalid, "http: hosts: %q is not a host name: write it without scheme and port, as in \"reeve.example.com\"", name)
		}
		hosts[i] = canonical(name)
	}
	c.Hosts = hosts
	d := &Door{Config: c, users: trustedUsers(os.Geteuid(), os.Getenv("SUDO_UID"))}
	if d.Identify == nil {
		d.Identify = d.askKernel
	}
	return d, nil
}

// nobody is the default user of isolated tasks; it is never trusted.
const nobody = 65534

// trustedUsers returns the agent's user, root, and the user who became root through sudo.
func trustedUsers(own int, sudo string) []uint32 {
	users := []uint32{0}
	if own != 0 {
		users = append(users, uint32(own))
	}
	if uid, err := strconv.ParseUint(sudo, 10, 32); err == nil && uid != nobody {
		users = append(users, uint32(uid))
	}
	return users
}

type connKey struct{}

// A conn is a connection whose caller is looked up on its first request.
type conn struct {
	local, remote net.Addr
	identify      sync.Once
	caller        Caller
	err           error
}

// Mark attaches a connection to the context of its requests. Use it as an http.Server's
// ConnContext.
func (d *Door) Mark(ctx context.Context, c net.Conn) context.Context {
	return context.WithValue(ctx, connKey{}, &conn{local: c.LocalAddr(), remote: c.RemoteAddr()})
}

// Admit returns the reason why a request's caller is rejected; nil if it is admitted.
func (d *Door) Admit(r *http.Request) error {
	if d.hasToken(r.Header) {
		return nil
	}
	c, ok := r.Context().Value(connKey{}).(*conn)
	if !ok {
		return d.refuse("the user of this connection cannot be identified")
	}
	c.identify.Do(func() {
		local, err1 := netip.ParseAddrPort(c.local.String())
		remote, err2 := netip.ParseAddrPort(c.remote.String())
		if err1 != nil || err2 != nil {
			c.err = fmt.Errorf("it is no connection of TCP")
			return
		}
		c.caller, c.err = d.Identify(local, remote)
	})
	switch who := c.caller; {
	case c.err != nil:
		return d.refuse("the user of this connection cannot be identified: " + c.err.Error())
	case !slices.Contains(d.users, who.UID):
		return d.refuse(userName(who.UID) + " may not use this API")
	case who.Isolated:
		return d.refuse("a process with a root directory of its own, such as an isolated task, may not use this API, not even as " + userName(who.UID))
	case who.Self:
		return d.refuse("the agent does not pass on requests to its own API")
	}
	return nil
}

func (d *Door) refuse(why string) error {
	return api.Errorf(api.CodeForbidden, "%s without the agent's token: pass the content of %s as REEVE_TOKEN, NOMAD_TOKEN, or the header X-Nomad-Token, or name the file with -token-file", why, d.TokenFile)
}

// hasToken reports whether the headers contain the agent's token.
func (d *Door) hasToken(h http.Header) bool {
	return d.isToken(h.Get("X-Nomad-Token")) || d.isToken(bearer(h))
}

func (d *Door) isToken(s string) bool {
	return d.Token != "" && subtle.ConstantTimeCompare([]byte(s), []byte(d.Token)) == 1
}

func bearer(h http.Header) string {
	scheme, token, _ := strings.Cut(h.Get("Authorization"), " ")
	if !strings.EqualFold(scheme, "Bearer") {
		return ""
	}
	return strings.TrimSpace(token)
}

// Strip removes the agent's token from the headers of a request that is forwarded to another
// agent, which must not learn it.
func (d *Door) Strip(h http.Header) {
	if d.isToken(h.Get("X-Nomad-Token")) {
		h.Del("X-Nomad-Token")
	}
	if d.isToken(bearer(h)) {
		h.Del("Authorization")
	}
}

func userName(uid uint32) string {
	id := strconv.FormatUint(uint64(uid), 10)
	if u, err := user.LookupId(id); err == nil {
		return "user " + u.Username + " (" + id + ")"
	}
	return "user " + id
}
