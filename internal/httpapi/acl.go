// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"iter"
	"slices"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/acl"
	"github.com/reeve-run/reeve/internal/state"
)

var (
	policiesInOrder = order[*api.ACLPolicy]{key: func(p *api.ACLPolicy) key { return key{id: p.Name} }, stored: true}
	rolesInOrder    = order[*api.ACLRole]{key: func(r *api.ACLRole) key { return key{id: r.ID} }, stored: true}
	tokensInOrder   = order[*api.ACLTokenListStub]{key: func(t *api.ACLTokenListStub) key { return key{id: t.AccessorID} }, stored: true}
)

// listACLPolicies lists all policies for management, and for others their own, and those of namespaces in
// which they delegate.
func listACLPolicies(c *call, v *state.Snapshot) iter.Seq[*api.ACLPolicy] {
	own, all := c.ownPolicies()
	return where(v.ACLPolicies(c.prefix), func(p *api.ACLPolicy) bool { return all || slices.Contains(own, p.Name) || c.mayManage(p.Namespace) })
}

func showACLPolicy(_ *call, _ *state.Snapshot, p *api.ACLPolicy) *api.ACLPolicyListStub {
	return p.Stub()
}

func getACLPolicy(c *call, v *state.Snapshot) (*api.ACLPolicy, uint64, error) {
	if own, all := c.ownPolicies(); !all && !slices.Contains(own, c.id()) && !c.mayManage(api.PolicyNamespace(c.id())) {
		return nil, 0, c.forbidden("the token does not have the policy %.300q, and only management tokens see all policies", c.id())
	}
	p, err := orNotFound(v.ACLPolicy(c.id()), "policy %q not found", c.id())
	if err != nil {
		return nil, v.TableIndex(c.route.Tables...), err
	}
	return p, p.ModifyIndex, nil
}

// getOwnACLPolicies returns the policies of the caller's token.
func getOwnACLPolicies(c *call, v *state.Snapshot) ([]*api.ACLPolicy, uint64, error) {
	own, _ := c.ownPolicies()
	list := []*api.ACLPolicy{}
	for _, name := range own {
		if p := v.ACLPolicy(name); p != nil {
			list = append(list, p)
		}
	}
	return list, v.TableIndex(c.route.Tables...), nil
}

// ownPolicies returns the names of the caller's policies, and whether the caller may do everything.
func (c *call) ownPolicies() (names []string, all bool) {
	r := c.rights()
	if r == nil {
		return nil, true
	}
	return r.Policies, r.ACL.IsManagement()
}

func putACLPolicy(c *call, p *api.ACLPolicy) (*api.IndexResponse, uint64, error) {
	switch {
	case p.Name == "":
		p.Name = c.id()
	case p.Name != c.id():
		return nil, 0, api.Errorf(api.CodeInvalid, "Name: the policy in the body is %q, the one in the path %q", p.Name, c.id())
	}
	var index uint64
	var err error
	if author, limited := c.author(); limited {
		index, err = c.Server.PutDelegatedPolicy(c.r.Context(), author, p)
	} else {
		index, err = c.Server.PutACLPolicy(c.r.Context(), p)
	}
	return &api.IndexResponse{Index: index}, index, c.refusal(err)
}

func deleteACLPolicy(c *call, _ *none) (*api.IndexResponse, uint64, error) {
	var index uint64
	var err error
	if author, limited := c.author(); limited {
		index, err = c.Server.DeleteDelegatedPolicy(c.r.Context(), author, c.id())
	} else {
		index, err = c.Server.DeleteACLPolicy(c.r.Context(), c.id())
	}
	return &api.IndexResponse{Index: index}, index, c.refusal(err)
}

func listACLRoles(c *call, v *state.Snapshot) iter.Seq[*api.ACLRole] { return v.ACLRoles(c.prefix) }

func showACLRole(_ *call, _ *state.Snapshot, r *api.ACLRole) *api.ACLRole { return r }

func getACLRole(c *call, v *state.Snapshot) (*api.ACLRole, uint64, error) {
	return c.foundRole(v, v.ACLRole(c.id()))
}

func getNamedACLRole(c *call, v *state.Snapshot) (*api.ACLRole, uint64, error) {
	return c.foundRole(v, v.ACLRoleNamed(c.id()))
}

func (c *call) foundRole(v *state.Snapshot, found *api.ACLRole) (*api.ACLRole, uint64, error) {
	r, err := orNotFound(found, "role %q not found", c.id())
	if err != nil {
		return nil, v.TableIndex(c.route.Tables...), err
	}
	return r, r.ModifyIndex, nil
}

func createACLRole(c *call, r *api.ACLRole) (*api.ACLRole, uint64, error) {
	return c.Server.PutACLRole(c.r.Context(), r)
}

func updateACLRole(c *call, r *api.ACLRole) (*api.ACLRole, uint64, error) {
	switch {
	case r.ID == "":
		r.ID = c.id()
	case r.ID != c.id():
		return nil, 0, api.Errorf(api.CodeInvalid, "ID: the role in the body is %q, the one in the path %q", r.ID, c.id())
	}
	return c.Server.PutACLRole(c.r.Context(), r)
}

func deleteACLRole(c *call, _ *none) (*api.IndexResponse, uint64, error) {
	index, err := c.Server.DeleteACLRole(c.r.Context(), c.id())
	return &api.IndexResponse{Index: index}, index, err
}

// listACLTokens lists what the list shows of tokens: a filter must not compare their hashes.
func listACLTokens(c *call, v *state.Snapshot) iter.Seq[*api.ACLTokenListStub] {
	_, limited := c.author()
	return func(yield func(*api.ACLTokenListStub) bool) {
		for t := range v.ACLTokens(c.prefix) {
			if (!limited || c.mayManage(t.Namespace)) && !yield(t.Stub()) {
				return
			}
		}
	}
}

func showACLToken(_ *call, _ *state.Snapshot, t *api.ACLTokenListStub) *api.ACLTokenListStub {
	return t
}

func getACLToken(c *call, v *state.Snapshot) (*api.ACLToken, uint64, error) {
	found := v.ACLToken(c.id())
	if _, limited := c.author(); limited && (found == nil || !c.mayManage(found.Namespace)) {
		return nil, 0, c.forbidden("the token %.64q belongs to no namespace in which the caller has the capability", c.id())
	}
	t, err := orNotFound(found, "token %q not found", c.id())
	if err != nil {
		return nil, v.TableIndex(c.route.Tables...), err
	}
	return &t.ACLToken, t.ModifyIndex, nil
}

// getOwnACLToken returns the caller's token, without its secret.
func getOwnACLToken(c *call, v *state.Snapshot) (*api.ACLToken, uint64, error) {
	r := c.rights()
	if r == nil || r.Accessor == "" {
		return nil, v.TableIndex(c.route.Tables...), api.Errorf(api.CodeNotFound, "%s has no token: /v1/acl/tokens not found for it", callerOf(c.r))
	}
	if r.Workload != nil {
		return &api.ACLToken{AccessorID: r.Accessor, Name: r.Name, Type: api.ACLTokenClient, Policies: r.Policies}, v.TableIndex(c.route.Tables...), nil
	}
	t, err := orNotFound(v.ACLToken(r.Accessor), "token %q not found", r.Accessor)
	if err != nil {
		return nil, v.TableIndex(c.route.Tables...), err
	}
	return &t.ACLToken, t.ModifyIndex, nil
}

func createACLToken(c *call, t *api.ACLToken) (*api.ACLToken, uint64, error) {
	var created *api.ACLToken
	var index uint64
	var err error
	if author, limited := c.author(); limited {
		created, index, err = c.Server.CreateDelegatedToken(c.r.Context(), author, t)
	} else {
		created, index, err = c.Server.CreateACLToken(c.r.Context(), t)
	}
	if err == nil {
		c.nameObject("token", created.Namespace, created.AccessorID)
	}
	return created, index, c.refusal(err)
}

func updateACLToken(c *call, t *api.ACLToken) (*api.ACLToken, uint64, error) {
	switch {
	case t.AccessorID == "":
		t.AccessorID = c.id()
	case t.AccessorID != c.id():
		return nil, 0, api.Errorf(api.CodeInvalid, "AccessorID: the token in the body is %q, the one in the path %q", t.AccessorID, c.id())
	}
	return c.Server.UpdateACLToken(c.r.Context(), t)
}

func deleteACLToken(c *call, _ *none) (*api.IndexResponse, uint64, error) {
	var index uint64
	var err error
	if author, limited := c.author(); limited {
		index, err = c.Server.DeleteDelegatedToken(c.r.Context(), author, c.id())
	} else {
		index, err = c.Server.DeleteACLToken(c.r.Context(), c.id())
	}
	return &api.IndexResponse{Index: index}, index, c.refusal(err)
}

// explainACL answers whether a token may do something; without an accessor, the caller's. The
// object is that of the capability's scope: namespace, node pool or host volume.
func explainACL(c *call, v *state.Snapshot) (*api.ACLDecision, uint64, error) {
	name := c.query.Get("capability")
	capability, ok := acl.Named(name)
	if !ok {
		return nil, 0, api.Errorf(api.CodeInvalid, "capability: %.64q is no capability, such as submit-job, node:read or variables:read; see docs/access.md", name)
	}
	rights := c.rights()
	if accessor := c.query.Get("accessor"); accessor != "" && (rights == nil || accessor != rights.Accessor) {
		other := v.ACLToken(accessor)
		if _, all := c.ownPolicies(); !all && (other == nil || !c.mayManage(other.Namespace)) {
			return nil, 0, c.forbidden("only management tokens explain other tokens, and those with the capability delegate the tokens of their namespaces")
		}
		if rights = c.Server.RightsOfAccessor(accessor); rights == nil {
			return nil, 0, api.Errorf(api.CodeNotFound, "token %.64q not found, or expired", accessor)
		}
	}
	q := acl.Question{Capability: capability, Path: c.query.Get("path")}
	switch capability.Scope() {
	case acl.Namespace, acl.Variables:
		q.Name = c.namespace
	case acl.NodePool, acl.HostVolume:
		q.Name = c.query.Get("name")
	}
	d := acl.Decision{Allowed: true, Reason: callerOf(c.r).String() + " may do everything"}
	answer := &api.ACLDecision{Policies: []string{}}
	if rights != nil {
		d = rights.ACL.Explain(q)
		answer.Policies = append(answer.Policies, rights.Policies...)
	}
	answer.Allowed, answer.Reason, answer.Capability, answer.Object = d.Allowed, d.Reason, capability.String(), q.Object()
	return answer, v.TableIndex(state.ACLTables...), nil
}

// deleteOwnACLToken deletes the caller's token, so that a logout needs no administrator.
func deleteOwnACLToken(c *call, _ *none) (*api.IndexResponse, uint64, error) {
	r := c.rights()
	if r == nil || r.Accessor == "" || r.Workload != nil {
		return nil, 0, api.Errorf(api.CodeNotFound, "token not found: %s has none that can be deleted; send the request with a token of `reeve login` or `reeve acl token create`", callerOf(c.r))
	}
	c.nameObject("token", "", r.Accessor)
	index, err := c.Server.DeleteACLToken(c.r.Context(), r.Accessor)
	return &api.IndexResponse{Index: index}, index, err
}
