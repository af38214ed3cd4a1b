// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package server

import (
	"crypto/ed25519"
	"crypto/sha256"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/go-jose/go-jose/v4/jwt"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/acl"
	"github.com/reeve-run/reeve/internal/identity"
	"github.com/reeve-run/reeve/internal/state"
)

// A Workload is a task that presents its identity.
type Workload struct {
	Namespace, JobID, Group, Task string
	AllocID                       string
}

// workloadAccessor begins the accessor ids of tasks. It is followed by the task's name, escaped, a colon
// and the id of its allocation.
const workloadAccessor = "workload:"

// Accessor returns what the door calls the task.
func (w *Workload) accessor() string {
	return workloadAccessor + url.QueryEscape(w.Task) + ":" + w.AllocID
}

// SignIdentity returns the signed token of a task on a node. Any server signs, when a node asks.
func (s *Server) SignIdentity(node string, r *api.IdentityRequest) (*api.IdentityResponse, error) {
	v := s.store.Snapshot()
	a := v.Allocation(r.AllocID)
	if a == nil || a.NodeID != node {
		return nil, api.Errorf(api.CodeNotFound, "allocation %.64q not found on node %s", r.AllocID, api.ShortID(node))
	}
	if a.IsTerminal() {
		return nil, api.Errorf(api.CodeConflict, "allocation %s has ended: its tasks have no identity", api.ShortID(a.ID))
	}
	i := declared(a, r.Task, r.Identity)
	if i == nil {
		return nil, api.Errorf(api.CodeNotFound, "task %.128q of allocation %s with identity %.128q not found", r.Task, api.ShortID(a.ID), r.Identity)
	}
	active := v.ActiveRootKey()
	if active == nil {
		_, err := s.activeKey(v)
		return nil, err
	}
	key, err := s.signingKey(v, active.KeyID)
	if err != nil {
		return nil, err
	}
	now := time.Now()
	c := &identity.Claims{Namespace: a.Namespace, JobID: a.JobID, Allocation: a.ID, Task: r.Task}
	c.Issuer, c.ID = s.cfg.OIDCIssuer, api.NewID()
	c.Subject = strings.Join([]string{s.cfg.Region, a.Namespace, a.JobID, a.Group, r.Task, i.Label()}, ":")
	c.Audience = jwt.Audience(i.Audience)
	if len(c.Audience) == 0 {
		c.Audience = jwt.Audience{identity.DefaultAudience}
	}
	c.IssuedAt, c.NotBefore = jwt.NewNumericDate(now), jwt.NewNumericDate(now)
	answer := new(api.IdentityResponse)
	if i.TTL > 0 {
		expires := now.Add(i.TTL)
		c.Expiry, answer.Expires = jwt.NewNumericDate(expires), expires.UnixNano()
	}
	answer.Token, err = identity.Sign(active.KeyID, key, c)
	return answer, err
}

// declared returns an identity of a task; nil if the job does not declare it. Every task has the default
// one.
func declared(a *api.Allocation, task, name string) *api.Identity {
	if a.Job == nil || a.Job.Group(a.Group) == nil {
		return nil
	}
	t := a.Job.Group(a.Group).Task(task)
	if t == nil {
		return nil
	}
	for _, i := range t.AllIdentities() {
		if i.Label() == name {
			return i
		}
	}
	if name == api.DefaultIdentity {
		return &api.Identity{}
	}
	return nil
}

// signingKey returns the key with which a root key signs.
func (s *Server) signingKey(v *state.Snapshot, id string) (ed25519.PrivateKey, error) {
	if known := s.identities.signing(id); known != nil {
		return known, nil
	}
	root, err := s.rootKey(v, id)
	if err != nil {
		return nil, err
	}
	key := root.SigningKey()
	s.identities.keepSigning(id, key)
	return key, nil
}

// KeySet returns the public keys that verify identities, also those of keys that will be active.
func (s *Server) KeySet(v *state.Snapshot) *identity.KeySet {
	set := &identity.KeySet{Keys: []identity.Key{}}
	for k := range v.RootKeys() {
		if key, err := s.signingKey(v, k.KeyID); err == nil {
			set.Add(k.KeyID, key.Public().(ed25519.PublicKey))
		}
	}
	return set
}

// OIDCIssuer returns the address under which others find the keys of identities; "": none is configured.
func (s *Server) OIDCIssuer() string { return s.cfg.OIDCIssuer }

// rememberedIdentities bounds the tokens that were verified.
const rememberedIdentities = 8192

// identityCache keeps the keys that sign, and verified tokens: a token is verified once.
type identityCache struct {
	mu       sync.RWMutex
	keys     map[string]ed25519.PrivateKey // by the id of the root key
	verified map[[sha256.Size]byte]*verifiedIdentity
}

// A verifiedIdentity is a token that a root key of the cluster signed for its API.
type verifiedIdentity struct {
	claims *identity.Claims
	key    string // id
}

func (c *identityCache) signing(id string) ed25519.PrivateKey {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return c.keys[id]
}

func (c *identityCache) keepSigning(id string, key ed25519.PrivateKey) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.keys == nil {
		c.keys = map[string]ed25519.PrivateKey{}
	}
	c.keys[id] = key
}

func (c *identityCache) get(sum [sha256.Size]byte) *verifiedIdentity {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return c.verified[sum]
}

func (c *identityCache) put(sum [sha256.Size]byte, found *verifiedIdentity) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.verified == nil || len(c.verified) >= rememberedIdentities {
		c.verified = map[[sha256.Size]byte]*verifiedIdentity{} // they are verified again
	}
	c.verified[sum] = found
}

// rightsOfIdentity returns the rights of a task that presents its token; nil if the token is not valid, or its
// allocation has ended.
func (s *Server) rightsOfIdentity(v *state.Snapshot, token string) *Rights {
	sum := sha256.Sum256([]byte(token))
	now := time.Now()
	found := s.identities.get(sum)
	if found == nil {
		key := ""
		claims, err := identity.Verify(token, func(id string) ed25519.PublicKey {
			if v.RootKey(id) == nil {
				return nil
			}
			private, err := s.signingKey(v, id)
			if err != nil {
				return nil
			}
			key = id
			return private.Public().(ed25519.PublicKey)
		}, now)
		if err != nil || !claims.IsFor(identity.DefaultAudience) {
			return nil
		}
		found = &verifiedIdentity{claims, key}
		s.identities.put(sum, found)
	}
	if c := found.claims; c.IsExpired(now) || v.RootKey(found.key) == nil {
		return nil
	}
	return s.rightsOfTask(v, found.claims.Task, found.claims.Allocation)
}

// rightsOfWorkload returns the rights of a task by its accessor id.
func (s *Server) rightsOfWorkload(v *state.Snapshot, accessor string) *Rights {
	task, alloc, _ := strings.Cut(strings.TrimPrefix(accessor, workloadAccessor), ":")
	task, err := url.QueryUnescape(task)
	if err != nil {
		return nil
	}
	return s.rightsOfTask(v, task, alloc)
}

// rightsOfTask returns the rights of a task; nil unless its allocation runs.
func (s *Server) rightsOfTask(v *state.Snapshot, task, alloc string) *Rights {
	a := v.Allocation(alloc)
	if a == nil || a.IsTerminal() || declared(a, task, api.DefaultIdentity) == nil {
		return nil
	}
	w := &Workload{Namespace: a.Namespace, JobID: a.JobID, Group: a.Group, Task: task, AllocID: a.ID}
	accessor := w.accessor()
	known := s.rights.known(v)
	if r := look(known, known.byAccessor, accessor); r != nil {
		return r
	}
	r := &Rights{Accessor: accessor, Name: "task " + task + " of allocation " + api.ShortID(a.ID), Workload: w}
	var policies []*acl.Policy
	for p := range v.ACLPolicies("") {
		if p.JobACL.Matches(w.Namespace, w.JobID, w.Group, w.Task) {
			r.Policies = append(r.Policies, p.Name)
			policies = append(policies, s.rights.parse(p))
		}
	}
	r.ACL = acl.NewBesides(acl.New(acl.OfTask(w.Namespace, w.JobID, w.Group, w.Task, api.IsVariablePath)), policies...)
	keep(known, known.byAccessor, accessor, r)
	return r
}
