// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

// Package door identifies the callers of an agent's HTTP API. A loopback address is no
// boundary: every user of the machine can connect to it, and so can every web page in a
// browser there, under any host name that the page's site resolves to it.
//
// A request must come from no page of another site, and without TLS its Host must name this
// agent. Callers are
//
//   - servers and nodes of the cluster, by the certificate of their TLS connection;
//   - operators, by their token, which some dialects send in a cookie;
//   - users, by a token whose policies decide;
//   - anonymous ones, without a token, if a policy grants something to them;
//   - local ones without TLS, by the agent's token, which is in a file in the data
//     directory, or as processes of the agent's own user, of root, and of the user who
//     started the agent through sudo. The kernel reports the user of a connection.
//
// An agent also has a socket for each task with an identity, on which every request needs a
// token: see TaskAddr.
//
// Two kinds of processes need a token even as such a user: isolated tasks, which have
// another root directory than the agent, and the agent itself, because its router, checks
// and callbacks send requests on behalf of others. All other callers are unknown.
//
// A token decides before a node's certificate: a node forwards the requests of others, and a
// caller with a wrong token must not get the node's rights. The node marks such requests, because a token
// may be lost on the way. A server's certificate decides
// before everything else, because servers check the callers of the requests that they forward.
//
// The package handles connections and requests. It knows neither routes nor jobs: package
// httpapi decides what each caller may do.
package door

import (
	"crypto/tls"
	"net/netip"
	"os"
	"os/user"
	"strconv"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/pki"
)

// Config configures a Door.
type Config struct {
	Token     string   // secret that admits any caller
	TokenFile string   // path of the token's file, for messages
	Hosts     []string // additional names of the agent besides localhost and loopback addresses
	Cookies   []Cookie // cookies that may hold a token

	// Identify returns the process behind a connection; nil asks the kernel.
	Identify func(local, remote netip.AddrPort) (Process, error)

	// Peer returns the member whose verified certificate a connection has; nil: no caller is a
	// member.
	Peer func(tls.ConnectionState) (pki.Identity, bool)
	// IsOperator reports whether a token is an operator's; nil if only servers can check that.
	IsOperator func(token string) bool
	// UserOf returns the accessor id of a user's token; "" if no user has it. Nil: no caller is a user.
	UserOf func(token string) (accessor string)
	// AnonymousMay reports whether a policy grants something to callers without a token; nil: none
	// does.
	AnonymousMay func() bool
	// Removed reports whether a member was removed from the cluster; nil: none was.
	Removed func(id string) bool
}

// A Door guards one agent's listener. Make one with New.
type Door struct {
	Config
	users []uint32 // users whose processes are trusted
}

// A Process is at the other end of a connection on this machine.
type Process struct {
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

func userName(uid uint32) string {
	id := strconv.FormatUint(uint64(uid), 10)
	if u, err := user.LookupId(id); err == nil {
		return "user " + u.Username + " (" + id + ")"
	}
	return "user " + id
}
