// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package state

import (
	"iter"

	"github.com/reeve-run/reeve/api"
)

// An AuthMethod is an auth method as servers store it: its OIDCClientSecret is empty.
type AuthMethod struct {
	Method api.ACLAuthMethod
	Secret []byte `json:",omitempty"` // encrypted with the cluster key; none: the method has no secret
}

var authMethods = declare(noun[AuthMethod]{
	name: "auth_methods", singular: "auth method", verb: "AuthMethod", frame: 30,
	key:   func(m *AuthMethod) string { return m.Method.Name },
	stamp: func(m *AuthMethod) (create, modify *uint64) { return &m.Method.CreateIndex, &m.Method.ModifyIndex },
	since: sinceACL[AuthMethod],
})

// init sets what the declaration cannot: methods and rules check each other.
func init() { authMethods.admit = admitAuthMethod }

var bindingRules = declare(noun[api.ACLBindingRule]{
	name: "binding_rules", singular: "binding rule", verb: "BindingRule", frame: 31,
	key:    func(r *api.ACLBindingRule) string { return r.ID },
	stamp:  func(r *api.ACLBindingRule) (create, modify *uint64) { return &r.CreateIndex, &r.ModifyIndex },
	groups: func(r *api.ACLBindingRule) []string { return []string{r.AuthMethod} },
	since:  sinceACL[api.ACLBindingRule],
	admit:  admitBindingRule,
})

// Tables of logins: *AuthMethod and *api.ACLBindingRule.
var (
	TableAuthMethods  = authMethods.table
	TableBindingRules = bindingRules.table
)

// AuthMethod returns the auth method of that name; nil if it does not exist.
func (c *content) AuthMethod(name string) *AuthMethod { return authMethods.find(c, name) }

// AuthMethods yields the auth methods whose name begins with prefix, ordered by name.
func (c *content) AuthMethods(prefix string) iter.Seq[*AuthMethod] { return authMethods.all(c, prefix) }

// DefaultAuthMethod returns the default auth method of a type; nil if none is.
func (c *content) DefaultAuthMethod(kind string) *AuthMethod {
	for m := range c.AuthMethods("") {
		if m.Method.Default && m.Method.Type == kind {
			return m
		}
	}
	return nil
}

// BindingRule returns the binding rule of that id; nil if it does not exist.
func (c *content) BindingRule(id string) *api.ACLBindingRule { return bindingRules.find(c, id) }

// BindingRules yields the binding rules whose id begins with prefix, ordered by id.
func (c *content) BindingRules(prefix string) iter.Seq[*api.ACLBindingRule] {
	return bindingRules.all(c, prefix)
}

// BindingRulesOf yields the binding rules of an auth method, ordered by id.
func (c *content) BindingRulesOf(method string) iter.Seq[*api.ACLBindingRule] {
	return bindingRules.ofGroup(c, method)
}

// PutAuthMethod returns the command that stores an auth method. enforce is as in PutNamespace.
func PutAuthMethod(m *AuthMethod, enforce *uint64) Command {
	return &putObject[AuthMethod]{authMethods, m, enforce}
}

// DeleteAuthMethod returns the command that deletes an auth method without binding rules.
func DeleteAuthMethod(name string) Command { return &deleteObject[AuthMethod]{authMethods, name, nil} }

// PutBindingRule returns the command that stores a binding rule. enforce is as in PutNamespace.
func PutBindingRule(r *api.ACLBindingRule, enforce *uint64) Command {
	return &putObject[api.ACLBindingRule]{bindingRules, r, enforce}
}

// DeleteBindingRule returns the command that deletes a binding rule.
func DeleteBindingRule(id string) Command {
	return &deleteObject[api.ACLBindingRule]{bindingRules, id, nil}
}

func admitAuthMethod(all *noun[AuthMethod], c *content, old, new *AuthMethod) error {
	if new == nil {
		for r := range c.BindingRulesOf(old.Method.Name) {
			return api.Errorf(api.CodeConflict, "auth method %q has binding rules, such as %s, which would apply again to another method of this name: delete them first with: reeve acl binding-rule delete", old.Method.Name, api.ShortID(r.ID))
		}
		return nil
	}
	if old != nil && old.Method.Type != new.Method.Type {
		return api.Errorf(api.CodeInvalid, "Type: auth method %q has the type %s and keeps it; create another method", old.Method.Name, old.Method.Type)
	}
	for other := range all.all(c, "") {
		if new.Method.Default && other.Method.Default && other.Method.Type == new.Method.Type && other.Method.Name != new.Method.Name {
			return api.Errorf(api.CodeConflict, "Default: auth method %q is the default of the type %s already: change it first", other.Method.Name, other.Method.Type)
		}
	}
	return nil
}

func admitBindingRule(_ *noun[api.ACLBindingRule], c *content, _, new *api.ACLBindingRule) error {
	if new != nil && c.AuthMethod(new.AuthMethod) == nil {
		return api.Errorf(api.CodeInvalid, "AuthMethod: auth method %q does not exist; list methods with: reeve acl auth-method list", new.AuthMethod)
	}
	return nil
}
