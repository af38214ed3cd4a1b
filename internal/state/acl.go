// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package state

import (
	"encoding/hex"
	"iter"

	"github.com/reeve-run/reeve/api"
)

// sinceACL is the level of policies, roles and tokens.
func sinceACL[T any](*T) (level int, does string) { return 3, controlsAccess }

var aclPolicies = declare(noun[api.ACLPolicy]{
	name: aclPoliciesName, singular: "policy", verb: "ACLPolicy", frame: 26,
	key:   func(p *api.ACLPolicy) string { return p.Name },
	stamp: func(p *api.ACLPolicy) (create, modify *uint64) { return &p.CreateIndex, &p.ModifyIndex },
	since: sinceACL[api.ACLPolicy],
	admit: admitACLPolicy,
})

var aclRoles = declare(noun[api.ACLRole]{
	name: "acl_roles", singular: "role", verb: "ACLRole", frame: 27,
	key:    func(r *api.ACLRole) string { return r.ID },
	stamp:  func(r *api.ACLRole) (create, modify *uint64) { return &r.CreateIndex, &r.ModifyIndex },
	groups: func(r *api.ACLRole) []string { return []string{r.Name} },
	since:  sinceACL[api.ACLRole],
	admit:  admitACLRole,
})

// An ACLToken is a token as servers store it: without its secret.
type ACLToken struct {
	api.ACLToken        // SecretID is empty
	Hash         []byte // SHA-256 of the secret
	// Further holds the SHA-256 of the secrets that exchanges of one-time tokens returned, oldest
	// first.
	Further [][]byte `json:",omitempty"`
	// Session reports whether the token is a session of the web UI. Its rights are those of its creator;
	// without one, it has those of its type.
	Session bool `json:",omitempty"`
}

// hashes returns what the token is found by: the hash of each of its secrets.
func (t *ACLToken) hashes() []string {
	all := []string{hex.EncodeToString(t.Hash)}
	for _, hash := range t.Further {
		all = append(all, hex.EncodeToString(hash))
	}
	return all
}

var aclTokens = declare(noun[ACLToken]{
	name: aclTokensName, singular: "token", verb: "ACLToken", frame: 28,
	key:    func(t *ACLToken) string { return t.AccessorID },
	stamp:  func(t *ACLToken) (create, modify *uint64) { return &t.CreateIndex, &t.ModifyIndex },
	groups: (*ACLToken).groups,
	since:  sinceACL[ACLToken],
	admit:  admitACLToken,
})

// Tables of access control: *api.ACLPolicy, *api.ACLRole and *ACLToken.
var (
	TableACLPolicies = aclPolicies.table
	TableACLRoles    = aclRoles.table
	TableACLTokens   = aclTokens.table
)

// ACLTables are the tables on which the rights of callers depend.
var ACLTables = []Table{TableACLPolicies, TableACLRoles, TableACLTokens}

// ACLPolicy returns the policy of that name; nil if it does not exist.
func (c *content) ACLPolicy(name string) *api.ACLPolicy { return aclPolicies.find(c, name) }

// ACLPolicies yields the policies whose name begins with prefix, ordered by name.
func (c *content) ACLPolicies(prefix string) iter.Seq[*api.ACLPolicy] {
	return aclPolicies.all(c, prefix)
}

// ACLRole returns the role of that id; nil if it does not exist.
func (c *content) ACLRole(id string) *api.ACLRole { return aclRoles.find(c, id) }

// ACLRoleNamed returns the role of that name; nil if it does not exist.
func (c *content) ACLRoleNamed(name string) *api.ACLRole {
	for r := range aclRoles.ofGroup(c, name) {
		return r
	}
	return nil
}

// ACLRoles yields the roles whose id begins with prefix, ordered by id.
func (c *content) ACLRoles(prefix string) iter.Seq[*api.ACLRole] { return aclRoles.all(c, prefix) }

// ACLToken returns the token of that accessor id; nil if it does not exist.
func (c *content) ACLToken(accessor string) *ACLToken { return aclTokens.find(c, accessor) }

// ACLTokens yields the tokens whose accessor id begins with prefix, ordered by it.
func (c *content) ACLTokens(prefix string) iter.Seq[*ACLToken] { return aclTokens.all(c, prefix) }

// ACLTokenOf returns the token whose secret has the hash; nil if it does not exist.
func (c *content) ACLTokenOf(hash [32]byte) *ACLToken {
	for t := range aclTokens.ofGroup(c, hex.EncodeToString(hash[:])) {
		return t
	}
	return nil
}

// PutACLPolicy returns the command that stores a policy.
func PutACLPolicy(p *api.ACLPolicy) Command { return &putObject[api.ACLPolicy]{aclPolicies, p, nil} }

// PutACLPolicyAt is PutACLPolicy for a policy that must have a modify index; 0: it must not exist.
func PutACLPolicyAt(p *api.ACLPolicy, enforce uint64) Command {
	return &putObject[api.ACLPolicy]{aclPolicies, p, &enforce}
}

// DeleteACLPolicy returns the command that deletes a policy. Tokens that name it lose its rights.
func DeleteACLPolicy(name string) Command {
	return &deleteObject[api.ACLPolicy]{aclPolicies, name, nil}
}

// PutACLRole returns the command that stores a role. enforce is as in PutNamespace.
func PutACLRole(r *api.ACLRole, enforce *uint64) Command {
	return &putObject[api.ACLRole]{aclRoles, r, enforce}
}

// DeleteACLRole returns the command that deletes a role. Tokens that name it lose its rights.
func DeleteACLRole(id string) Command { return &deleteObject[api.ACLRole]{aclRoles, id, nil} }

// PutACLToken returns the command that stores a token. enforce is as in PutNamespace.
func PutACLToken(t *ACLToken, enforce *uint64) Command {
	return &putObject[ACLToken]{aclTokens, t, enforce}
}

// DeleteACLToken returns the command that deletes a token.
func DeleteACLToken(accessor string) Command {
	return &deleteObject[ACLToken]{aclTokens, accessor, nil}
}

func admitACLRole(all *noun[api.ACLRole], c *content, _, new *api.ACLRole) error {
	if new == nil {
		return nil
	}
	for other := range all.ofGroup(c, new.Name) {
		if other.ID != new.ID {
			return api.Errorf(api.CodeConflict, "role %q exists already, with the id %s", new.Name, other.ID)
		}
	}
	for _, link := range new.Policies {
		if of := api.PolicyNamespace(link.Name); of != "" {
			return api.Errorf(api.CodeInvalid, "policy %q belongs to namespace %q, and only tokens of that namespace may have it", link.Name, of)
		}
		if c.ACLPolicy(link.Name) == nil {
			return missingPolicy(link.Name)
		}
	}
	return nil
}

// missingPolicy rejects the name of a policy that does not exist: it would grant nothing.
func missingPolicy(name string) error {
	return api.Errorf(api.CodeInvalid, "policy %q does not exist; create it with: reeve acl policy apply %s FILE", name, name)
}

func admitACLToken(all *noun[ACLToken], c *content, old, new *ACLToken) error {
	if new == nil {
		return nil
	}
	for _, hash := range new.hashes() {
		for other := range all.ofGroup(c, hash) {
			if other.AccessorID != new.AccessorID {
				return api.Errorf(api.CodeConflict, "the secret of the token is not unique; let the server choose it")
			}
		}
	}
	if err := admitOfNamespace(all, c, old, new); err != nil {
		return err
	}
	for _, name := range new.Policies {
		if c.ACLPolicy(name) == nil && !hadPolicy(old, name) {
			return missingPolicy(name)
		}
	}
	return nil
}

// hadPolicy reports whether a stored token names a policy, which may have been deleted since.
func hadPolicy(old *ACLToken, name string) bool {
	if old != nil {
		for _, had := range old.Policies {
			if had == name {
				return true
			}
		}
	}
	return false
}
