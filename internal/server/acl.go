// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package server

import (
	"context"
	"crypto/rand"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/acl"
	"github.com/reeve-run/reeve/internal/pki"
	"github.com/reeve-run/reeve/internal/state"
)

// PutACLPolicy stores a policy, new or changed. It takes effect on this server when the method
// returns, and on the others when they apply it.
func (s *Server) PutACLPolicy(ctx context.Context, p *api.ACLPolicy) (uint64, error) {
	if _, err := checkPolicy(p); err != nil {
		return 0, err
	}
	return s.propose(ctx, state.PutACLPolicy(p))
}

// checkPolicy returns the parsed policy. It sets the namespace to which the policy belongs by its name.
func checkPolicy(p *api.ACLPolicy) (*acl.Policy, error) {
	if p.Namespace == "" {
		p.Namespace = api.PolicyNamespace(p.Name)
	}
	if err := p.Validate(); err != nil {
		return nil, err
	}
	parsed, err := acl.Parse(p.Name, p.Rules)
	if err == nil && p.Namespace != "" {
		err = acl.CheckNamespaced(parsed, p.Namespace)
	}
	return parsed, err
}

// DeleteACLPolicy deletes a policy.
func (s *Server) DeleteACLPolicy(ctx context.Context, name string) (uint64, error) {
	return s.propose(ctx, state.DeleteACLPolicy(name))
}

// PutACLRole stores a role: a new one if it has no id.
func (s *Server) PutACLRole(ctx context.Context, r *api.ACLRole) (*api.ACLRole, uint64, error) {
	if err := r.Validate(); err != nil {
		return nil, 0, err
	}
	role := *r
	var enforce *uint64
	if role.ID == "" {
		role.ID, enforce = api.NewID(), new(uint64)
	} else if s.store.Snapshot().ACLRole(role.ID) == nil {
		return nil, 0, api.Errorf(api.CodeNotFound, "role %q not found: leave ID empty to create a role", role.ID)
	}
	index, err := s.propose(ctx, state.PutACLRole(&role, enforce))
	if err != nil {
		return nil, 0, err
	}
	return s.store.Snapshot().ACLRole(role.ID), index, nil
}

// DeleteACLRole deletes a role.
func (s *Server) DeleteACLRole(ctx context.Context, id string) (uint64, error) {
	return s.propose(ctx, state.DeleteACLRole(id))
}

// CreateACLToken creates a token. Only the result contains its secret.
func (s *Server) CreateACLToken(ctx context.Context, t *api.ACLToken) (*api.ACLToken, uint64, error) {
	if err := checkNewToken(t); err != nil {
		return nil, 0, err
	}
	if t.Namespace != "" {
		return nil, 0, api.Errorf(api.CodeInvalid, "Namespace: only a token with the capability delegate in namespace %q creates tokens that belong to it; remove it", t.Namespace)
	}
	return s.createToken(ctx, t, "")
}

// checkNewToken returns an error if the fields of a new token are invalid.
func checkNewToken(t *api.ACLToken) error {
	switch {
	case t.AccessorID != "":
		return api.Errorf(api.CodeInvalid, "AccessorID: the server chooses it; remove it, or change the token at /v1/acl/token/%.64s", t.AccessorID)
	case t.SecretID != "":
		return api.Errorf(api.CodeInvalid, "SecretID: the server chooses it; remove it")
	case t.ExpirationTime != nil:
		return api.Errorf(api.CodeInvalid, "ExpirationTime: set ExpirationTTL, such as \"1h\"")
	case t.Creator != "":
		return api.Errorf(api.CodeInvalid, "Creator: the server sets it; remove it")
	}
	return t.Validate()
}

// createToken stores a token whose fields are valid. An empty secret is chosen.
func (s *Server) createToken(ctx context.Context, t *api.ACLToken, secret string) (*api.ACLToken, uint64, error) {
	v := s.store.Snapshot()
	var err error
	if secret == "" {
		if secret, err = s.newSecret(v); err != nil {
			return nil, 0, err
		}
	}
	now := time.Now().UTC()
	stored := &state.ACLToken{ACLToken: *t}
	stored.AccessorID, stored.CreateTime = api.NewID(), now
	if t.ExpirationTTL > 0 {
		expires := now.Add(t.ExpirationTTL)
		stored.ExpirationTime, stored.ExpirationTTL = &expires, 0
	}
	if end := s.endOfCreator(v, t.Creator); end != nil && (stored.ExpirationTime == nil || end.Before(*stored.ExpirationTime)) {
		stored.ExpirationTime = end
	}
	if stored.Roles, err = linkRoles(v, t.Roles); err != nil {
		return nil, 0, err
	}
	hash := pki.HashToken(secret)
	stored.Hash = hash[:]
	index, err := s.propose(ctx, state.PutACLToken(stored, new(uint64)))
	if err != nil {
		return nil, 0, err
	}
	created := stored.ACLToken
	created.SecretID, created.CreateIndex, created.ModifyIndex = secret, index, index
	return &created, index, nil
}

// newSecret returns a secret that also proves the cluster to a client that logs in with it.
func (s *Server) newSecret(v *state.Snapshot) (string, error) {
	trust := v.Trust()
	switch {
	case trust == nil && s.cfg.Member == nil:
		return "reeve-user-" + rand.Text(), nil // a server alone has no cluster to prove
	case trust == nil:
		return "", s.noTrust()
	case trust.External && s.cfg.Member.External != nil:
		return pki.NewToken(pki.UserToken, s.cfg.Member.External.Digest).String(), nil
	}
	digest, err := pki.Digest([]byte(trust.Roots))
	if err != nil {
		return "", api.Errorf(api.CodeInternal, "read the roots of the cluster: %v", err)
	}
	return pki.NewToken(pki.UserToken, digest).String(), nil
}

// linkRoles completes the links of a token to its roles.
func linkRoles(v *state.Snapshot, links []*api.ACLTokenRoleLink) ([]*api.ACLTokenRoleLink, error) {
	var linked []*api.ACLTokenRoleLink
	for _, link := range links {
		var role *api.ACLRole
		if link.ID != "" {
			role = v.ACLRole(link.ID)
		} else {
			role = v.ACLRoleNamed(link.Name)
		}
		if role == nil || link.Name != "" && link.Name != role.Name {
			return nil, api.Errorf(api.CodeInvalid, "Roles: role %.128q does not exist; list roles with: reeve acl role list", orDefault(link.Name, link.ID))
		}
		linked = append(linked, &api.ACLTokenRoleLink{ID: role.ID, Name: role.Name})
	}
	return linked, nil
}

// UpdateACLToken changes the name, policies and roles of a token.
func (s *Server) UpdateACLToken(ctx context.Context, t *api.ACLToken) (*api.ACLToken, uint64, error) {
	v := s.store.Snapshot()
	old := v.ACLToken(t.AccessorID)
	if old == nil {
		return nil, 0, api.Errorf(api.CodeNotFound, "token %q not found", t.AccessorID)
	}
	if old.Session {
		return nil, 0, api.Errorf(api.CodeInvalid, "token %q is a session of the web UI, with the rights of the token that created it: change that one, or delete the session", t.AccessorID)
	}
	if t.Type != "" && t.Type != old.Type {
		return nil, 0, api.Errorf(api.CodeInvalid, "Type: a %s token stays one; create another token", old.Type)
	}
	changed := *old
	changed.Name, changed.Policies, changed.Roles = t.Name, t.Policies, t.Roles
	if err := changed.Validate(); err != nil {
		return nil, 0, err
	}
	var err error
	if changed.Roles, err = linkRoles(v, t.Roles); err != nil {
		return nil, 0, err
	}
	index, err := s.propose(ctx, state.PutACLToken(&changed, &old.ModifyIndex))
	if err != nil {
		return nil, 0, err
	}
	changed.ModifyIndex = index
	return &changed.ACLToken, index, nil
}

// DeleteACLToken deletes a token: its bearer has no rights from then on.
func (s *Server) DeleteACLToken(ctx context.Context, accessor string) (uint64, error) {
	return s.propose(ctx, state.DeleteACLToken(accessor))
}
