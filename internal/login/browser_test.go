// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package login

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/testbed/idp"
)

const redirect = "http://localhost:4649/oidc/callback"

func browserMethod(own *idp.Provider) *api.ACLAuthMethod {
	return &api.ACLAuthMethod{
		Name: "sso", Type: api.ACLAuthMethodOIDC, TokenLocality: api.ACLTokenLocal, MaxTokenTTL: time.Hour,
		Config: &api.ACLAuthMethodConfig{
			OIDCDiscoveryURL: own.URL, DiscoveryCaPem: []string{own.CA}, OIDCClientID: idp.ClientID, SigningAlgs: []string{"ES256"},
			AllowedRedirectURIs: []string{redirect}, OIDCScopes: []string{"groups", "openid"},
			ClaimMappings: map[string]string{"sub": "user", "level": "level"}, ListClaimMappings: map[string]string{"groups": "groups"},
		},
	}
}

// A walk is a login, step by step.
type walk struct {
	t   *testing.T
	own *idp.Provider
	p   *Provider
	all *Requests
	now time.Time
}

func newWalk(t *testing.T) *walk {
	t.Helper()
	own := idp.New(t)
	m := browserMethod(own)
	if err := m.Validate(); err != nil {
		t.Fatal(err)
	}
	p, err := New(m, idp.ClientSecret)
	if err != nil {
		t.Fatal(err)
	}
	own.SetUser(map[string]any{"sub": "ana", "level": 3, "groups": []string{"ops"}})
	return &walk{t, own, p, new(Requests), time.Now()}
}

// begin returns the address for the user.
func (w *walk) begin(nonce string) string {
	w.t.Helper()
	address, err := w.p.AuthURL(w.t.Context(), w.all, &api.OIDCAuthURLRequest{AuthMethodName: "sso", RedirectURI: redirect, ClientNonce: nonce}, w.now)
	if err != nil {
		w.t.Fatal(err)
	}
	return address
}

// visit logs the user in at the provider, and returns what the browser would bring back.
func (w *walk) visit(address, nonce string) *api.OIDCCompleteAuthRequest {
	w.t.Helper()
	client := w.p.fetch.client
	resp, err := client.Get(address)
	if err != nil {
		w.t.Fatal(err)
	}
	defer resp.Body.Close()
	back, err := url.Parse(resp.Header.Get("Location"))
	if err != nil || resp.StatusCode != http.StatusFound || !strings.HasPrefix(back.String(), redirect+"?") {
		w.t.Fatalf("the provider answers %s to %s", resp.Status, address)
	}
	q := back.Query()
	return &api.OIDCCompleteAuthRequest{AuthMethodName: "sso", ClientNonce: nonce, State: q.Get("state"), Code: q.Get("code"), Iss: q.Get("iss"), RedirectURI: redirect}
}

func (w *walk) complete(r *api.OIDCCompleteAuthRequest) (*Identity, error) {
	return w.p.Complete(w.t.Context(), w.all, r, w.now)
}

func TestAUserLogsInWithABrowser(t *testing.T) {
	w := newWalk(t)
	id, err := w.complete(w.visit(w.begin("n"), "n"))
	if err != nil {
		t.Fatal(err)
	}
	want := &Identity{map[string]string{"user": "ana", "level": "3"}, map[string][]string{"groups": {"ops"}}}
	if diff := cmp.Diff(want, id); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	w.p.method.Config.OIDCDisableUserInfo = true
	if id, err = w.complete(w.visit(w.begin("n"), "n")); err != nil || len(id.List["groups"]) != 0 {
		t.Errorf("without the UserInfo endpoint: %+v, %v", id, err)
	}
}

func TestAProviderCanTakeTheSecretInTheForm(t *testing.T) {
	w := newWalk(t)
	w.own.TakeSecretInForm()
	if _, err := w.complete(w.visit(w.begin("n"), "n")); err != nil {
		t.Error(err)
	}
}

// TestALoginIsCompletedOnceByItsProgram tries to complete logins of others, and logins twice.
func TestALoginIsCompletedOnceByItsProgram(t *testing.T) {
	for what, change := range map[string]func(w *walk, r *api.OIDCCompleteAuthRequest){
		"another nonce of the program": func(_ *walk, r *api.OIDCCompleteAuthRequest) { r.ClientNonce = "m" },
		"no nonce of the program":      func(_ *walk, r *api.OIDCCompleteAuthRequest) { r.ClientNonce = "" },
		"another redirect address":     func(_ *walk, r *api.OIDCCompleteAuthRequest) { r.RedirectURI += "/x" },
		"another state":                func(_ *walk, r *api.OIDCCompleteAuthRequest) { r.State = "guess" },
		"no state":                     func(_ *walk, r *api.OIDCCompleteAuthRequest) { r.State = "" },
		"no code":                      func(_ *walk, r *api.OIDCCompleteAuthRequest) { r.Code = "" },
		"a guessed code":               func(_ *walk, r *api.OIDCCompleteAuthRequest) { r.Code = "guess" },
		"another issuer":               func(_ *walk, r *api.OIDCCompleteAuthRequest) { r.Iss = "https://evil.example" },
		"no issuer":                    func(_ *walk, r *api.OIDCCompleteAuthRequest) { r.Iss = "" },
		"after its time":               func(w *walk, _ *api.OIDCCompleteAuthRequest) { w.now = w.now.Add(pendingFor) },
		// Both logins are of the attacker's victim: the provider compares the verifier (PKCE).
		"the code of another login": func(w *walk, r *api.OIDCCompleteAuthRequest) { r.Code = w.visit(w.begin("n"), "n").Code },
		"of another method":         func(w *walk, _ *api.OIDCCompleteAuthRequest) { w.p.method.Name = "other" },
		"a wrong client secret":     func(w *walk, _ *api.OIDCCompleteAuthRequest) { w.p.method.Config.OIDCClientSecret = "wrong" },
		"another nonce": func(w *walk, _ *api.OIDCCompleteAuthRequest) {
			w.own.Change(func(c map[string]any) { c["nonce"] = "replayed" })
		},
		"no nonce": func(w *walk, _ *api.OIDCCompleteAuthRequest) {
			w.own.Change(func(c map[string]any) { delete(c, "nonce") })
		},
		"another audience": func(w *walk, _ *api.OIDCCompleteAuthRequest) {
			w.own.Change(func(c map[string]any) { c["aud"] = "other" })
		},
		"several audiences": func(w *walk, _ *api.OIDCCompleteAuthRequest) {
			w.own.Change(func(c map[string]any) { c["aud"] = []string{"other", idp.ClientID} })
		},
		"another party": func(w *walk, _ *api.OIDCCompleteAuthRequest) {
			w.own.Change(func(c map[string]any) { c["azp"] = "other" })
		},
		"an issuer of another one": func(w *walk, _ *api.OIDCCompleteAuthRequest) {
			w.own.Change(func(c map[string]any) { c["iss"] = "https://evil.example" })
		},
		"an expired token": func(w *walk, _ *api.OIDCCompleteAuthRequest) { w.own.Change(func(c map[string]any) { c["exp"] = 1 }) },
		"another user's info": func(w *walk, _ *api.OIDCCompleteAuthRequest) {
			w.own.Change(func(c map[string]any) { c["sub"] = "bob" })
		},
		"a method for others only": func(w *walk, _ *api.OIDCCompleteAuthRequest) {
			w.p.method.Config.BoundIssuer = []string{"https://other"}
		},
	} {
		w := newWalk(t)
		r := w.visit(w.begin("n"), "n")
		change(w, r)
		if id, err := w.complete(r); err == nil || api.CodeOf(err) == api.CodeInternal || strings.Contains(err.Error(), r.Code) && r.Code != "" && r.Code != "guess" {
			t.Errorf("%s: %+v, %v; want a refusal", what, id, err)
		}
	}
	w := newWalk(t)
	r := w.visit(w.begin("n"), "n")
	if _, err := w.complete(r); err != nil {
		t.Fatal(err)
	}
	if _, err := w.complete(r); err != errNotPending {
		t.Errorf("a second time: %v", err)
	}
	// An attempt that fails uses the state up too.
	r = w.visit(w.begin("n"), "n")
	wrong := *r
	wrong.ClientNonce = "guess"
	if _, err := w.complete(&wrong); api.CodeOf(err) != api.CodeForbidden {
		t.Errorf("a guessed nonce: %v", err)
	}
	if _, err := w.complete(r); err != errNotPending {
		t.Errorf("after a failure: %v", err)
	}
}

func TestOnlyKnownAddressesReceiveCodes(t *testing.T) {
	w := newWalk(t)
	for _, c := range []struct{ redirect, nonce string }{
		{"http://localhost:4649/oidc/callback/", "n"}, {"http://localhost:4650/oidc/callback", "n"}, {"https://evil.example", "n"}, {"", "n"},
		{redirect + "?x", "n"}, {strings.ToUpper(redirect), "n"}, {redirect, ""}, {redirect, strings.Repeat("n", longestNonce+1)},
	} {
		if _, err := w.p.AuthURL(t.Context(), w.all, &api.OIDCAuthURLRequest{RedirectURI: c.redirect, ClientNonce: c.nonce}, w.now); api.CodeOf(err) != api.CodeInvalid {
			t.Errorf("%q, %.10q: %v", c.redirect, c.nonce, err)
		}
	}
	if w.all.order.Len() != 0 {
		t.Errorf("%d logins are remembered", w.all.order.Len())
	}
	w.own.Answer(func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "no", http.StatusBadGateway) })
	if _, err := w.p.AuthURL(t.Context(), w.all, &api.OIDCAuthURLRequest{RedirectURI: redirect, ClientNonce: "n"}, w.now); api.CodeOf(err) != api.CodeUnavailable {
		t.Errorf("a provider that fails: %v", err)
	}
}

func TestAFloodOfLoginsIsBounded(t *testing.T) {
	var all Requests
	at := func(i int) *pending {
		return &pending{state: fmt.Sprint(i), ends: now.Add(pendingFor)}
	}
	for i := range pendingMost + 10 {
		all.add(at(i), now)
	}
	if len(all.known) != pendingMost || all.order.Len() != pendingMost {
		t.Errorf("%d and %d logins are remembered, want %d", len(all.known), all.order.Len(), pendingMost)
	}
	if all.take("9", now) != nil || all.take("10", now) == nil {
		t.Error("the wrong ones are forgotten")
	}
	all.add(&pending{state: "late", ends: now.Add(2 * pendingFor)}, now.Add(pendingFor))
	if len(all.known) != 1 || all.take("late", now.Add(2*pendingFor)) != nil || len(all.known) != 0 {
		t.Errorf("%d logins are remembered after their time", len(all.known))
	}
}
