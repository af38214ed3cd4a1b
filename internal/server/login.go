// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package server

import (
	"context"
	"reflect"
	"slices"
	"sync"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/login"
	"github.com/reeve-run/reeve/internal/state"
)

// providers keeps the identity providers of auth methods, with their keys, as long as the method does not
// change.
type providers struct {
	mu    sync.Mutex
	known map[string]knownProvider // by method

	requests login.Requests // logins in a browser that began
}

type knownProvider struct {
	method *state.AuthMethod // a restored snapshot may have another one at the same modify index
	*login.Provider
}

// of returns the provider of a method.
func (p *providers) of(s *Server, v *state.Snapshot, m *state.AuthMethod) (*login.Provider, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	name := m.Method.Name
	if known, ok := p.known[name]; ok && reflect.DeepEqual(known.method, m) {
		return known.Provider, nil
	}
	secret, err := s.openSecret(v, m)
	if err != nil {
		return nil, err
	}
	provider, err := login.New(&m.Method, secret)
	if err != nil {
		return nil, err
	}
	if p.known == nil {
		p.known = map[string]knownProvider{}
	}
	for other := range p.known {
		if v.AuthMethod(other) == nil {
			delete(p.known, other)
		}
	}
	p.known[name] = knownProvider{m, provider}
	return provider, nil
}

// Login returns a token for the user that a token of an identity provider names. Only the result contains
// its secret.
func (s *Server) Login(ctx context.Context, r *api.ACLLoginRequest) (*api.ACLToken, uint64, error) {
	if !s.IsLeader() {
		return nil, 0, errNoLeader // it would ask the provider in vain
	}
	v := s.store.Snapshot()
	method, err := authMethodOf(v, r.AuthMethodName, api.ACLAuthMethodJWT)
	if err != nil {
		return nil, 0, err
	}
	if r.LoginToken == "" {
		return nil, 0, api.Errorf(api.CodeInvalid, "LoginToken: is missing; set it to a token of the identity provider")
	}
	provider, err := s.providers.of(s, v, method)
	if err != nil {
		return nil, 0, err
	}
	id, err := provider.Verify(ctx, r.LoginToken, time.Now())
	if err != nil {
		return nil, 0, err
	}
	return s.tokenFor(ctx, method, id)
}

// OIDCAuthURL begins a login in a browser, and returns the address at which the user logs in.
func (s *Server) OIDCAuthURL(ctx context.Context, r *api.OIDCAuthURLRequest) (string, error) {
	_, provider, err := s.browserLogin(r.AuthMethodName)
	if err != nil {
		return "", err
	}
	return provider.AuthURL(ctx, &s.providers.requests, r, time.Now())
}

// CompleteOIDC returns a token for the user who returns from the identity provider. Only the result contains
// its secret.
func (s *Server) CompleteOIDC(ctx context.Context, r *api.OIDCCompleteAuthRequest) (*api.ACLToken, uint64, error) {
	method, provider, err := s.browserLogin(r.AuthMethodName)
	if err != nil {
		return nil, 0, err
	}
	id, err := provider.Complete(ctx, &s.providers.requests, r, time.Now())
	if err != nil {
		return nil, 0, err
	}
	return s.tokenFor(ctx, method, id)
}

// browserLogin returns the method of a login in a browser. The leader alone knows the logins that began.
func (s *Server) browserLogin(name string) (*state.AuthMethod, *login.Provider, error) {
	if !s.IsLeader() {
		return nil, nil, errNoLeader
	}
	v := s.store.Snapshot()
	method, err := authMethodOf(v, name, api.ACLAuthMethodOIDC)
	if err != nil {
		return nil, nil, err
	}
	provider, err := s.providers.of(s, v, method)
	return method, provider, err
}

// authMethodOf returns the method of a login: the default one of the type if the login names none.
func authMethodOf(v *state.Snapshot, name, kind string) (*state.AuthMethod, error) {
	if name == "" {
		if m := v.DefaultAuthMethod(kind); m != nil {
			return m, nil
		}
		return nil, api.Errorf(api.CodeInvalid, "AuthMethodName: is missing, and no auth method is the default of the type %s; list methods with: reeve acl auth-method list", kind)
	}
	m := v.AuthMethod(name)
	switch {
	case m == nil:
		return nil, api.Errorf(api.CodeNotFound, "auth method %.128q not found; list methods with: reeve acl auth-method list", name)
	case m.Method.Type != kind:
		return nil, api.Errorf(api.CodeInvalid, "AuthMethodName: auth method %q has the type %s, not %s; log in with: reeve login -method %s", name, m.Method.Type, kind, name)
	}
	return m, nil
}

// tokenFor creates the token of a user with the rights of the binding rules.
func (s *Server) tokenFor(ctx context.Context, m *state.AuthMethod, id *login.Identity) (*api.ACLToken, uint64, error) {
	v := s.store.Snapshot()
	method := &m.Method
	bound := login.Bind(slices.Collect(v.BindingRulesOf(method.Name)), id)
	for _, why := range bound.Ignored {
		s.cfg.Logger.Warn("a binding rule was ignored in a login", "auth_method", method.Name, "reason", why)
	}
	if method.Config.VerboseLogging {
		s.cfg.Logger.Debug("a user logs in", "auth_method", method.Name, "value", id.Value, "list", id.List,
			"management", bound.Management, "roles", bound.Roles, "policies", bound.Policies)
	}
	name, err := login.TokenName(method, id)
	if err != nil {
		return nil, 0, err
	}
	token := &api.ACLToken{
		Name: name, Type: api.ACLTokenClient, ExpirationTTL: method.MaxTokenTTL, Global: method.TokenLocality == api.ACLTokenGlobal,
	}
	if bound.Management {
		token.Type = api.ACLTokenManagement
	} else {
		s.link(v, token, bound)
	}
	if token.Type == api.ACLTokenClient && len(token.Policies)+len(token.Roles) == 0 {
		return nil, 0, api.Errorf(api.CodeForbidden, "auth method %q knows you, but none of its binding rules gives you a role or a policy that exists: ask an administrator of the cluster to add one with: reeve acl binding-rule create -auth-method %s", method.Name, method.Name)
	}
	created, index, err := s.createToken(ctx, token, "")
	if err == nil {
		s.cfg.Logger.Info("a user logged in", "auth_method", method.Name, "token", created.Name, "accessor", created.AccessorID, "type", created.Type)
	}
	return created, index, err
}

// link gives a token the roles and policies of a binding that exist.
func (s *Server) link(v *state.Snapshot, token *api.ACLToken, bound *login.Binding) {
	for _, name := range bound.Policies {
		if of := api.PolicyNamespace(name); of != "" {
			s.cfg.Logger.Warn("a binding rule names a policy that belongs to a namespace", "policy", name, "namespace", of)
		} else if v.ACLPolicy(name) != nil {
			token.Policies = append(token.Policies, name)
		} else {
			s.cfg.Logger.Warn("a binding rule names a policy that does not exist", "policy", name)
		}
	}
	for _, name := range bound.Roles {
		role := v.ACLRoleNamed(name)
		if role == nil {
			role = v.ACLRole(name)
		}
		if role == nil {
			s.cfg.Logger.Warn("a binding rule names a role that does not exist", "role", name)
			continue
		}
		token.Roles = append(token.Roles, &api.ACLTokenRoleLink{ID: role.ID, Name: role.Name})
	}
}
