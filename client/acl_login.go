// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package client

import (
	"context"
	"net/http"

	"github.com/reeve-run/reeve/api"
)

// Bootstrap returns another management token, if the reset file on the leader permits it. The server
// chooses an empty secret.
func (a ACL) Bootstrap(ctx context.Context, secret string) (*api.ACLToken, error) {
	return send[*api.ACLToken](ctx, a.cluster(), http.MethodPut, "/v1/acl/bootstrap", nil, &api.ACLBootstrapRequest{BootstrapSecret: secret})
}

// CreateOneTimeToken creates a one-time token, which stands for the caller's token.
func (a ACL) CreateOneTimeToken(ctx context.Context) (*api.OneTimeToken, error) {
	answer, err := send[*api.OneTimeTokenResponse](ctx, a.cluster(), http.MethodPut, "/v1/acl/token/onetime", nil, nil)
	if err != nil {
		return nil, err
	}
	return answer.OneTimeToken, nil
}

// ExchangeOneTimeToken returns the token for which a one-time token stands, with a new secret. The
// caller needs no token of its own.
func (a ACL) ExchangeOneTimeToken(ctx context.Context, secret string) (*api.ACLToken, error) {
	answer, err := send[*api.OneTimeTokenExchanged](ctx, a.cluster(), http.MethodPut, "/v1/acl/token/onetime/exchange", nil, &api.OneTimeTokenExchange{OneTimeSecretID: secret})
	if err != nil {
		return nil, err
	}
	return answer.Token, nil
}

// AuthMethods lists auth methods by name. The caller needs no token.
func (a ACL) AuthMethods(ctx context.Context, q *QueryOptions) ([]*api.ACLAuthMethodStub, *QueryMeta, error) {
	return get[[]*api.ACLAuthMethodStub](ctx, a.cluster(), "/v1/acl/auth-methods", q)
}

// AuthMethod returns an auth method, without its secret.
func (a ACL) AuthMethod(ctx context.Context, name string, q *QueryOptions) (*api.ACLAuthMethod, *QueryMeta, error) {
	return get[*api.ACLAuthMethod](ctx, a.cluster(), pathf("/v1/acl/auth-method/%s", name), q)
}

// CreateAuthMethod creates an auth method.
func (a ACL) CreateAuthMethod(ctx context.Context, m *api.ACLAuthMethod) (*api.ACLAuthMethod, error) {
	return send[*api.ACLAuthMethod](ctx, a.cluster(), http.MethodPut, "/v1/acl/auth-method", nil, m)
}

// UpdateAuthMethod replaces an auth method. api.Redacted keeps its secret.
func (a ACL) UpdateAuthMethod(ctx context.Context, m *api.ACLAuthMethod) (*api.ACLAuthMethod, error) {
	return send[*api.ACLAuthMethod](ctx, a.cluster(), http.MethodPut, pathf("/v1/acl/auth-method/%s", m.Name), nil, m)
}

// DeleteAuthMethod deletes an auth method without binding rules.
func (a ACL) DeleteAuthMethod(ctx context.Context, name string) (*api.IndexResponse, error) {
	return send[*api.IndexResponse](ctx, a.cluster(), http.MethodDelete, pathf("/v1/acl/auth-method/%s", name), nil, nil)
}

// BindingRules lists binding rules by id.
func (a ACL) BindingRules(ctx context.Context, q *QueryOptions) ([]*api.ACLBindingRuleStub, *QueryMeta, error) {
	return get[[]*api.ACLBindingRuleStub](ctx, a.cluster(), "/v1/acl/binding-rules", q)
}

// BindingRule returns a binding rule.
func (a ACL) BindingRule(ctx context.Context, id string, q *QueryOptions) (*api.ACLBindingRule, *QueryMeta, error) {
	return get[*api.ACLBindingRule](ctx, a.cluster(), pathf("/v1/acl/binding-rule/%s", id), q)
}

// CreateBindingRule creates a binding rule. The server chooses its id.
func (a ACL) CreateBindingRule(ctx context.Context, r *api.ACLBindingRule) (*api.ACLBindingRule, error) {
	return send[*api.ACLBindingRule](ctx, a.cluster(), http.MethodPut, "/v1/acl/binding-rule", nil, r)
}

// UpdateBindingRule replaces the binding rule with an id.
func (a ACL) UpdateBindingRule(ctx context.Context, r *api.ACLBindingRule) (*api.ACLBindingRule, error) {
	return send[*api.ACLBindingRule](ctx, a.cluster(), http.MethodPut, pathf("/v1/acl/binding-rule/%s", r.ID), nil, r)
}

// DeleteBindingRule deletes a binding rule.
func (a ACL) DeleteBindingRule(ctx context.Context, id string) (*api.IndexResponse, error) {
	return send[*api.IndexResponse](ctx, a.cluster(), http.MethodDelete, pathf("/v1/acl/binding-rule/%s", id), nil, nil)
}

// Login returns a token for the user that a token of an identity provider names. The caller needs no
// token of its own.
func (a ACL) Login(ctx context.Context, r *api.ACLLoginRequest) (*api.ACLToken, error) {
	return send[*api.ACLToken](ctx, a.cluster(), http.MethodPut, "/v1/acl/login", nil, r)
}

// OIDCAuthURL begins a login in a browser, and returns the address at which the user logs in.
func (a ACL) OIDCAuthURL(ctx context.Context, r *api.OIDCAuthURLRequest) (string, error) {
	answer, err := send[*api.OIDCAuthURLResponse](ctx, a.cluster(), http.MethodPut, "/v1/acl/oidc/auth-url", nil, r)
	if err != nil {
		return "", err
	}
	return answer.AuthURL, nil
}

// CompleteOIDC completes a login in a browser with what the identity provider sent to the redirect address.
func (a ACL) CompleteOIDC(ctx context.Context, r *api.OIDCCompleteAuthRequest) (*api.ACLToken, error) {
	return send[*api.ACLToken](ctx, a.cluster(), http.MethodPut, "/v1/acl/oidc/complete-auth", nil, r)
}
