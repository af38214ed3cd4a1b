// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/acl"
	"github.com/reeve-run/reeve/internal/door"
	"github.com/reeve-run/reeve/internal/limit"
	"github.com/reeve-run/reeve/internal/state"
)

// uiRoutes are the routes of which only the web UI and `reeve ui` make use.
func uiRoutes() []route {
	return []route{
		plain("/v1/ui/config", Anonymous, "Returns what the web UI needs before a login: whether this caller needs a token, and how to get one.", getUIConfig).open().anyServer().limited(limit.Login),
		read("/v1/ui/rights", OwnToken, "Returns the capabilities of the caller in each namespace, and of the cluster.", getUIRights).blocking(state.ACLTables...),
		write(put, "/v1/ui/code", OwnToken, "Creates a session of the web UI with the rights of the caller's token, and a code that is traded for it once, within a minute. Only this response contains the code.", createUICode),
		write(put, "/v1/ui/session", Anonymous, "Trades a code for its session, and returns the token of the session. The code in the body permits it, once.", tradeUICode).strict().upTo(loginBodyLimit).open().limited(limit.Login),
		write(put, "/v1/ui/session/renew", OwnToken, "Extends the caller's session of the web UI to 8 hours from now, and to 24 hours from its code at most.", renewUISession),
	}
}

// getUIConfig answers everyone. It says no more of the cluster than a login needs.
func getUIConfig(c *call) (*api.UIConfig, error) {
	who := callerOf(c.r)
	config := &api.UIConfig{
		ACL: who.Kind != door.Local, Region: c.Region, Agent: c.Name, Version: c.Version, ReadOnly: c.UIReadOnly,
		AuthMethods: []*api.ACLAuthMethodStub{},
	}
	switch who.Kind {
	case door.Local, door.Operator, door.User, door.Anonymous:
		config.Admitted = true
	}
	for m := range c.Server.Store().Snapshot().AuthMethods("") {
		config.AuthMethods = append(config.AuthMethods, m.Method.Stub())
	}
	return config, nil
}

// getUIRights answers for all namespaces at once, so that a page knows which of its verbs to disable.
func getUIRights(c *call, v *state.Snapshot) (*api.UIRights, uint64, error) {
	answer := &api.UIRights{Cluster: []string{}, Namespaces: map[string][]string{}}
	index := v.TableIndex(state.ACLTables...)
	rights := c.rights()
	if rights == nil || rights.ACL.IsManagement() {
		answer.Management = true
		return answer, index, nil
	}
	for capability := range acl.Capabilities() {
		switch capability.Scope() {
		case acl.Namespace, acl.Variables:
			continue
		case acl.NodePool, acl.HostVolume:
			if !rights.ACL.AllowsAnywhere(capability) {
				continue
			}
		default:
			if !rights.ACL.Allows(acl.Question{Capability: capability}) {
				continue
			}
		}
		answer.Cluster = append(answer.Cluster, capability.String())
	}
	for n := range v.NamespacesPrefix("") {
		if has := rightsInNamespace(rights.ACL, n.Name); len(has) > 0 {
			answer.Namespaces[n.Name] = has
		}
	}
	return answer, index, nil
}

// rightsInNamespace returns the names of the capabilities in a namespace.
func rightsInNamespace(a *acl.ACL, namespace string) (has []string) {
	for capability := range acl.Capabilities() {
		switch {
		case capability.Scope() == acl.Namespace && a.Allows(acl.Question{Capability: capability, Name: namespace}),
			capability.Scope() == acl.Variables && a.AllowsAny(namespace) && a.AllowsAnywhere(capability):
			has = append(has, capability.String())
		}
	}
	return has
}

// createUICode creates a session for the caller, who has a token or is trusted without one.
func createUICode(c *call, _ *none) (*api.UICode, uint64, error) {
	accessor := ""
	switch r, who := c.rights(), callerOf(c.r); {
	case who.Kind == door.Operator, who.Kind == door.Local:
	case r == nil, r.Accessor == "", r.Workload != nil:
		return nil, 0, api.Errorf(api.CodeInvalid, "%s has no token of which a session could have the rights: log in with `reeve login`, or pass a token as REEVE_TOKEN", who)
	default:
		accessor = r.Accessor
	}
	return c.Server.CreateUICode(c.r.Context(), accessor)
}

func tradeUICode(c *call, in *api.UISessionRequest) (*api.UISession, uint64, error) {
	return c.Server.TradeUICode(c.r.Context(), in.Code)
}

// renewUISession renews the session that sent the request.
func renewUISession(c *call, _ *none) (*api.UISession, uint64, error) {
	r := c.rights()
	if r == nil || r.Accessor == "" || r.Workload != nil {
		return nil, 0, api.Errorf(api.CodeInvalid, "%s has no session of the web UI: create one with `reeve ui`", callerOf(c.r))
	}
	return c.Server.RenewUISession(c.r.Context(), r.Accessor)
}
