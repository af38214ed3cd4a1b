// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package api

import (
	"regexp"
	"time"
)

// Types of tokens.
const (
	ACLTokenClient     = "client"     // has the rights of its policies and roles
	ACLTokenManagement = "management" // may do everything
)

// ACLAnonymous is the name of the policy for requests without a token.
const ACLAnonymous = "anonymous"

// An ACLPolicy is a text of rules: who has it may do what they grant.
type ACLPolicy struct {
	Name        string
	Description string
	Rules       string  // in HCL or JSON, see docs/access.md
	JobACL      *JobACL // tasks that have the policy; nil: none
	// Namespace is the namespace to which the policy belongs, for its administrators; "": none. The name
	// begins with it: see PolicyNamespace.
	Namespace string `json:",omitempty"`

	CreateIndex uint64
	ModifyIndex uint64
}

// A JobACL names the tasks to which Nomad attaches a policy.
type JobACL struct {
	Namespace string
	JobID     string
	Group     string
	Task      string
}

// An ACLPolicyListStub is a policy without its rules.
type ACLPolicyListStub struct {
	Name        string
	Description string
	JobACL      *JobACL
	Namespace   string `json:",omitempty"`
	CreateIndex uint64
	ModifyIndex uint64
}

// Stub returns the policy without its rules.
func (p *ACLPolicy) Stub() *ACLPolicyListStub {
	return &ACLPolicyListStub{Name: p.Name, Description: p.Description, JobACL: p.JobACL, Namespace: p.Namespace, CreateIndex: p.CreateIndex, ModifyIndex: p.ModifyIndex}
}

// An ACLRole is a set of policies that tokens share.
type ACLRole struct {
	ID          string
	Name        string // unique
	Description string
	Policies    []*ACLRolePolicyLink

	CreateIndex uint64
	ModifyIndex uint64
}

// An ACLRolePolicyLink names a policy of a role.
type ACLRolePolicyLink struct{ Name string }

// An ACLToken gives its bearer the rights of its policies and roles.
type ACLToken struct {
	AccessorID string // public id
	// SecretID is what the bearer presents. Only the response to the token's creation
	// contains it: servers store its SHA-256.
	SecretID string
	Name     string
	Type     string // ACLTokenClient or ACLTokenManagement
	Policies []string
	Roles    []*ACLTokenRoleLink
	Global   bool // without effect: a cluster is one region
	// Namespace is the namespace to which the token belongs, if a token with the capability delegate
	// created it; "": none. Creator is the accessor id of that token: it bounds the rights and the life of
	// this one.
	Namespace string `json:",omitempty"`
	Creator   string `json:",omitempty"`

	CreateTime     time.Time
	ExpirationTime *time.Time `json:",omitempty"` // nil: does not expire
	// ExpirationTTL is the lifetime of a token that is created.
	ExpirationTTL time.Duration `json:",omitempty"`

	CreateIndex uint64
	ModifyIndex uint64
}

// An ACLTokenRoleLink names a role of a token, by its id or its name.
type ACLTokenRoleLink struct {
	ID   string
	Name string
}

// IsExpired reports whether the token is no longer valid.
func (t *ACLToken) IsExpired(now time.Time) bool {
	return t.ExpirationTime != nil && !now.Before(*t.ExpirationTime)
}

// An ACLTokenListStub is a token in a list.
type ACLTokenListStub struct {
	AccessorID     string
	Name           string
	Type           string
	Policies       []string
	Roles          []*ACLTokenRoleLink
	Global         bool
	Namespace      string `json:",omitempty"`
	Creator        string `json:",omitempty"`
	CreateTime     time.Time
	ExpirationTime *time.Time `json:",omitempty"`
	CreateIndex    uint64
	ModifyIndex    uint64
}

// Stub returns the token for a list.
func (t *ACLToken) Stub() *ACLTokenListStub {
	return &ACLTokenListStub{
		AccessorID: t.AccessorID, Name: t.Name, Type: t.Type, Policies: t.Policies, Roles: t.Roles, Global: t.Global,
		Namespace: t.Namespace, Creator: t.Creator,
		CreateTime: t.CreateTime, ExpirationTime: t.ExpirationTime, CreateIndex: t.CreateIndex, ModifyIndex: t.ModifyIndex,
	}
}

// An ACLDecision answers whether a token may do something, and why.
type ACLDecision struct {
	Allowed    bool
	Capability string
	Object     string // kind and name of the object
	Reason     string // one sentence
	Policies   []string
}

// Limits of tokens, policies and roles.
const (
	MinACLTokenTTL = time.Minute
	MaxACLTokenTTL = 24 * time.Hour

	maxACLLinks = 128 // policies or roles of a token or a role
)

var aclName = regexp.MustCompile(`^[a-zA-Z0-9-]{1,128}$`)

// aclSelf is no name of a policy: its path shows the policies of the caller.
const aclSelf = "self"

const aclNameRule = "must be 1 to 128 letters, digits and \"-\""

// Validate returns an error if the policy's form is invalid; package acl parses its rules.
func (p *ACLPolicy) Validate() error {
	var c complaints
	p.validateName(&c)
	if p.Name == aclSelf {
		c.add("Name: %q is reserved: /v1/acl/policy/self returns the policies of the caller; choose another name", aclSelf)
	}
	c.description(p.Description)
	p.JobACL.validate(&c)
	return c.err("the policy is not valid")
}

func (c *complaints) description(text string) {
	if len(text) > maxNamespaceDescription {
		c.add("Description: has %d bytes; at most %d are allowed", len(text), maxNamespaceDescription)
	}
}

// Validate returns an error if the role is invalid.
func (r *ACLRole) Validate() error {
	var c complaints
	if !aclName.MatchString(r.Name) {
		c.add("Name: %q %s", r.Name, aclNameRule)
	}
	c.description(r.Description)
	if n := len(r.Policies); n == 0 || n > maxACLLinks {
		c.add("Policies: has %d entries; 1 to %d are allowed", n, maxACLLinks)
	}
	for _, link := range r.Policies {
		if link == nil || !aclName.MatchString(link.Name) {
			c.add("Policies: an entry has no valid name")
		}
	}
	return c.err("the role is not valid")
}

// Validate returns an error if the token is invalid.
func (t *ACLToken) Validate() error {
	var c complaints
	if len(t.Name) > maxNamespaceDescription {
		c.add("Name: has %d bytes; at most %d are allowed", len(t.Name), maxNamespaceDescription)
	}
	links := len(t.Policies) + len(t.Roles)
	switch {
	case t.Type == ACLTokenManagement && links > 0:
		c.add("Policies, Roles: a management token may do everything and takes none; remove them, or set Type to %q", ACLTokenClient)
	case t.Type == ACLTokenClient && links == 0:
		c.add("Policies: a client token needs at least one policy or role")
	case t.Type != ACLTokenClient && t.Type != ACLTokenManagement:
		c.add("Type: %q must be %q or %q", t.Type, ACLTokenClient, ACLTokenManagement)
	}
	if links > maxACLLinks {
		c.add("Policies, Roles: have %d entries; at most %d are allowed", links, maxACLLinks)
	}
	t.validateNamespace(&c)
	for _, link := range t.Roles {
		if link == nil || link.ID == "" && link.Name == "" {
			c.add("Roles: an entry has neither ID nor Name")
		}
	}
	if t.ExpirationTTL != 0 && (t.ExpirationTTL < MinACLTokenTTL || t.ExpirationTTL > MaxACLTokenTTL) {
		c.add("ExpirationTTL: is %s; it must be from %s to %s", t.ExpirationTTL, MinACLTokenTTL, MaxACLTokenTTL)
	}
	return c.err("the token is not valid")
}
