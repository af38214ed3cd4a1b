// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package door

import (
	"net/http"
	"strings"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/pki"
)

// A Kind is a kind of callers.
type Kind string

// Kinds of callers.
const (
	Unknown  Kind = "unknown"
	Operator Kind = "operator" // presented an operator's token
	Local    Kind = "local"    // a trusted user of this machine, or presented the agent's token
	Server   Kind = "server"   // a server of the cluster
	Node     Kind = "node"     // a node of the cluster
	Bearer   Kind = "bearer"   // presented a token that only a server can check
	User     Kind = "user"     // presented a token whose policies decide

	// Anonymous callers presented no token, and a policy grants something to them.
	Anonymous Kind = "anonymous"
)

// A Caller is the sender of a request.
type Caller struct {
	Kind    Kind
	ID      string // of a server or a node; accessor id of a user's token, or of a task's identity
	Expired bool   // reports whether the certificate of a server or a node has expired
}

// String names the caller in a message.
func (c Caller) String() string {
	switch c.Kind {
	case Operator:
		return "an operator"
	case Local:
		return "a user of the agent's machine"
	case Server, Node:
		name := string(c.Kind) + " " + c.ID
		if c.Expired {
			name += ", whose certificate has expired,"
		}
		return name
	case User:
		if strings.Contains(c.ID, ":") { // no accessor id of a user's token does
			return "a task by its identity"
		}
		return "the user with token " + api.ShortID(c.ID)
	case Anonymous:
		return "a caller without a token"
	case Bearer:
		return "the bearer of a token that this agent cannot check"
	}
	return "an unknown caller"
}

// CallerHeader tells the leader who sent a request that another server forwards. That counts only if a server
// sends it. From a node, it says that the request is not the node's own, and must have a token.
const CallerHeader = "X-Reeve-Caller"

// OfOthers is the value of CallerHeader by which a process says that its requests are those of others. It gets
// no rights of its own: such a request needs a token.
const OfOthers = string(Unknown)

// expiredMark follows a caller with an expired certificate in CallerHeader.
const expiredMark = "; expired"

// Header returns the caller as the value of CallerHeader.
func (c Caller) Header() string {
	text := string(c.Kind)
	if c.ID != "" {
		text += "/" + c.ID
	}
	if c.Expired {
		text += expiredMark
	}
	return text
}

// parseCaller parses the value of CallerHeader.
func parseCaller(text string) (Caller, bool) {
	text, expired := strings.CutSuffix(text, expiredMark)
	kind, id, _ := strings.Cut(text, "/")
	c := Caller{Kind: Kind(kind), ID: id, Expired: expired}
	switch c.Kind {
	case Operator, Local, Anonymous:
		return c, id == "" && !expired
	case User:
		return c, id != "" && !expired
	case Server, Node:
		return c, id != ""
	}
	return Caller{}, false
}

// Caller returns the sender of a request. For an unknown one, the error contains the reason and
// the next step.
func (d *Door) Caller(r *http.Request) (Caller, error) {
	r = d.withCookie(r)
	if r.TLS == nil {
		return d.localCaller(r)
	}
	if d.Peer != nil && len(r.TLS.PeerCertificates) > 0 {
		if member, ok := d.Peer(*r.TLS); ok {
			return d.member(r, member)
		}
	}
	return d.bearer(r, "this request has no token")
}

const invalidToken = "the token of this request is not valid, or has expired: log in with `reeve login`, or correct REEVE_TOKEN, NOMAD_TOKEN, or the header X-Nomad-Token"

// member returns the caller behind a member's connection.
func (d *Door) member(r *http.Request, m pki.Identity) (Caller, error) {
	if d.isRemoved(m.ID) {
		return removed(string(m.Role), m.ID)
	}
	switch m.Role {
	case pki.RoleServer:
		return d.forServer(r, m)
	case pki.RoleNode:
		node := Caller{Kind: Node, ID: m.ID, Expired: m.Expired}
		switch forOther := len(r.Header.Values(CallerHeader)) > 0; {
		case forOther && m.Expired:
			return reject("%s forwards no requests", node)
		case forOther:
			return d.bearer(r, "this request has no token")
		case !hasToken(r.Header) || m.Expired:
			return node, nil
		}
		return d.bearer(r, "")
	}
	return reject("the certificate of %s has the unknown role %q", m.ID, m.Role)
}

// forServer returns the caller for whom a server forwards a request, or the server.
func (d *Door) forServer(r *http.Request, m pki.Identity) (Caller, error) {
	values := r.Header.Values(CallerHeader)
	if len(values) == 0 {
		return Caller{Kind: Server, ID: m.ID, Expired: m.Expired}, nil
	}
	c, ok := parseCaller(values[0])
	if !ok || len(values) > 1 {
		return reject("server %s forwarded the request of a caller that this agent does not know: %.100q", m.ID, values)
	}
	if c.ID != "" && d.isRemoved(c.ID) {
		return removed(string(c.Kind), c.ID)
	}
	return c, nil
}

// bearer returns the caller with a token, over TLS.
func (d *Door) bearer(r *http.Request, without string) (Caller, error) {
	switch {
	case d.hasAgentToken(r.Header):
		return Caller{Kind: Local}, nil
	case !hasToken(r.Header) && d.isAnonymous():
		return Caller{Kind: Anonymous}, nil
	case !hasToken(r.Header):
		return reject("%s: log in with `reeve login`, or pass a token as REEVE_TOKEN, NOMAD_TOKEN, or the header X-Nomad-Token", without)
	case d.IsOperator == nil:
		return Caller{Kind: Bearer}, nil
	case d.hasOperatorToken(r.Header):
		return Caller{Kind: Operator}, nil
	}
	if id := d.user(r.Header); id != "" {
		return Caller{Kind: User, ID: id}, nil
	}
	return reject("%s", invalidToken)
}

func (d *Door) isRemoved(id string) bool { return d.Removed != nil && d.Removed(id) }

// removed returns the rejection of a member that was removed.
func removed(role, id string) (Caller, error) {
	return reject("%s %s was removed from the cluster: stop its agent, empty its data directory, and join again with a new token", role, id)
}

// reject returns an unknown caller, with the reason.
func reject(format string, args ...any) (Caller, error) {
	return Caller{Kind: Unknown}, api.Errorf(api.CodeForbidden, format, args...)
}
