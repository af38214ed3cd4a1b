// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package client

import (
	"context"
	"net/http"
	"net/url"

	"github.com/reeve-run/reeve/api"
)

// ACL calls the routes of access control: policies, roles and tokens.
type ACL struct{ c *Client }

// ACL returns the calls for access control. The client's own namespace matters only to Explain.
func (c *Client) ACL() ACL { return ACL{c} }

// cluster returns the client for routes that belong to no namespace.
func (a ACL) cluster() *Client { return a.c.WithNamespace("") }

// Policies lists policies by name, without their rules. A caller without a management token sees its own.
func (a ACL) Policies(ctx context.Context, q *QueryOptions) ([]*api.ACLPolicyListStub, *QueryMeta, error) {
	return get[[]*api.ACLPolicyListStub](ctx, a.cluster(), "/v1/acl/policies", q)
}

// Policy returns a policy.
func (a ACL) Policy(ctx context.Context, name string, q *QueryOptions) (*api.ACLPolicy, *QueryMeta, error) {
	return get[*api.ACLPolicy](ctx, a.cluster(), pathf("/v1/acl/policy/%s", name), q)
}

// OwnPolicies returns the policies of the caller's token, also those of its roles.
func (a ACL) OwnPolicies(ctx context.Context, q *QueryOptions) ([]*api.ACLPolicy, *QueryMeta, error) {
	return get[[]*api.ACLPolicy](ctx, a.cluster(), "/v1/acl/policy/self", q)
}

// PutPolicy creates or changes a policy.
func (a ACL) PutPolicy(ctx context.Context, p *api.ACLPolicy) (*api.IndexResponse, error) {
	return send[*api.IndexResponse](ctx, a.cluster(), http.MethodPut, pathf("/v1/acl/policy/%s", p.Name), nil, p)
}

// DeletePolicy deletes a policy. Tokens and roles that name it lose its rights.
func (a ACL) DeletePolicy(ctx context.Context, name string) (*api.IndexResponse, error) {
	return send[*api.IndexResponse](ctx, a.cluster(), http.MethodDelete, pathf("/v1/acl/policy/%s", name), nil, nil)
}

// Roles lists roles by id.
func (a ACL) Roles(ctx context.Context, q *QueryOptions) ([]*api.ACLRole, *QueryMeta, error) {
	return get[[]*api.ACLRole](ctx, a.cluster(), "/v1/acl/roles", q)
}

// Role returns a role by its id.
func (a ACL) Role(ctx context.Context, id string, q *QueryOptions) (*api.ACLRole, *QueryMeta, error) {
	return get[*api.ACLRole](ctx, a.cluster(), pathf("/v1/acl/role/%s", id), q)
}

// RoleNamed returns a role by its name.
func (a ACL) RoleNamed(ctx context.Context, name string, q *QueryOptions) (*api.ACLRole, *QueryMeta, error) {
	return get[*api.ACLRole](ctx, a.cluster(), pathf("/v1/acl/role/name/%s", name), q)
}

// CreateRole creates a role. The server chooses its id.
func (a ACL) CreateRole(ctx context.Context, r *api.ACLRole) (*api.ACLRole, error) {
	return send[*api.ACLRole](ctx, a.cluster(), http.MethodPut, "/v1/acl/role", nil, r)
}

// UpdateRole replaces the name, description and policies of the role with an id.
func (a ACL) UpdateRole(ctx context.Context, r *api.ACLRole) (*api.ACLRole, error) {
	return send[*api.ACLRole](ctx, a.cluster(), http.MethodPut, pathf("/v1/acl/role/%s", r.ID), nil, r)
}

// DeleteRole deletes a role. Tokens that name it lose its rights.
func (a ACL) DeleteRole(ctx context.Context, id string) (*api.IndexResponse, error) {
	return send[*api.IndexResponse](ctx, a.cluster(), http.MethodDelete, pathf("/v1/acl/role/%s", id), nil, nil)
}

// Tokens lists tokens by accessor id.
func (a ACL) Tokens(ctx context.Context, q *QueryOptions) ([]*api.ACLTokenListStub, *QueryMeta, error) {
	return get[[]*api.ACLTokenListStub](ctx, a.cluster(), "/v1/acl/tokens", q)
}

// Token returns a token by its accessor id, without its secret.
func (a ACL) Token(ctx context.Context, accessor string, q *QueryOptions) (*api.ACLToken, *QueryMeta, error) {
	return get[*api.ACLToken](ctx, a.cluster(), pathf("/v1/acl/token/%s", accessor), q)
}

// OwnToken returns the token of the caller, without its secret.
func (a ACL) OwnToken(ctx context.Context, q *QueryOptions) (*api.ACLToken, *QueryMeta, error) {
	return get[*api.ACLToken](ctx, a.cluster(), "/v1/acl/token/self", q)
}

// CreateToken creates a token. Only this answer contains its secret.
func (a ACL) CreateToken(ctx context.Context, t *api.ACLToken) (*api.ACLToken, error) {
	return send[*api.ACLToken](ctx, a.cluster(), http.MethodPut, "/v1/acl/token", nil, t)
}

// UpdateToken replaces the name, policies and roles of the token with an accessor id.
func (a ACL) UpdateToken(ctx context.Context, t *api.ACLToken) (*api.ACLToken, error) {
	return send[*api.ACLToken](ctx, a.cluster(), http.MethodPut, pathf("/v1/acl/token/%s", t.AccessorID), nil, t)
}

// DeleteOwnToken deletes the caller's token, which is not valid afterwards.
func (a ACL) DeleteOwnToken(ctx context.Context) (*api.IndexResponse, error) {
	return send[*api.IndexResponse](ctx, a.cluster(), http.MethodDelete, "/v1/acl/token/self", nil, nil)
}

// DeleteToken deletes a token: its bearer loses all rights.
func (a ACL) DeleteToken(ctx context.Context, accessor string) (*api.IndexResponse, error) {
	return send[*api.IndexResponse](ctx, a.cluster(), http.MethodDelete, pathf("/v1/acl/token/%s", accessor), nil, nil)
}

// An ACLQuestion asks whether a token may do something.
type ACLQuestion struct {
	Capability string // such as "submit-job" or "node:read"
	Accessor   string // of the token; "": the caller's own
	Path       string // of a variable
	Name       string // of a node pool or a host volume
}

// Explain returns whether a token may do something, and the rule that decides. The namespace is that
// of the query, or else the client's.
func (a ACL) Explain(ctx context.Context, ask ACLQuestion, q *QueryOptions) (*api.ACLDecision, *QueryMeta, error) {
	var with QueryOptions
	if q != nil {
		with = *q
	}
	params := url.Values{"capability": {ask.Capability}}
	for key, values := range with.Params {
		params[key] = values
	}
	for key, value := range map[string]string{"accessor": ask.Accessor, "path": ask.Path, "name": ask.Name} {
		if value != "" {
			params.Set(key, value)
		}
	}
	with.Params = params
	return get[*api.ACLDecision](ctx, a.c, "/v1/acl/explain", &with)
}
