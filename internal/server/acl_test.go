// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package server

import (
	"strings"
	"testing"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/acl"
	"github.com/reeve-run/reeve/internal/pki"
	"github.com/reeve-run/reeve/internal/state"
)

func putPolicy(t *testing.T, f *founder, name, rules string) {
	t.Helper()
	if _, err := f.PutACLPolicy(t.Context(), &api.ACLPolicy{Name: name, Rules: rules}); err != nil {
		t.Fatal(err)
	}
}

func TestTokensHaveTheRightsOfPoliciesAndRoles(t *testing.T) {
	f := found(t)
	putPolicy(t, f, "readers", `namespace "default" { policy = "read" }`)
	putPolicy(t, f, "runners", `namespace "default" { capabilities = ["submit-job"] }`)
	role, _, err := f.PutACLRole(t.Context(), &api.ACLRole{Name: "support", Policies: []*api.ACLRolePolicyLink{{Name: "runners"}}})
	if err != nil {
		t.Fatal(err)
	}
	token, _, err := f.CreateACLToken(t.Context(), &api.ACLToken{
		Name: "ana", Type: api.ACLTokenClient, Policies: []string{"readers"}, Roles: []*api.ACLTokenRoleLink{{Name: "support"}}, ExpirationTTL: time.Hour,
	})
	if err != nil {
		t.Fatal(err)
	}
	if parsed, err := pki.ParseToken(token.SecretID); err != nil || parsed.Kind != pki.UserToken {
		t.Errorf("the secret %q is no token with the digest of the cluster: %v", token.SecretID, err)
	}
	if token.Roles[0].ID != role.ID || token.ExpirationTime == nil || token.ExpirationTTL != 0 {
		t.Errorf("%+v", token)
	}
	may := func(c acl.Capability) bool {
		r := f.RightsOf(token.SecretID)
		if other := f.RightsOfAccessor(token.AccessorID); (r == nil) != (other == nil) {
			t.Fatal("the secret and the accessor id have different rights")
		}
		return r != nil && r.ACL.Allows(acl.Question{Capability: c, Name: "default"})
	}
	if !may(acl.ReadJob) || !may(acl.SubmitJob) || may(acl.AllocExec) {
		t.Error("the token has not the rights of its policy and its role")
	}
	role.Policies = []*api.ACLRolePolicyLink{{Name: "readers"}}
	if _, _, err := f.PutACLRole(t.Context(), role); err != nil {
		t.Fatal(err)
	}
	if may(acl.SubmitJob) {
		t.Error("the token has rights that its role lost")
	}
	putPolicy(t, f, "readers", `namespace "default" { capabilities = ["alloc-exec"] }`)
	if !may(acl.AllocExec) || may(acl.ReadJob) {
		t.Error("the token has the rights of the earlier policy")
	}
	if _, err := f.DeleteACLPolicy(t.Context(), "readers"); err != nil {
		t.Fatal(err)
	}
	if may(acl.AllocExec) {
		t.Error("the token has the rights of a deleted policy")
	}
	if r := f.RightsOf(token.SecretID); r == nil || !r.IsExpired(token.ExpirationTime.Add(time.Nanosecond)) || r.IsExpired(token.ExpirationTime.Add(-time.Second)) {
		t.Error("the token does not expire at its time")
	}
	stored := f.Store().Snapshot().ACLToken(token.AccessorID)
	if stored.SecretID != "" || strings.Contains(string(stored.Hash), token.SecretID) {
		t.Errorf("the state contains the secret: %+v", stored)
	}
	if _, err := f.DeleteACLToken(t.Context(), token.AccessorID); err != nil {
		t.Fatal(err)
	}
	if f.RightsOf(token.SecretID) != nil {
		t.Error("a deleted token has rights")
	}
}

func TestInvalidPoliciesRolesAndTokensChangeNothing(t *testing.T) {
	f := found(t)
	putPolicy(t, f, "readers", `namespace "default" { policy = "read" }`)
	client := func(change func(*api.ACLToken)) error {
		token := &api.ACLToken{Type: api.ACLTokenClient, Policies: []string{"readers"}}
		change(token)
		_, _, err := f.CreateACLToken(t.Context(), token)
		return err
	}
	policy := func(p *api.ACLPolicy) error {
		_, err := f.PutACLPolicy(t.Context(), p)
		return err
	}
	role := func(r *api.ACLRole) error {
		_, _, err := f.PutACLRole(t.Context(), r)
		return err
	}
	later := time.Now().Add(time.Hour)
	stored, _, err := f.CreateACLToken(t.Context(), &api.ACLToken{Type: api.ACLTokenClient, Policies: []string{"readers"}})
	if err != nil {
		t.Fatal(err)
	}
	update := func(change func(*api.ACLToken)) error {
		token := &api.ACLToken{AccessorID: stored.AccessorID, Policies: []string{"readers"}}
		change(token)
		_, _, err := f.UpdateACLToken(t.Context(), token)
		return err
	}
	before := f.Store().Snapshot().TableIndex(state.ACLTables...)
	for want, err := range map[string]error{
		`p:1:17: "raed" is no policy`: policy(&api.ACLPolicy{Name: "p", Rules: `namespace "a" { policy = "raed" }`}),
		"must be 1 to 128 letters":    policy(&api.ACLPolicy{Name: "a/b", Rules: `node { policy = "read" }`}),
		"JobACL":                      policy(&api.ACLPolicy{Name: "p", JobACL: &api.JobACL{}, Rules: `node { policy = "read" }`}),
		"has 0 entries":               role(&api.ACLRole{Name: "r"}),
		`policy "nothing" does not exist; create it with: reeve acl policy apply`: role(&api.ACLRole{Name: "r", Policies: []*api.ACLRolePolicyLink{{Name: "nothing"}}}),
		"leave ID empty":                             role(&api.ACLRole{ID: "x", Name: "r", Policies: []*api.ACLRolePolicyLink{{Name: "readers"}}}),
		`policy "other" does not exist`:              client(func(t *api.ACLToken) { t.Policies = []string{"other"} }),
		`role "other" does not exist`:                client(func(t *api.ACLToken) { t.Roles = []*api.ACLTokenRoleLink{{Name: "other"}} }),
		"a client token needs at least one policy":   client(func(t *api.ACLToken) { t.Policies = nil }),
		"takes none":                                 client(func(t *api.ACLToken) { t.Type = api.ACLTokenManagement }),
		`Type: "root"`:                               client(func(t *api.ACLToken) { t.Type = "root" }),
		"ExpirationTTL: is 1s; it must be from 1m0s": client(func(t *api.ACLToken) { t.ExpirationTTL = time.Second }),
		"ExpirationTime: set ExpirationTTL":          client(func(t *api.ACLToken) { t.ExpirationTime = &later }),
		"SecretID: the server chooses it":            client(func(t *api.ACLToken) { t.SecretID = "mine" }),
		"AccessorID: the server chooses it":          client(func(t *api.ACLToken) { t.AccessorID = "mine" }),
		"Roles: an entry has neither ID nor Name":    client(func(t *api.ACLToken) { t.Roles = []*api.ACLTokenRoleLink{nil} }),
		"a client token stays one":                   update(func(t *api.ACLToken) { t.Type = api.ACLTokenManagement }),
		"Policies: a client token needs at least":    update(func(t *api.ACLToken) { t.Policies = nil }),
		"an entry has neither ID":                    update(func(t *api.ACLToken) { t.Roles = []*api.ACLTokenRoleLink{nil} }),
		`token "unknown" not found`:                  update(func(t *api.ACLToken) { t.AccessorID = "unknown" }),
		"Policies, Roles: have 200 entries":          client(func(t *api.ACLToken) { t.Policies = make([]string, 200) }),
	} {
		if err == nil || !strings.Contains(err.Error(), want) || api.CodeOf(err) == api.CodeInternal {
			t.Errorf("got %v, want %q", err, want)
		}
	}
	if after := f.Store().Snapshot().TableIndex(state.ACLTables...); after != before {
		t.Error("invalid requests changed the state")
	}
}

// BenchmarkRights looks a token up, as each request does.
func BenchmarkRights(b *testing.B) {
	s, err := New(Config{Addr: "127.0.0.1:4646"})
	if err != nil {
		b.Fatal(err)
	}
	if err := s.Start(b.Context()); err != nil {
		b.Fatal(err)
	}
	defer s.Shutdown(b.Context())
	if _, err := s.PutACLPolicy(b.Context(), &api.ACLPolicy{Name: "readers", Rules: `namespace "*" { policy = "read" }`}); err != nil {
		b.Fatal(err)
	}
	token, _, err := s.CreateACLToken(b.Context(), &api.ACLToken{Type: api.ACLTokenClient, Policies: []string{"readers"}})
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if r := s.RightsOf(token.SecretID); r == nil || !r.ACL.Allows(acl.Question{Capability: acl.ReadJob, Name: "default"}) {
			b.Fatal("refused")
		}
	}
}
