// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"context"
	"net/http"
	"strconv"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/door"
	"github.com/reeve-run/reeve/internal/limit"
	"github.com/reeve-run/reeve/internal/state"
)

// callerKey is the context key of a request's caller.
type callerKey struct{}

// admit identifies the caller of a request, and returns the request with its caller. An
// error rejects the request. Unknown callers may use the open routes, and receive the same
// error for all others.
func (h *Handler) admit(r *http.Request) (*http.Request, error) {
	keepHeaders(r.Header)
	caller := door.Caller{Kind: door.Local}
	if h.Door != nil {
		if err := h.Door.CheckSite(r); err != nil {
			return nil, err
		}
		var err error
		caller, err = h.Door.Caller(r)
		open := err != nil && !door.IsTask(r) && (h.open[r.Method+" "+r.URL.Path] || h.isOpenDialect(r))
		if err != nil && !open {
			if flood := h.limitToken(r); flood != nil {
				h.Metrics.Limited(limit.Token)
				return nil, flood
			}
		}
		if err != nil && h.mayLackToken(r) && h.refresh(r.Context()) == nil {
			caller, err = h.Door.Caller(r)
		}
		if err != nil && !open {
			return nil, err
		}
	}
	r = r.WithContext(context.WithValue(r.Context(), callerKey{}, caller))
	r.Header.Del(door.CallerHeader) // it counts only here, and this agent may forward the request
	return r, nil
}

// mayLackToken reports whether the token of a request may be newer than the state of this server.
// Only for tokens with the form of a user's: a refresh asks the leader.
func (h *Handler) mayLackToken(r *http.Request) bool {
	return h.Server != nil && h.Leader != nil && !h.leads() && door.HasUserToken(r)
}

// isOpenDialect reports whether the dialect of a path accepts the request from everyone.
func (h *Handler) isOpenDialect(r *http.Request) bool {
	for _, d := range h.Dialects {
		if d.Claims(r.URL) {
			return d.isOpen(r)
		}
	}
	return false
}

func (d Dialect) isOpen(r *http.Request) bool { return d.Open != nil && d.Open(r) }

// callerOf returns the caller of an admitted request.
func callerOf(r *http.Request) door.Caller { return r.Context().Value(callerKey{}).(door.Caller) }

// A nodeAccess says which requests of nodes a route accepts.
type nodeAccess int

const (
	noNodes     nodeAccess = iota
	anyNode                // all
	ownNode                // requests of a node about itself
	successorOf            // requests of a node about an allocation that it runs or succeeds
)

// authorize returns an error unless the caller may use the route. Operators, local users and
// servers may use every route, nodes only marked ones.
func (c *call) authorize() error {
	switch who := callerOf(c.r); {
	case c.route.Open:
		return nil
	case c.route.ForServers && who.Kind != door.Server:
		return c.forbidden("only the servers of the cluster use it")
	case who.Kind == door.Operator, who.Kind == door.Local, who.Kind == door.Server:
		return nil
	case who.Kind == door.User, who.Kind == door.Anonymous:
		return c.authorizeRights()
	case who.Kind == door.Bearer && c.Server == nil && (!c.route.Local || c.route.OnNode):
		return nil // a server checks the token
	case who.Kind == door.Bearer:
		return c.forbidden("only a server can check its token: send the request to a server, or as a user that the agent trusts")
	case who.Kind != door.Node:
		return c.forbidden("it needs a token: log in with `reeve login`, or pass the token as REEVE_TOKEN")
	case who.Expired && !c.route.Renews:
		return c.forbidden("its node may only renew its certificate until it is renewed: check the agent's log for the reason of the delay")
	case c.route.Nodes == noNodes || c.Server == nil:
		return c.forbidden("nodes do not have it: use an operator's token, which `reeve login` stores and REEVE_TOKEN passes")
	case c.route.Nodes == ownNode && c.r.PathValue("id") != "" && c.r.PathValue("id") != who.ID:
		return c.forbidden("a node may speak only for itself, not for node %.64q", c.r.PathValue("id"))
	}
	return nil
}

// authorizeAllocation returns an error if a node asks for an allocation that does not concern
// it: a node fetches the data of the predecessors of its allocations, wherever they ran. It
// reads the state, so only a server that answers the request itself can call it.
func (c *call) authorizeAllocation() error {
	who := callerOf(c.r)
	if who.Kind != door.Node || c.route.Nodes != successorOf {
		return nil
	}
	id := c.r.PathValue("alloc") + c.r.PathValue("id")
	if !concerns(c.Server.Store().Snapshot(), who.ID, id) {
		return c.forbidden("a node may use it only for its own allocations and their predecessors, not for %.64q", id)
	}
	return nil
}

// concerns reports whether an allocation is on a node, or the predecessor of one that is.
func concerns(v *state.Snapshot, node, id string) bool {
	for a := range v.AllocationsByNode(node) {
		if a.ID == id || a.PreviousAllocation == id {
			return id != ""
		}
	}
	return false
}

// forbidden returns the rejection of a caller: who it is, what the route needs, and why or what
// to do.
func (c *call) forbidden(format string, args ...any) error {
	return c.forbiddenWithout(c.route.Capability, format, args...)
}

// forbiddenWithout is forbidden for a capability that only some requests of the route need.
func (c *call) forbiddenWithout(needed Capability, format string, args ...any) error {
	e := api.Errorf(api.CodeForbidden, format, args...)
	who := callerOf(c.r).String()
	if r := c.rights(); r != nil && r.Name != "" {
		who = "token " + strconv.Quote(r.Name)
	}
	e.Message = who + " may not use " + c.route.Method + " " + c.route.Pattern + ", which needs the capability " + string(needed) + ": " + e.Message
	return e
}
