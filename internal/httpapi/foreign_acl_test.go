// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"strings"
	"testing"
	"time"

	nomad "github.com/hashicorp/nomad/api"
)

// TestNomadsClientManagesAccess creates a policy, a role and a token with Nomad's client, and uses
// the token.
func TestNomadsClientManagesAccess(t *testing.T) {
	h := newHarness(t, withUsers(t))
	connect := func(secret string) *nomad.Client {
		t.Helper()
		c, err := nomad.NewClient(&nomad.Config{Address: h.http.URL, SecretID: secret})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(c.Close)
		return c
	}
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	operator := connect(operatorToken)
	_, err := operator.ACLPolicies().Upsert(&nomad.ACLPolicy{Name: "readers", Description: "to look", Rules: `namespace "default" { policy = "read" }`}, nil)
	must(err)
	_, err = operator.ACLPolicies().Upsert(&nomad.ACLPolicy{Name: "broken", Rules: `namespace "default" { policy = "raed" }`}, nil)
	if err == nil || !strings.Contains(err.Error(), `did you mean "read"?`) {
		t.Errorf("an invalid policy: %v", err)
	}
	role, _, err := operator.ACLRoles().Create(&nomad.ACLRole{Name: "support", Policies: []*nomad.ACLRolePolicyLink{{Name: "readers"}}}, nil)
	must(err)
	role.Description = "on call"
	if role, _, err = operator.ACLRoles().Update(role, nil); err != nil || role.Description != "on call" {
		t.Fatal(role, err)
	}
	if named, _, err := operator.ACLRoles().GetByName("support", nil); err != nil || named.ID != role.ID {
		t.Fatal(named, err)
	}
	token, _, err := operator.ACLTokens().Create(&nomad.ACLToken{
		Name: "ana", Type: "client", Policies: []string{"readers"}, Roles: []*nomad.ACLTokenRoleLink{{ID: role.ID}}, ExpirationTTL: time.Hour,
	}, nil)
	must(err)
	if token.SecretID == "" || token.ExpirationTime == nil || time.Until(*token.ExpirationTime) > time.Hour || len(token.Roles) != 1 || token.Roles[0].Name != "support" {
		t.Errorf("the token is %+v", token)
	}
	token.Name = "ana maria"
	changed, _, err := operator.ACLTokens().Update(token, nil)
	must(err)
	if changed.Name != "ana maria" || changed.SecretID != "" {
		t.Errorf("the changed token is %+v", changed)
	}
	ana := connect(token.SecretID)
	self, _, err := ana.ACLTokens().Self(nil)
	must(err)
	if self.AccessorID != token.AccessorID || self.SecretID != "" {
		t.Errorf("the own token is %+v", self)
	}
	if list, _, err := ana.ACLPolicies().List(nil); err != nil || len(list) != 1 || list[0].Name != "readers" {
		t.Errorf("the own policies are %v, %v", list, err)
	}
	_, _, err = ana.Jobs().List(nil)
	must(err)
	if _, _, err = ana.ACLTokens().List(nil); err == nil || !strings.Contains(err.Error(), "only management tokens") {
		t.Errorf("a list of tokens: %v", err)
	}
	if list, _, err := operator.ACLTokens().List(nil); err != nil || len(list) != 1 || list[0].Name != "ana maria" {
		t.Errorf("the tokens are %v, %v", list, err)
	}
	_, err = operator.ACLTokens().Delete(token.AccessorID, nil)
	must(err)
	if _, _, err = ana.Jobs().List(nil); err == nil || !strings.Contains(err.Error(), "403") {
		t.Errorf("with a deleted token: %v", err)
	}
	_, err = operator.ACLRoles().Delete(role.ID, nil)
	must(err)
	_, err = operator.ACLPolicies().Delete("readers", nil)
	must(err)
	if list, _, err := operator.ACLPolicies().List(nil); err != nil || len(list) != 0 {
		t.Errorf("the policies are %v, %v", list, err)
	}
}
