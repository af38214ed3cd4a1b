// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package server

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/acl"
	"github.com/reeve-run/reeve/internal/pki"
	"github.com/reeve-run/reeve/internal/testbed/idp"
)

// ciMethod returns a method that accepts the tokens of a provider.
func ciMethod(p *idp.Provider) *api.ACLAuthMethod {
	return &api.ACLAuthMethod{
		Name: "ci", Type: api.ACLAuthMethodJWT, TokenLocality: api.ACLTokenLocal, MaxTokenTTL: time.Hour, TokenNameFormat: "ci ${value.user}", Default: true,
		Config: &api.ACLAuthMethodConfig{
			JWKSURL: p.URL + "/keys", JWKSCACert: p.CA, SigningAlgs: []string{"ES256"}, BoundAudiences: []string{idp.ClientID}, BoundIssuer: []string{p.URL},
			ClaimMappings: map[string]string{"sub": "user", "team": "team"}, ListClaimMappings: map[string]string{"groups": "groups"},
		},
	}
}

func putMethod(t *testing.T, f *founder, m *api.ACLAuthMethod) *api.ACLAuthMethod {
	t.Helper()
	stored, _, err := f.PutAuthMethod(t.Context(), m, true)
	if err != nil {
		t.Fatal(err)
	}
	return stored
}

func putRule(t *testing.T, f *founder, selector, kind, name string) *api.ACLBindingRule {
	t.Helper()
	rule, _, err := f.PutBindingRule(t.Context(), &api.ACLBindingRule{AuthMethod: "ci", Selector: selector, BindType: kind, BindName: name})
	if err != nil {
		t.Fatal(err)
	}
	return rule
}

func TestUsersOfAProviderGetTheRightsOfBindingRules(t *testing.T) {
	f, p := found(t), idp.New(t)
	putMethod(t, f, ciMethod(p))
	putPolicy(t, f, "readers", `namespace "default" { policy = "read" }`)
	if _, _, err := f.PutACLRole(t.Context(), &api.ACLRole{Name: "web-dev", Policies: []*api.ACLRolePolicyLink{{Name: "readers"}}}); err != nil {
		t.Fatal(err)
	}
	login := func(claims map[string]any) (*api.ACLToken, error) {
		token, _, err := f.Login(t.Context(), &api.ACLLoginRequest{LoginToken: p.Sign(p.Claims(claims))})
		return token, err
	}
	if _, err := login(nil); api.CodeOf(err) != api.CodeForbidden || !strings.Contains(err.Error(), "none of its binding rules") || !strings.Contains(err.Error(), "reeve acl binding-rule create -auth-method ci") {
		t.Errorf("without rules: %v", err)
	}
	putRule(t, f, `value.team == "web"`, api.ACLBindRole, "${value.team}-dev")
	putRule(t, f, `"readers" in list.groups`, api.ACLBindPolicy, "readers")
	putRule(t, f, `"readers" in list.groups`, api.ACLBindPolicy, "does-not-exist")
	putRule(t, f, `"admins" in list.groups`, api.ACLBindManagement, "")
	token, err := login(map[string]any{"team": "web", "groups": []string{"readers"}})
	if err != nil {
		t.Fatal(err)
	}
	if token.Name != "ci ana" || token.Type != api.ACLTokenClient || len(token.Roles) != 1 || token.Roles[0].Name != "web-dev" || len(token.Policies) != 1 || token.ExpirationTime == nil ||
		token.ExpirationTime.Sub(token.CreateTime) != time.Hour {
		t.Errorf("the token is %+v", token)
	}
	if parsed, err := pki.ParseToken(token.SecretID); err != nil || parsed.Kind != pki.UserToken {
		t.Errorf("the secret has another form: %v", err)
	}
	if r := f.RightsOf(token.SecretID); r == nil || !r.ACL.Allows(acl.Question{Capability: acl.ReadJob, Name: "default"}) || r.ACL.IsManagement() {
		t.Errorf("the rights are %+v", r)
	}
	admin, err := login(map[string]any{"groups": []string{"admins", "readers"}})
	if err != nil || admin.Type != api.ACLTokenManagement || len(admin.Policies) != 0 || admin.ExpirationTime == nil {
		t.Errorf("an administrator: %+v, %v", admin, err)
	}
	if _, err := login(map[string]any{"groups": []string{"others"}}); api.CodeOf(err) != api.CodeForbidden {
		t.Errorf("another group: %v", err)
	}
	if _, err := login(map[string]any{"aud": "another"}); api.CodeOf(err) != api.CodeForbidden || !strings.Contains(err.Error(), "audience") {
		t.Errorf("another audience: %v", err)
	}
	for what, r := range map[string]*api.ACLLoginRequest{
		"an unknown method": {AuthMethodName: "none", LoginToken: "x"}, "no token": {AuthMethodName: "ci"}, "no JWT": {AuthMethodName: "ci", LoginToken: "x"},
	} {
		if _, _, err := f.Login(t.Context(), r); err == nil || api.CodeOf(err) == api.CodeInternal {
			t.Errorf("%s: %v", what, err)
		}
	}
	// A changed method counts at once.
	changed := ciMethod(p)
	changed.Config.BoundAudiences = []string{"another"}
	if _, _, err := f.PutAuthMethod(t.Context(), changed, false); err != nil {
		t.Fatal(err)
	}
	if _, err := login(map[string]any{"groups": []string{"admins"}}); api.CodeOf(err) != api.CodeForbidden {
		t.Errorf("the former audience: %v", err)
	}
	if _, err := login(map[string]any{"aud": "another", "groups": []string{"admins"}}); err != nil {
		t.Errorf("the new audience: %v", err)
	}
}

// oidcMethod returns a method for logins in a browser.
func oidcMethod(p *idp.Provider) *api.ACLAuthMethod {
	return &api.ACLAuthMethod{
		Name: "sso", Type: api.ACLAuthMethodOIDC, TokenLocality: api.ACLTokenGlobal, MaxTokenTTL: time.Hour, Default: true,
		Config: &api.ACLAuthMethodConfig{
			OIDCDiscoveryURL: p.URL, DiscoveryCaPem: []string{p.CA}, OIDCClientID: idp.ClientID, OIDCClientSecret: idp.ClientSecret, SigningAlgs: []string{"ES256"},
			AllowedRedirectURIs: []string{redirectURI}, ClaimMappings: map[string]string{"sub": "user"}, ListClaimMappings: map[string]string{"groups": "groups"},
		},
	}
}

const redirectURI = "http://localhost:4649/oidc/callback"

func TestClientSecretsAreStoredEncrypted(t *testing.T) {
	f, p := found(t), idp.New(t)
	shown := putMethod(t, f, oidcMethod(p))
	if shown.Config.OIDCClientSecret != api.Redacted || shown.CreateIndex == 0 {
		t.Errorf("the answer is %+v", shown.Config)
	}
	stored := func() (string, []byte) {
		t.Helper()
		v := f.Store().Snapshot()
		m := v.AuthMethod("sso")
		secret, err := f.openSecret(v, m)
		if err != nil {
			t.Fatal(err)
		}
		return secret, m.Secret
	}
	if secret, _ := stored(); secret != idp.ClientSecret {
		t.Errorf("the stored secret is %q", secret)
	}
	var snapshot bytes.Buffer
	if _, err := f.Store().Snapshot().WriteTo(&snapshot); err != nil {
		t.Fatal(err)
	}
	if bytes.Contains(snapshot.Bytes(), []byte(idp.ClientSecret)) {
		t.Error("the snapshot contains the secret")
	}
	change := func(what, secret string, change func(*api.ACLAuthMethodConfig)) error {
		t.Helper()
		m := oidcMethod(p)
		m.Config.OIDCClientSecret = secret
		if change != nil {
			change(m.Config)
		}
		_, _, err := f.PutAuthMethod(t.Context(), m, false)
		return err
	}
	_, before := stored()
	if err := change("the redacted secret", api.Redacted, nil); err != nil {
		t.Fatal(err)
	}
	if secret, after := stored(); secret != idp.ClientSecret || !bytes.Equal(before, after) {
		t.Error("the redacted secret does not keep the stored one")
	}
	for what, c := range map[string]func(*api.ACLAuthMethodConfig){
		"another provider": func(f *api.ACLAuthMethodConfig) { f.OIDCDiscoveryURL = "https://evil.example" },
		"another client":   func(f *api.ACLAuthMethodConfig) { f.OIDCClientID = "evil" },
	} {
		if err := change(what, api.Redacted, c); api.CodeOf(err) != api.CodeInvalid || !strings.Contains(err.Error(), "set it again") {
			t.Errorf("%s gets the stored secret: %v", what, err)
		}
	}
	// A ciphertext is bound to its method.
	v := f.Store().Snapshot()
	moved := *v.AuthMethod("sso")
	moved.Method.Name = "other"
	if _, err := f.openSecret(v, &moved); api.CodeOf(err) != api.CodeInvalid {
		t.Errorf("the secret of another method: %v", err)
	}
	if err := change("no secret", "", nil); err != nil {
		t.Fatal(err)
	}
	if secret, _ := stored(); secret != "" {
		t.Error("the secret stays")
	}
	if err := change("redacted without one", api.Redacted, nil); api.CodeOf(err) != api.CodeInvalid {
		t.Errorf("redacted without a stored secret: %v", err)
	}
}
