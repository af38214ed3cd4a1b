// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package door

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"sync"

	"github.com/reeve-run/reeve/api"
)

type connKey struct{}

// A conn is a connection whose process is looked up on its first request.
type conn struct {
	local, remote net.Addr
	identify      sync.Once
	process       Process
	err           error
}

// Mark attaches a connection to the context of its requests. Use it as an http.Server's
// ConnContext.
func (d *Door) Mark(ctx context.Context, c net.Conn) context.Context {
	return context.WithValue(ctx, connKey{}, &conn{local: c.LocalAddr(), remote: c.RemoteAddr()})
}

// localCaller returns the caller of a request without TLS. A trusted process needs no token,
// and a wrong one does not harm it, unless it is a user's: tools send tokens of other clusters.
func (d *Door) localCaller(r *http.Request) (Caller, error) {
	if IsTask(r) {
		return d.taskCaller(r)
	}
	switch {
	case d.hasAgentToken(r.Header):
		return Caller{Kind: Local}, nil
	case d.hasOperatorToken(r.Header):
		return Caller{Kind: Operator}, nil
	}
	if id := d.user(r.Header); id != "" {
		return Caller{Kind: User, ID: id}, nil // a token decides: its bearer expects its limits
	}
	if d.UserOf != nil && HasUserToken(r) {
		// An expired token must not give its bearer the rights of the machine's users.
		return reject("%s", invalidToken)
	}
	why := d.distrust(r)
	if r.Header.Get(CallerHeader) == OfOthers {
		why = "a process that passes on requests of others may not use this API"
	}
	switch {
	case why == "":
		return Caller{Kind: Local}, nil
	case hasToken(r.Header) && d.IsOperator == nil && d.Peer != nil:
		return Caller{Kind: Bearer}, nil
	case !hasToken(r.Header) && d.isAnonymous():
		return Caller{Kind: Anonymous}, nil
	}
	return Caller{Kind: Unknown}, d.refuse(why)
}

// distrust returns the reason why the process behind a request is not trusted; "" if it is.
func (d *Door) distrust(r *http.Request) string {
	c, ok := r.Context().Value(connKey{}).(*conn)
	if !ok {
		return "the user of this connection cannot be identified"
	}
	c.identify.Do(func() {
		local, err1 := netip.ParseAddrPort(c.local.String())
		remote, err2 := netip.ParseAddrPort(c.remote.String())
		if err1 != nil || err2 != nil {
			c.err = fmt.Errorf("it is no connection of TCP")
			return
		}
		c.process, c.err = d.Identify(local, remote)
	})
	switch p := c.process; {
	case c.err != nil:
		return "the user of this connection cannot be identified: " + c.err.Error()
	case !slices.Contains(d.users, p.UID):
		return userName(p.UID) + " may not use this API"
	case p.Isolated:
		return "a process with a root directory of its own, such as an isolated task, may not use this API, not even as " + userName(p.UID)
	case p.Self:
		return "the agent does not pass on requests to its own API"
	}
	return ""
}

func (d *Door) refuse(why string) error {
	return api.Errorf(api.CodeForbidden, "%s without the agent's token: pass the content of %s as REEVE_TOKEN, NOMAD_TOKEN, or the header X-Nomad-Token, or name the file with -token-file", why, d.TokenFile)
}
