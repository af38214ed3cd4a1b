// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package server

import (
	"fmt"
	"testing"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/acl"
	"github.com/reeve-run/reeve/internal/state"
)

// TestARestoredPolicyIsParsedAgain replaces a policy by one of another cluster, which has the same name and the
// same modify index.
func TestARestoredPolicyIsParsedAgain(t *testing.T) {
	var c rightsCache
	may := func(rules string) bool {
		p := c.parse(&api.ACLPolicy{Name: "team", Rules: rules, ModifyIndex: 12})
		return acl.New(p).Allows(acl.Question{Capability: acl.SubmitJob, Name: "web"})
	}
	if !may(`namespace "web" { policy = "write" }`) || may(`namespace "web" { policy = "read" }`) {
		t.Error("a policy has the rules of another one")
	}
	for i := range 2 * rememberedPolicies {
		c.parse(&api.ACLPolicy{Name: fmt.Sprint("web.", i), Rules: `namespace "web" { policy = "read" }`})
	}
	if n := len(c.parsed); n > rememberedPolicies {
		t.Errorf("%d policies are remembered, most of which do not exist", n)
	}
}

// TestARestoredAuthMethodHasItsOwnProvider does the same with an auth method.
func TestARestoredAuthMethodHasItsOwnProvider(t *testing.T) {
	s := found(t).Server
	var p providers
	method := func(audience string) *state.AuthMethod {
		return &state.AuthMethod{Method: api.ACLAuthMethod{
			Name: "sso", Type: api.ACLAuthMethodJWT, ModifyIndex: 12,
			Config: &api.ACLAuthMethodConfig{JWKSURL: "https://sso.example/keys", BoundAudiences: []string{audience}},
		}}
	}
	of := func(audience string) any {
		t.Helper()
		provider, err := p.of(s, s.store.Snapshot(), method(audience))
		if err != nil {
			t.Fatal(err)
		}
		return provider
	}
	first := of("one")
	if of("one") != first {
		t.Error("the keys of a provider are not kept")
	}
	if of("two") == first {
		t.Error("an auth method has the provider of another one")
	}
}
