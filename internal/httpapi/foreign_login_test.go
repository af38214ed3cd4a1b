// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"crypto/tls"
	"crypto/x509"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	nomad "github.com/hashicorp/nomad/api"

	"github.com/reeve-run/reeve/internal/pki"
	"github.com/reeve-run/reeve/internal/testbed/idp"
)

// connectNomad returns Nomad's client with a token; "": without one.
func connectNomad(t *testing.T, h *harness, secret string) *nomad.Client {
	t.Helper()
	c, err := nomad.NewClient(&nomad.Config{Address: h.http.URL, SecretID: secret})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

// TestNomadsClientExchangesOneTimeTokens passes a token on, as Nomad's command line does to a browser.
func TestNomadsClientExchangesOneTimeTokens(t *testing.T) {
	h := newHarness(t, withUsers(t))
	h.policy("readers", `namespace "default" { policy = "read" }`)
	_, token := h.user("readers")
	once, _, err := connectNomad(t, h, token.SecretID).ACLTokens().UpsertOneTimeToken(nil)
	if err != nil || once.OneTimeSecretID == "" || once.AccessorID != token.AccessorID || once.ExpiresAt.IsZero() {
		t.Fatal(once, err)
	}
	stranger := connectNomad(t, h, "")
	got, _, err := stranger.ACLTokens().ExchangeOneTimeToken(once.OneTimeSecretID, nil)
	if err != nil || got.AccessorID != token.AccessorID {
		t.Fatal(got, err)
	}
	if _, _, err := connectNomad(t, h, got.SecretID).Jobs().List(nil); err != nil {
		t.Errorf("with the new secret: %v", err)
	}
	if _, _, err := stranger.ACLTokens().ExchangeOneTimeToken(once.OneTimeSecretID, nil); err == nil || !strings.Contains(err.Error(), "it was used") {
		t.Errorf("a second exchange: %v", err)
	}
	if _, _, err := connectNomad(t, h, operatorToken).ACLTokens().UpsertOneTimeToken(nil); err == nil || !strings.Contains(err.Error(), "an operator has no token for which") {
		t.Errorf("for the operator's token: %v", err)
	}
	if _, _, err := stranger.ACLTokens().UpsertOneTimeToken(nil); err == nil || !strings.Contains(err.Error(), "403") {
		t.Errorf("without a token: %v", err)
	}
}

// TestNomadsClientIntroducesNodes makes a join token as Nomad's command line does.
func TestNomadsClientIntroducesNodes(t *testing.T) {
	h := newHarness(t, withUsers(t))
	h.policy("racks", `node { policy = "write" }`)
	h.policy("readers", `node { policy = "read" }`)
	_, token := h.user("racks")
	got, _, err := connectNomad(t, h, token.SecretID).ACLIdentity().CreateClientIntroductionToken(&nomad.ACLIdentityClientIntroductionTokenRequest{TTL: 10 * time.Minute, NodeName: "edge-7"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	parsed, err := pki.ParseToken(got.JWT)
	if err != nil {
		t.Fatal(err)
	}
	claims, err := pki.ReadIntroduction(parsed)
	if err != nil || claims.NodeName != "edge-7" || claims.NodePool != "default" || claims.Expires-claims.Issued != 600 {
		t.Errorf("%+v, %v", claims, err)
	}
	_, reader := h.user("readers")
	if _, _, err := connectNomad(t, h, reader.SecretID).ACLIdentity().CreateClientIntroductionToken(nil, nil); err == nil || !strings.Contains(err.Error(), "403") {
		t.Errorf("without node:write: %v", err)
	}
}

func TestNomadsClientBootstraps(t *testing.T) {
	h := newHarness(t, withUsers(t))
	_, _, err := connectNomad(t, h, "").ACLTokens().Bootstrap(nil)
	if err == nil || !strings.Contains(err.Error(), "400") || !strings.Contains(err.Error(), "ACL bootstrap already done (reset index: ") {
		t.Errorf("a stranger: %v", err)
	}
	if _, _, err := connectNomad(t, h, operatorToken).ACLTokens().BootstrapOpts("guess", nil); err == nil || !strings.Contains(err.Error(), "not a UUID") {
		t.Errorf("with a secret that can be guessed: %v", err)
	}
}

// TestNomadsClientLogsIn creates an auth method and a binding rule with Nomad's client, and logs in.
func TestNomadsClientLogsIn(t *testing.T) {
	h, p := newHarness(t, withUsers(t)), idp.New(t)
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	h.policy("readers", `namespace "default" { policy = "read" }`)
	operator, stranger := connectNomad(t, h, operatorToken), connectNomad(t, h, "")
	method, _, err := operator.ACLAuthMethods().Create(&nomad.ACLAuthMethod{
		Name: "ci", Type: nomad.ACLAuthMethodTypeJWT, TokenLocality: nomad.ACLAuthMethodTokenLocalityLocal, MaxTokenTTL: time.Hour, Default: true,
		Config: &nomad.ACLAuthMethodConfig{
			OIDCDiscoveryURL: p.URL, DiscoveryCaPem: []string{p.CA}, SigningAlgs: []string{"ES256"}, BoundAudiences: []string{idp.ClientID},
			ListClaimMappings: map[string]string{"groups": "groups"},
		},
	}, nil)
	must(err)
	if method.MaxTokenTTL != time.Hour || method.CreateIndex == 0 || method.CreateTime.IsZero() {
		t.Errorf("the method is %+v", method)
	}
	method.TokenNameFormat = "from ${auth_method_name}"
	method, _, err = operator.ACLAuthMethods().Update(method, nil)
	must(err)
	if again, _, err := operator.ACLAuthMethods().Get("ci", nil); err != nil || again.TokenNameFormat != method.TokenNameFormat || again.Config.BoundAudiences[0] != idp.ClientID {
		t.Errorf("the method is %+v, %v", again, err)
	}
	if list, _, err := stranger.ACLAuthMethods().List(nil); err != nil || len(list) != 1 || list[0].Name != "ci" || !list[0].Default {
		t.Errorf("the list for everyone is %v, %v", list, err)
	}
	if _, _, err := stranger.ACLAuthMethods().Get("ci", nil); err == nil || !strings.Contains(err.Error(), "403") {
		t.Errorf("the method for everyone: %v", err)
	}
	_, _, err = operator.ACLBindingRules().Create(&nomad.ACLBindingRule{AuthMethod: "ci", Selector: `"dev" in list.group`, BindType: "policy", BindName: "readers"}, nil)
	if err == nil || !strings.Contains(err.Error(), "list.(groups)") {
		t.Errorf("a selector with a mistake: %v", err)
	}
	rule, _, err := operator.ACLBindingRules().Create(&nomad.ACLBindingRule{AuthMethod: "ci", Selector: `"dev" in list.groups`, BindType: "policy", BindName: "readers"}, nil)
	must(err)
	rule.Description = "developers look"
	rule, _, err = operator.ACLBindingRules().Update(rule, nil)
	must(err)
	if list, _, err := operator.ACLBindingRules().List(nil); err != nil || len(list) != 1 || list[0].ID != rule.ID || list[0].Description != rule.Description {
		t.Errorf("the rules are %v, %v", list, err)
	}
	if again, _, err := operator.ACLBindingRules().Get(rule.ID, nil); err != nil || again.Selector != rule.Selector {
		t.Errorf("the rule is %+v, %v", again, err)
	}
	token, _, err := stranger.ACLAuth().Login(&nomad.ACLLoginRequest{AuthMethodName: "ci", LoginToken: p.Sign(p.Claims(map[string]any{"groups": []string{"dev"}}))}, nil)
	must(err)
	if token.Name != "from ci" || token.ExpirationTime == nil || len(token.Policies) != 1 {
		t.Errorf("the token is %+v", token)
	}
	if _, _, err := connectNomad(t, h, token.SecretID).Jobs().List(nil); err != nil {
		t.Errorf("with the token: %v", err)
	}
	_, _, err = stranger.ACLAuth().Login(&nomad.ACLLoginRequest{AuthMethodName: "ci", LoginToken: p.Sign(p.Claims(nil))}, nil)
	if err == nil || !strings.Contains(err.Error(), "403") || !strings.Contains(err.Error(), "binding rules") {
		t.Errorf("without a group: %v", err)
	}
	if _, err := operator.ACLAuthMethods().Delete("ci", nil); err == nil || !strings.Contains(err.Error(), "binding rules") {
		t.Errorf("the deletion of a method with rules: %v", err)
	}
	_, err = operator.ACLBindingRules().Delete(rule.ID, nil)
	must(err)
	_, err = operator.ACLAuthMethods().Delete("ci", nil)
	must(err)
}

// TestNomadsClientLogsInWithABrowser takes the place of the browser between Nomad's client and a provider.
func TestNomadsClientLogsInWithABrowser(t *testing.T) {
	h, p := newHarness(t, withUsers(t)), idp.New(t)
	operator, stranger := connectNomad(t, h, operatorToken), connectNomad(t, h, "")
	const redirect = "http://localhost:4649/oidc/callback"
	method, _, err := operator.ACLAuthMethods().Create(&nomad.ACLAuthMethod{
		Name: "sso", Type: nomad.ACLAuthMethodTypeOIDC, TokenLocality: nomad.ACLAuthMethodTokenLocalityGlobal, MaxTokenTTL: time.Hour,
		Config: &nomad.ACLAuthMethodConfig{
			OIDCDiscoveryURL: p.URL, DiscoveryCaPem: []string{p.CA}, OIDCClientID: idp.ClientID, OIDCClientSecret: idp.ClientSecret, OIDCEnablePKCE: true,
			SigningAlgs: []string{"ES256"}, AllowedRedirectURIs: []string{redirect}, ListClaimMappings: map[string]string{"groups": "groups"},
		},
	}, nil)
	if err != nil || method.Config.OIDCClientSecret != "redacted" {
		t.Fatal(method, err)
	}
	if _, _, err := operator.ACLAuthMethods().Update(method, nil); err != nil { // with the redacted secret
		t.Fatal(err)
	}
	if _, _, err := operator.ACLBindingRules().Create(&nomad.ACLBindingRule{AuthMethod: "sso", Selector: `"admins" in list.groups`, BindType: "management"}, nil); err != nil {
		t.Fatal(err)
	}
	browser := h.browser(p)
	login := func(groups ...string) (*nomad.ACLToken, error) {
		t.Helper()
		p.SetUser(map[string]any{"sub": "ana", "groups": groups})
		begun, _, err := stranger.ACLAuth().GetAuthURL(&nomad.ACLOIDCAuthURLRequest{AuthMethodName: "sso", RedirectURI: redirect, ClientNonce: "nonce-of-the-client"}, nil)
		if err != nil {
			return nil, err
		}
		answer := browser(begun.AuthURL)
		complete := &nomad.ACLOIDCCompleteAuthRequest{
			AuthMethodName: "sso", RedirectURI: redirect, ClientNonce: "nonce-of-the-client", State: answer.Get("state"), Code: answer.Get("code"), Iss: answer.Get("iss"),
		}
		token, _, err := stranger.ACLAuth().CompleteAuth(complete, nil)
		if _, _, again := stranger.ACLAuth().CompleteAuth(complete, nil); again == nil {
			t.Error("a login is completed twice")
		}
		return token, err
	}
	token, err := login("admins")
	if err != nil || token.Type != "management" || !token.Global {
		t.Fatal(token, err)
	}
	if _, _, err := connectNomad(t, h, token.SecretID).ACLTokens().List(nil); err != nil {
		t.Errorf("with the token: %v", err)
	}
	if _, err := login("others"); err == nil || !strings.Contains(err.Error(), "binding rules") {
		t.Errorf("another group: %v", err)
	}
	if _, _, err := stranger.ACLAuth().GetAuthURL(&nomad.ACLOIDCAuthURLRequest{AuthMethodName: "sso", RedirectURI: "https://evil.example", ClientNonce: "n"}, nil); err == nil || !strings.Contains(err.Error(), "AllowedRedirectURIs") {
		t.Errorf("another redirect address: %v", err)
	}
}

// browser returns a function that opens an address of a provider, and returns the parameters with which it sends the
// browser back.
func (h *harness) browser(p *idp.Provider) func(address string) url.Values {
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM([]byte(p.CA))
	c := &http.Client{
		Transport:     &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12}, DisableKeepAlives: true},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	return func(address string) url.Values {
		h.t.Helper()
		resp, err := c.Get(address)
		if err != nil {
			h.t.Fatal(err)
		}
		defer resp.Body.Close()
		back, err := url.Parse(resp.Header.Get("Location"))
		if err != nil || resp.StatusCode != http.StatusFound {
			h.t.Fatalf("the provider answers %s: %v", resp.Status, err)
		}
		return back.Query()
	}
}
