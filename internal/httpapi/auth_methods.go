// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"iter"
	"slices"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/server"
	"github.com/reeve-run/reeve/internal/state"
)

var rulesInOrder = order[*api.ACLBindingRule]{key: func(r *api.ACLBindingRule) key { return key{id: r.ID} }, stored: true}

// listAuthMethods lists the auth methods for everyone, as users without a token choose one. It takes no
// filter, and does not block: strangers could keep a server busy with both.
func listAuthMethods(c *call, v *state.Snapshot) ([]*api.ACLAuthMethodStub, uint64, error) {
	list := []*api.ACLAuthMethodStub{}
	for m := range v.AuthMethods(c.prefix) {
		list = append(list, m.Method.Stub())
	}
	return list, v.TableIndex(state.TableAuthMethods), nil
}

func getAuthMethod(c *call, v *state.Snapshot) (*api.ACLAuthMethod, uint64, error) {
	m, err := orNotFound(v.AuthMethod(c.id()), "auth method %q not found", c.id())
	if err != nil {
		return nil, v.TableIndex(c.route.Tables...), err
	}
	return server.ShowAuthMethod(m), m.Method.ModifyIndex, nil
}

func createAuthMethod(c *call, m *api.ACLAuthMethod) (*api.ACLAuthMethod, uint64, error) {
	return c.Server.PutAuthMethod(c.r.Context(), m, true)
}

func updateAuthMethod(c *call, m *api.ACLAuthMethod) (*api.ACLAuthMethod, uint64, error) {
	switch {
	case m.Name == "":
		m.Name = c.id()
	case m.Name != c.id():
		return nil, 0, api.Errorf(api.CodeInvalid, "Name: the auth method in the body is %.128q, the one in the path %.128q", m.Name, c.id())
	}
	return c.Server.PutAuthMethod(c.r.Context(), m, false)
}

func deleteAuthMethod(c *call, _ *none) (*api.IndexResponse, uint64, error) {
	index, err := c.Server.DeleteAuthMethod(c.r.Context(), c.id())
	return &api.IndexResponse{Index: index}, index, err
}

func listBindingRules(c *call, v *state.Snapshot) iter.Seq[*api.ACLBindingRule] {
	return v.BindingRules(c.prefix)
}

func showBindingRule(_ *call, _ *state.Snapshot, r *api.ACLBindingRule) *api.ACLBindingRuleStub {
	return r.Stub()
}

func getBindingRule(c *call, v *state.Snapshot) (*api.ACLBindingRule, uint64, error) {
	r, err := orNotFound(v.BindingRule(c.id()), "binding rule %q not found", c.id())
	if err != nil {
		return nil, v.TableIndex(c.route.Tables...), err
	}
	return r, r.ModifyIndex, nil
}

func createBindingRule(c *call, r *api.ACLBindingRule) (*api.ACLBindingRule, uint64, error) {
	if r.ID != "" {
		return nil, 0, api.Errorf(api.CodeInvalid, "ID: the server chooses it; remove it, or change the rule at /v1/acl/binding-rule/%.64s", r.ID)
	}
	return c.Server.PutBindingRule(c.r.Context(), r)
}

func updateBindingRule(c *call, r *api.ACLBindingRule) (*api.ACLBindingRule, uint64, error) {
	if !slices.Contains([]string{"", c.id()}, r.ID) {
		return nil, 0, api.Errorf(api.CodeInvalid, "ID: the binding rule in the body is %.64q, the one in the path %.64q", r.ID, c.id())
	}
	r.ID = c.id()
	return c.Server.PutBindingRule(c.r.Context(), r)
}

func deleteBindingRule(c *call, _ *none) (*api.IndexResponse, uint64, error) {
	index, err := c.Server.DeleteBindingRule(c.r.Context(), c.id())
	return &api.IndexResponse{Index: index}, index, err
}

func loginWithToken(c *call, in *api.ACLLoginRequest) (*api.ACLToken, uint64, error) {
	return c.Server.Login(c.r.Context(), in)
}

func beginOIDC(c *call, in *api.OIDCAuthURLRequest) (*api.OIDCAuthURLResponse, uint64, error) {
	address, err := c.Server.OIDCAuthURL(c.r.Context(), in)
	return &api.OIDCAuthURLResponse{AuthURL: address}, 0, err
}

func completeOIDC(c *call, in *api.OIDCCompleteAuthRequest) (*api.ACLToken, uint64, error) {
	return c.Server.CompleteOIDC(c.r.Context(), in)
}
