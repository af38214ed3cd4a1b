// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package server

import (
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/acl"
	"github.com/reeve-run/reeve/internal/identity"
	"github.com/reeve-run/reeve/internal/pki"
	"github.com/reeve-run/reeve/internal/state"
)

// Rights are what the bearer of a token may do.
type Rights struct {
	Accessor string // "": a caller without a token
	Name     string // of the token
	ACL      *acl.ACL
	Policies []string
	Workload *Workload // the task whose identity is the token; nil: it is a user's

	expires time.Time // zero: never
}

// IsExpired reports whether the token is no longer valid.
func (r *Rights) IsExpired(now time.Time) bool { return !r.expires.IsZero() && !now.Before(r.expires) }

// Expires returns the time at which the token expires; zero: never.
func (r *Rights) Expires() time.Time { return r.expires }

// rightsCache keeps rights as long as no policy, role or token changes.
type rightsCache struct {
	current atomic.Pointer[knownRights]

	mu     sync.Mutex
	parsed map[string]*parsedPolicy // by name
}

// rememberedRights bounds the callers whose rights are remembered.
const rememberedRights = 16384

// knownRights are those of one state of the tables. A lookup allocates nothing.
type knownRights struct {
	index uint64

	mu         sync.RWMutex
	byHash     map[[32]byte]*Rights
	byAccessor map[string]*Rights // "": of callers without a token
}

type parsedPolicy struct {
	rules  string // a restored snapshot may have other rules at the same modify index
	policy *acl.Policy
}

// rememberedPolicies bounds the parsed policies: teams create and delete policies under ever new names.
const rememberedPolicies = 4096

// known returns the rights that are valid in a state.
func (c *rightsCache) known(v *state.Snapshot) *knownRights {
	index := v.TableIndex(state.ACLTables...)
	known := c.current.Load()
	if known == nil || known.index != index {
		known = &knownRights{index: index, byHash: map[[32]byte]*Rights{}, byAccessor: map[string]*Rights{}}
		c.current.Store(known)
	}
	return known
}

// look returns the rights under a key; nil if they are not known.
func look[K comparable](known *knownRights, all map[K]*Rights, key K) *Rights {
	known.mu.RLock()
	defer known.mu.RUnlock()
	return all[key]
}

func keep[K comparable](known *knownRights, all map[K]*Rights, key K, r *Rights) {
	known.mu.Lock()
	defer known.mu.Unlock()
	if len(all) >= rememberedRights { // tasks come and go without a change of the tables
		clear(all)
	}
	all[key] = r
}

// parse returns a policy, parsed once for each change. The text was valid when it was stored.
func (c *rightsCache) parse(p *api.ACLPolicy) *acl.Policy {
	c.mu.Lock()
	defer c.mu.Unlock()
	if known := c.parsed[p.Name]; known != nil && known.rules == p.Rules {
		return known.policy
	}
	policy, err := acl.Parse(p.Name, p.Rules)
	if err != nil {
		policy = acl.DenyAll(p.Name) // a newer version knows more rules
	}
	if c.parsed == nil || len(c.parsed) >= rememberedPolicies {
		c.parsed = map[string]*parsedPolicy{}
	}
	c.parsed[p.Name] = &parsedPolicy{p.Rules, policy}
	return policy
}

// RightsOf returns the rights of the bearer of a secret; nil if no token has it, or if the token has
// expired.
func (s *Server) RightsOf(secret string) *Rights {
	v := s.store.Snapshot()
	if identity.IsToken(secret) {
		return s.rightsOfIdentity(v, secret)
	}
	known := s.rights.known(v)
	hash := pki.HashToken(secret)
	if r := look(known, known.byHash, hash); r != nil {
		return valid(r)
	}
	token := v.ACLTokenOf(hash)
	if token == nil {
		return nil // not remembered: anybody can present any number of secrets
	}
	r := s.rightsOfToken(v, token)
	if r == nil {
		return nil
	}
	keep(known, known.byHash, hash, r)
	return valid(r)
}

// RightsOfAccessor returns the rights of a token with an accessor id, as RightsOf does.
func (s *Server) RightsOfAccessor(accessor string) *Rights {
	v := s.store.Snapshot()
	if strings.HasPrefix(accessor, workloadAccessor) {
		return s.rightsOfWorkload(v, accessor)
	}
	known := s.rights.known(v)
	if r := look(known, known.byAccessor, accessor); r != nil {
		return valid(r)
	}
	token := v.ACLToken(accessor)
	if token == nil {
		return nil
	}
	r := s.rightsOfToken(v, token)
	if r == nil {
		return nil
	}
	keep(known, known.byAccessor, accessor, r)
	return valid(r)
}

// AnonymousRights returns the rights of callers without a token; nil unless a policy grants some.
func (s *Server) AnonymousRights() *Rights {
	v := s.store.Snapshot()
	p := v.ACLPolicy(api.ACLAnonymous)
	if p == nil {
		return nil
	}
	known := s.rights.known(v)
	if r := look(known, known.byAccessor, ""); r != nil {
		return r
	}
	r := &Rights{ACL: acl.New(s.rights.parse(p)), Policies: []string{p.Name}}
	keep(known, known.byAccessor, "", r)
	return r
}

func valid(r *Rights) *Rights {
	if r.IsExpired(time.Now()) {
		return nil
	}
	return r
}

// rightsOfToken returns the rights of a token, which are also those of its creator; nil if the token that
// created it does not exist.
func (s *Server) rightsOfToken(v *state.Snapshot, t *state.ACLToken) *Rights {
	r := &Rights{Accessor: t.AccessorID, Name: t.Name}
	if t.ExpirationTime != nil {
		r.expires = *t.ExpirationTime
	}
	if t.Session && t.Creator != "" {
		return s.rightsOfSession(v, t, r)
	}
	if t.Type == api.ACLTokenManagement {
		r.ACL = acl.Management
		return r
	}
	r.Policies = policiesOf(v, t)
	var policies []*acl.Policy
	for _, name := range r.Policies {
		if p := v.ACLPolicy(name); p != nil {
			policies = append(policies, s.rights.parse(p))
		}
	}
	if t.Creator == "" {
		r.ACL = acl.New(policies...)
		return r
	}
	creator := v.ACLToken(t.Creator)
	if creator == nil {
		return nil
	}
	// Admission bounds the generations, and lets no token be its own ancestor.
	of := s.rightsOfToken(v, creator)
	if of == nil {
		return nil
	}
	if r.expires.IsZero() || !of.expires.IsZero() && of.expires.Before(r.expires) {
		r.expires = of.expires
	}
	r.ACL = acl.NewWithin(of.ACL, policies...)
	return r
}

// policiesOf returns the names of a token's policies, with those of its roles, each once.
func policiesOf(v *state.Snapshot, t *state.ACLToken) []string {
	var all []string
	seen := map[string]bool{}
	add := func(name string) {
		if !seen[name] {
			seen[name] = true
			all = append(all, name)
		}
	}
	for _, name := range t.Policies {
		add(name)
	}
	for _, link := range t.Roles {
		if role := v.ACLRole(link.ID); role != nil {
			for _, p := range role.Policies {
				add(p.Name)
			}
		}
	}
	return all
}
