// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package state

import (
	"iter"

	"github.com/reeve-run/reeve/api"
)

// Bounds of what belongs to one namespace: the tokens that create it are not the operator's.
const (
	maxNamespacePolicies = 256
	maxNamespaceTokens   = 1024
	maxTokenGenerations  = 4 // tokens from one that an administrator of the cluster created
)

// Names of the nouns' tables.
const (
	aclPoliciesName = "acl_policies"
	aclTokensName   = "acl_tokens"
	namespacesName  = "namespaces"
)

const (
	groupOfNamespace = "namespace " // of tokens that belong to a namespace
	groupOfCreator   = "creator "   // of tokens that a token created
)

// groups returns what the token is found by: its hashes, its namespace and its creator.
func (t *ACLToken) groups() []string {
	all := t.hashes()
	if t.Namespace != "" {
		all = append(all, groupOfNamespace+t.Namespace)
	}
	if t.Creator != "" {
		all = append(all, groupOfCreator+t.Creator)
	}
	return all
}

// ACLTokensIn yields the tokens that belong to a namespace.
func (c *content) ACLTokensIn(namespace string) iter.Seq[*ACLToken] {
	return aclTokens.ofGroup(c, groupOfNamespace+namespace)
}

// ACLTokensBy yields the tokens that a token created.
func (c *content) ACLTokensBy(creator string) iter.Seq[*ACLToken] {
	return aclTokens.ofGroup(c, groupOfCreator+creator)
}

// ACLPoliciesIn yields the policies that belong to a namespace.
func (c *content) ACLPoliciesIn(namespace string) iter.Seq[*api.ACLPolicy] {
	return policiesIn(c.ACLPolicies(api.PolicyPrefix(namespace)), namespace)
}

func policiesIn(all iter.Seq[*api.ACLPolicy], namespace string) iter.Seq[*api.ACLPolicy] {
	return func(yield func(*api.ACLPolicy) bool) {
		for p := range all { // those of children have the same prefix
			if p.Namespace == namespace && !yield(p) {
				return
			}
		}
	}
}

func count[T any](all iter.Seq[T]) (n int) {
	for range all {
		n++
	}
	return n
}

func admitACLPolicy(all *noun[api.ACLPolicy], c *content, old, new *api.ACLPolicy) error {
	switch {
	case new == nil, new.Namespace == "", old != nil:
		return nil
	case !hasNamespace(c, new.Namespace):
		return unknownNamespace("policy", new.Namespace)
	case count(policiesIn(all.all(c, api.PolicyPrefix(new.Namespace)), new.Namespace)) >= maxNamespacePolicies:
		return api.Errorf(api.CodeConflict, "namespace %q has %d policies already, which is the maximum: delete one, or add the rules to one", new.Namespace, maxNamespacePolicies)
	}
	return nil
}

// hasNamespace reports whether a namespace exists. By the noun's variable, the admit functions would change
// the order in which the nouns are declared.
func hasNamespace(c *content, name string) bool {
	return nounNamed(namespacesName).(*noun[api.Namespace]).find(c, name) != nil
}

func unknownNamespace(what, name string) error {
	return api.Errorf(api.CodeInvalid, "the %s belongs to namespace %q, which does not exist; create it with: reeve namespace apply %s", what, name, name)
}

// admitOfNamespace rejects a token that belongs to a namespace without its creator, and policies of a
// namespace for other tokens. The creator is looked up here because it may have been deleted while another
// server checked the request.
func admitOfNamespace(all *noun[ACLToken], c *content, old, new *ACLToken) error {
	for _, name := range new.Policies {
		if of := api.PolicyNamespace(name); of != "" && (new.Namespace == "" || !api.IsBelow(of, new.Namespace)) {
			return api.Errorf(api.CodeInvalid, "policy %q belongs to namespace %q, and only tokens of that namespace may have it", name, of)
		}
	}
	switch {
	case new.Session || old != nil && old.Session:
		return admitSession(all, c, old, new)
	case (new.Namespace == "") != (new.Creator == ""), old != nil && (old.Namespace != new.Namespace || old.Creator != new.Creator):
		return api.Errorf(api.CodeInvalid, "a token keeps its namespace and its creator")
	case old != nil || new.Namespace == "":
		return nil
	case !hasNamespace(c, new.Namespace):
		return unknownNamespace("token", new.Namespace)
	}
	generation := 0
	for accessor := new.Creator; accessor != ""; generation++ {
		creator := all.find(c, accessor)
		switch {
		case creator == nil:
			return api.Errorf(api.CodeForbidden, "the token that creates this one was deleted: log in again")
		case generation == maxTokenGenerations:
			return api.Errorf(api.CodeInvalid, "the token would be %d tokens away from one that an administrator of the cluster created, and the maximum is %d: create it with an earlier token", generation+1, maxTokenGenerations)
		}
		accessor = creator.Creator
	}
	if count(all.ofGroup(c, groupOfNamespace+new.Namespace)) >= maxNamespaceTokens {
		return api.Errorf(api.CodeConflict, "namespace %q has %d tokens already, which is the maximum: delete those that are not used", new.Namespace, maxNamespaceTokens)
	}
	return nil
}

// admitWithoutAccess rejects the deletion of a namespace to which policies or tokens belong: they would
// belong to a later namespace of the same name.
func admitWithoutAccess(c *content, namespace string) error {
	var policies, tokens []string
	// By the nouns' variables, this would be an initialization cycle.
	ofPolicies, ofTokens := nounNamed(aclPoliciesName).(*noun[api.ACLPolicy]), nounNamed(aclTokensName).(*noun[ACLToken])
	for p := range policiesIn(ofPolicies.all(c, api.PolicyPrefix(namespace)), namespace) {
		policies = append(policies, p.Name)
	}
	for t := range ofTokens.ofGroup(c, groupOfNamespace+namespace) {
		tokens = append(tokens, t.AccessorID)
	}
	if len(tokens) > 0 {
		return api.Errorf(api.CodeConflict, "namespace %q has %s; delete its tokens first: reeve acl token delete -all-of %s", namespace, some(tokens, "token"), namespace)
	}
	if len(policies) > 0 {
		return api.Errorf(api.CodeConflict, "namespace %q has %s; delete its policies first: reeve acl policy delete %s", namespace, some(policies, "policy"), policies[0])
	}
	return nil
}
