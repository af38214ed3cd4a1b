// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package api

import "time"

// Kinds of bindings.
const (
	ACLBindRole       = "role"
	ACLBindPolicy     = "policy"
	ACLBindManagement = "management"
)

// An ACLBindingRule gives rights to users whose claims match.
type ACLBindingRule struct {
	ID          string
	Description string
	AuthMethod  string // name
	Selector    string // over value.NAME and list.NAME; "": matches everyone
	BindType    string // ACLBindRole, ACLBindPolicy or ACLBindManagement
	BindName    string // of the role or policy; may contain ${value.NAME}

	CreateTime  time.Time
	ModifyTime  time.Time
	CreateIndex uint64
	ModifyIndex uint64
}

// An ACLBindingRuleStub is a rule in a list.
type ACLBindingRuleStub struct {
	ID          string
	Description string
	AuthMethod  string
	CreateIndex uint64
	ModifyIndex uint64
}

// Stub returns the rule for a list.
func (r *ACLBindingRule) Stub() *ACLBindingRuleStub {
	return &ACLBindingRuleStub{ID: r.ID, Description: r.Description, AuthMethod: r.AuthMethod, CreateIndex: r.CreateIndex, ModifyIndex: r.ModifyIndex}
}

// maxSelector bounds a selector, in bytes.
const maxSelector = 4 << 10

// Validate returns an error if the rule's form is invalid; package login parses its selector.
func (r *ACLBindingRule) Validate() error {
	var c complaints
	c.description(r.Description)
	if !aclName.MatchString(r.AuthMethod) {
		c.add("AuthMethod: %.128q %s", r.AuthMethod, aclNameRule)
	}
	if len(r.Selector) > maxSelector {
		c.add("Selector: has %d bytes; at most %d are allowed", len(r.Selector), maxSelector)
	}
	switch r.BindType {
	case ACLBindRole, ACLBindPolicy:
		if r.BindName == "" || len(r.BindName) > maxTokenName {
			c.add("BindName: must be the name of a %s, with at most %d bytes", r.BindType, maxTokenName)
		}
	case ACLBindManagement:
		if r.BindName != "" {
			c.add("BindName: must be empty if BindType is %q", ACLBindManagement)
		}
	default:
		c.add("BindType: %.64q must be %q, %q or %q", r.BindType, ACLBindRole, ACLBindPolicy, ACLBindManagement)
	}
	return c.err("the binding rule is not valid")
}

// An ACLLoginRequest presents a token of an identity provider.
type ACLLoginRequest struct {
	AuthMethodName string // "": the default method of the type JWT
	LoginToken     string
}

// An OIDCAuthURLRequest begins a login in a browser.
type OIDCAuthURLRequest struct {
	AuthMethodName string // "": the default method of the type OIDC
	RedirectURI    string
	ClientNonce    string // random; the request that completes the login repeats it
}

// An OIDCAuthURLResponse contains the address at which the user logs in.
type OIDCAuthURLResponse struct{ AuthURL string }

// An OIDCCompleteAuthRequest completes a login with what the provider sent to the redirect address.
type OIDCCompleteAuthRequest struct {
	AuthMethodName string
	ClientNonce    string
	State          string
	Code           string
	Iss            string
	RedirectURI    string
}
