// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package server

import (
	"context"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/login"
	"github.com/reeve-run/reeve/internal/pki"
	"github.com/reeve-run/reeve/internal/state"
)

// purposeClientSecret begins the purpose of an encrypted client secret; the name of its method ends it. It
// is part of the format of the state.
const purposeClientSecret = "client secret of auth method "

// PutAuthMethod stores an auth method: a new one if create is set, and otherwise a changed one.
func (s *Server) PutAuthMethod(ctx context.Context, m *api.ACLAuthMethod, create bool) (*api.ACLAuthMethod, uint64, error) {
	if err := m.Validate(); err != nil {
		return nil, 0, err
	}
	v := s.store.Snapshot()
	old := v.AuthMethod(m.Name)
	switch {
	case create && old != nil:
		return nil, 0, api.Errorf(api.CodeConflict, "auth method %q exists already: change it with: reeve acl auth-method update %s", m.Name, m.Name)
	case !create && old == nil:
		return nil, 0, api.Errorf(api.CodeNotFound, "auth method %q not found: create it with: reeve acl auth-method create", m.Name)
	}
	now, config := time.Now().UTC(), *m.Config
	changed := &state.AuthMethod{Method: *m}
	changed.Method.Config, changed.Method.CreateTime, changed.Method.ModifyTime = &config, now, now
	enforce := uint64(0)
	if old != nil {
		changed.Method.CreateTime, enforce = old.Method.CreateTime, old.Method.ModifyIndex
	}
	var err error
	if changed.Secret, err = s.sealSecret(v, m, old); err != nil {
		return nil, 0, err
	}
	config.OIDCClientSecret = ""
	if _, err := login.New(&changed.Method, ""); err != nil {
		return nil, 0, err
	}
	index, err := s.propose(ctx, state.PutAuthMethod(changed, &enforce))
	if err != nil {
		return nil, 0, err
	}
	if stored := s.store.Snapshot().AuthMethod(m.Name); stored != nil {
		return ShowAuthMethod(stored), index, nil
	}
	return ShowAuthMethod(changed), index, nil
}

// ShowAuthMethod returns a stored method as answers contain it.
func ShowAuthMethod(m *state.AuthMethod) *api.ACLAuthMethod {
	shown := m.Method.Show()
	if len(m.Secret) > 0 {
		shown.Config.OIDCClientSecret = api.Redacted
	}
	return shown
}

// sealSecret encrypts the client secret of a method for the state. The redacted secret keeps the stored one,
// unless the provider becomes another: the new one must not receive the secret of the old one.
func (s *Server) sealSecret(v *state.Snapshot, m *api.ACLAuthMethod, old *state.AuthMethod) ([]byte, error) {
	secret := m.Config.OIDCClientSecret
	switch {
	case secret == "":
		return nil, nil
	case secret == api.Redacted && (old == nil || len(old.Secret) == 0):
		return nil, api.Errorf(api.CodeInvalid, "OIDCClientSecret: %q stands for a stored secret, and there is no stored one; set the secret", api.Redacted)
	case secret == api.Redacted && (old.Method.Config.OIDCDiscoveryURL != m.Config.OIDCDiscoveryURL || old.Method.Config.OIDCClientID != m.Config.OIDCClientID):
		return nil, api.Errorf(api.CodeInvalid, "OIDCClientSecret: set it again, because OIDCDiscoveryURL or OIDCClientID changes")
	case secret == api.Redacted:
		return old.Secret, nil
	}
	_, clusterKey, err := s.keys(v)
	switch {
	case api.CodeOf(err) == api.CodeInvalid:
		return nil, api.Errorf(api.CodeInvalid, "OIDCClientSecret: this cluster has no key to encrypt it with, because it has no certificate authority of its own; register a public client with the identity provider, and leave the secret empty")
	case err != nil:
		return nil, err
	}
	return pki.Encrypt(clusterKey, []byte(secret), purposeClientSecret+m.Name), nil
}

// openSecret decrypts the client secret of a method; "": it has none.
func (s *Server) openSecret(v *state.Snapshot, m *state.AuthMethod) (string, error) {
	if len(m.Secret) == 0 {
		return "", nil
	}
	_, clusterKey, err := s.keys(v)
	if err != nil {
		return "", err
	}
	secret, err := pki.Decrypt(clusterKey, m.Secret, purposeClientSecret+m.Method.Name)
	if err != nil {
		return "", api.Errorf(api.CodeInvalid, "the client secret of auth method %q cannot be decrypted: it was restored from another cluster; an administrator sets it again with: reeve acl auth-method update", m.Method.Name)
	}
	return string(secret), nil
}

// DeleteAuthMethod deletes an auth method. Tokens of its users stay valid until they expire.
func (s *Server) DeleteAuthMethod(ctx context.Context, name string) (uint64, error) {
	return s.propose(ctx, state.DeleteAuthMethod(name))
}

// PutBindingRule stores a binding rule: a new one if it has no id.
func (s *Server) PutBindingRule(ctx context.Context, r *api.ACLBindingRule) (*api.ACLBindingRule, uint64, error) {
	v := s.store.Snapshot()
	rule, enforce := *r, uint64(0)
	now := time.Now().UTC()
	rule.CreateTime, rule.ModifyTime = now, now
	if rule.ID == "" {
		rule.ID = api.NewID()
	} else {
		old := v.BindingRule(rule.ID)
		if old == nil {
			return nil, 0, api.Errorf(api.CodeNotFound, "binding rule %.64q not found: leave ID empty to create a rule", rule.ID)
		}
		if rule.AuthMethod == "" {
			rule.AuthMethod = old.AuthMethod
		}
		rule.CreateTime, enforce = old.CreateTime, old.ModifyIndex
	}
	if err := rule.Validate(); err != nil {
		return nil, 0, err
	}
	if method := v.AuthMethod(rule.AuthMethod); method != nil {
		if err := login.CheckRule(&method.Method, &rule); err != nil {
			return nil, 0, err
		}
	}
	index, err := s.propose(ctx, state.PutBindingRule(&rule, &enforce))
	if err != nil {
		return nil, 0, err
	}
	if stored := s.store.Snapshot().BindingRule(rule.ID); stored != nil {
		rule = *stored
	}
	return &rule, index, nil
}

// DeleteBindingRule deletes a binding rule. Tokens keep the rights that it gave until they expire.
func (s *Server) DeleteBindingRule(ctx context.Context, id string) (uint64, error) {
	return s.propose(ctx, state.DeleteBindingRule(id))
}
