// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package server

import (
	"context"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/acl"
	"github.com/reeve-run/reeve/internal/state"
)

// Delegation.
//
// A token with the capability delegate in a namespace creates policies, tokens and child namespaces there.
// Each verb reads one snapshot: the author's rights, and the object that it changes, which must be the
// stored one when the change is applied. An author whose rights shrink meanwhile gains nothing, because
// the tokens that it created have at most its rights at each request.

// A Refusal is the reason why an author may not delegate something.
type Refusal struct{ Reason string }

// Error implements error.
func (r *Refusal) Error() string { return r.Reason }

// author returns the rights of a token that delegates in a namespace.
func (s *Server) author(v *state.Snapshot, accessor, namespace string) (*Rights, error) {
	token := v.ACLToken(accessor)
	if token == nil {
		return nil, &Refusal{"only tokens delegate, and not callers without one or identities of tasks"}
	}
	r := s.rightsOfToken(v, token)
	switch {
	case r == nil, r.IsExpired(time.Now()):
		return nil, &Refusal{"its token was deleted or has expired: ask for another one"}
	case namespace == "" || !r.ACL.MayDelegate(namespace):
		return nil, &Refusal{r.ACL.Explain(acl.Question{Capability: acl.Delegate, Name: namespace}).Reason}
	}
	return r, nil
}

// PutDelegatedPolicy stores a policy of a namespace for a token that delegates there.
func (s *Server) PutDelegatedPolicy(ctx context.Context, accessor string, p *api.ACLPolicy) (uint64, error) {
	v := s.store.Snapshot()
	r, err := s.policyAuthor(v, accessor, p.Name)
	if err != nil {
		return 0, err
	}
	parsed, err := checkPolicy(p)
	if err != nil {
		return 0, err
	}
	if err := acl.CheckDelegated(parsed, r.ACL); err != nil {
		return 0, err
	}
	return s.propose(ctx, state.PutACLPolicyAt(p, storedPolicy(v, p.Name)))
}

// policyAuthor returns the rights of a token that may change a policy.
func (s *Server) policyAuthor(v *state.Snapshot, accessor, policy string) (*Rights, error) {
	namespace := api.PolicyNamespace(policy)
	if namespace == "" {
		return nil, &Refusal{"only management tokens change policies that belong to no namespace; name a policy of namespace web as in web.readers"}
	}
	return s.author(v, accessor, namespace)
}

// storedPolicy returns the modify index of a policy; 0: it does not exist.
func storedPolicy(v *state.Snapshot, name string) uint64 {
	if p := v.ACLPolicy(name); p != nil {
		return p.ModifyIndex
	}
	return 0
}

// DeleteDelegatedPolicy deletes a policy of a namespace for a token that delegates there.
func (s *Server) DeleteDelegatedPolicy(ctx context.Context, accessor, name string) (uint64, error) {
	if _, err := s.policyAuthor(s.store.Snapshot(), accessor, name); err != nil {
		return 0, err
	}
	return s.DeleteACLPolicy(ctx, name)
}

// CreateDelegatedToken creates a token of a namespace for a token that delegates there. Without a
// namespace, it is that of the first policy. Only the result contains its secret.
func (s *Server) CreateDelegatedToken(ctx context.Context, accessor string, t *api.ACLToken) (*api.ACLToken, uint64, error) {
	token := *t // the caller repeats a request whose server lost the lead
	t = &token
	if t.Namespace == "" && len(t.Policies) > 0 {
		t.Namespace = api.PolicyNamespace(t.Policies[0])
	}
	if t.Namespace == "" {
		return nil, 0, &Refusal{"without management, a token creates tokens of a namespace, whose policies have names as in web.readers; name such policies, and neither roles nor the type management"}
	}
	v := s.store.Snapshot()
	if session := v.ACLToken(accessor); session != nil && session.Session {
		accessor = session.Creator // the token outlives the session
	}
	r, err := s.author(v, accessor, t.Namespace)
	if err != nil {
		return nil, 0, err
	}
	if err := checkNewToken(t); err != nil {
		return nil, 0, err
	}
	if left := time.Until(r.expires); !r.expires.IsZero() && t.ExpirationTTL > left {
		return nil, 0, api.Errorf(api.CodeInvalid, "ExpirationTTL: the token would outlive the one that creates it, which expires in %s: set less, or leave it out", left.Round(time.Second))
	}
	t.Creator = accessor
	return s.createToken(ctx, t, "")
}

// endOfCreator returns when the token that creates another one expires; nil: never, or it does not exist.
func (s *Server) endOfCreator(v *state.Snapshot, accessor string) *time.Time {
	if creator := v.ACLToken(accessor); creator != nil {
		return creator.ExpirationTime // that of its own creator, if it is earlier
	}
	return nil
}

// DeleteDelegatedToken deletes a token of a namespace for a token that delegates there.
func (s *Server) DeleteDelegatedToken(ctx context.Context, accessor, token string) (uint64, error) {
	v := s.store.Snapshot()
	if !s.MayManageToken(accessor, v.ACLToken(token)) {
		return 0, &Refusal{"the token " + api.ShortID(token) + " belongs to no namespace in which this token has the capability delegate"}
	}
	return s.DeleteACLToken(ctx, token)
}

// MayManageToken reports whether a token may read and delete another one.
func (s *Server) MayManageToken(accessor string, t *state.ACLToken) bool {
	return t != nil && s.MayManage(accessor, t.Namespace)
}

// MayManage reports whether a token delegates in a namespace.
func (s *Server) MayManage(accessor, namespace string) bool {
	r := s.RightsOfAccessor(accessor)
	return r != nil && r.Workload == nil && accessor != "" && namespace != "" && r.ACL.MayDelegate(namespace)
}

// PutDelegatedNamespace stores a namespace below one in which a token delegates.
func (s *Server) PutDelegatedNamespace(ctx context.Context, accessor string, n *api.Namespace, enforce *uint64) (uint64, error) {
	v := s.store.Snapshot()
	if err := s.mayChangeNamespace(v, accessor, n.Name); err != nil {
		return 0, err
	}
	if err := n.Validate(); err != nil {
		return 0, err
	}
	old, parent := v.Namespace(n.Name), v.Namespace(api.ParentNamespace(n.Name))
	if parent == nil {
		return s.PutNamespace(ctx, n, enforce) // which says what is missing
	}
	child := *n
	if child.Capabilities == nil {
		child.Capabilities = parent.Capabilities
	}
	if child.NodePoolConfiguration == nil {
		child.NodePoolConfiguration = parent.NodePoolConfiguration
	}
	if child.Priorities == nil {
		child.Priorities = parent.Priorities
	}
	if err := checkChild(&child, old, parent); err != nil {
		return 0, err
	}
	if old == nil && countBelow(v, parent.Name) >= maxDelegatedNamespaces {
		return 0, api.Errorf(api.CodeConflict, "namespace %q has %d namespaces below it already, which is the maximum for tokens without management: delete those that are not used", parent.Name, maxDelegatedNamespaces)
	}
	if enforce == nil {
		enforce = new(uint64)
		if old != nil {
			*enforce = old.ModifyIndex
		}
	}
	return s.PutNamespace(ctx, &child, enforce)
}

// DeleteDelegatedNamespace deletes a namespace below one in which a token delegates, if the token could
// have created it.
func (s *Server) DeleteDelegatedNamespace(ctx context.Context, accessor, name string, enforce *uint64) (uint64, error) {
	v := s.store.Snapshot()
	if err := s.mayChangeNamespace(v, accessor, name); err != nil {
		return 0, err
	}
	old, parent := v.Namespace(name), v.Namespace(api.ParentNamespace(name))
	if old != nil && parent != nil {
		if err := checkChild(old, nil, parent); err != nil {
			return 0, err
		}
		if enforce == nil {
			enforce = &old.ModifyIndex
		}
	}
	return s.DeleteNamespace(ctx, name, enforce)
}

// mayChangeNamespace returns an error unless a token delegates in the parent of a namespace, or above,
// and the namespace is not denied to it.
func (s *Server) mayChangeNamespace(v *state.Snapshot, accessor, name string) error {
	parent := api.ParentNamespace(name)
	if parent == "" {
		return &Refusal{"without management, a token changes only namespaces below one in which it has the capability delegate"}
	}
	r, err := s.author(v, accessor, parent)
	if err != nil {
		return err
	}
	if !r.ACL.MayDelegate(name) { // a rule denies it
		return &Refusal{r.ACL.Explain(acl.Question{Capability: acl.Delegate, Name: name}).Reason}
	}
	return nil
}

// maxDelegatedNamespaces bounds the namespaces below a parent for tokens without management.
const maxDelegatedNamespaces = 256

func countBelow(v *state.Snapshot, parent string) (n int) {
	for range v.NamespacesPrefix(parent + "/") {
		n++
	}
	return n
}
