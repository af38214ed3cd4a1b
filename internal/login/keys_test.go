// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package login

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/testbed/idp"
)

// remoteMethod returns a method whose keys a provider has; by discovery, or at their address.
func remoteMethod(p *idp.Provider, discovery bool) *api.ACLAuthMethod {
	m := &api.ACLAuthMethod{
		Name: "sso", Type: api.ACLAuthMethodJWT, TokenLocality: api.ACLTokenLocal, MaxTokenTTL: time.Hour,
		Config: &api.ACLAuthMethodConfig{JWKSURL: p.URL + "/keys", JWKSCACert: p.CA, SigningAlgs: []string{"ES256"}, BoundAudiences: []string{idp.ClientID}},
	}
	if discovery {
		m.Config.JWKSURL, m.Config.JWKSCACert = "", ""
		m.Config.OIDCDiscoveryURL, m.Config.DiscoveryCaPem = p.URL, []string{p.CA}
	}
	return m
}

func TestRotatedKeysAreFetched(t *testing.T) {
	for _, discovery := range []bool{false, true} {
		own := idp.New(t)
		p := provider(t, remoteMethod(own, discovery))
		now := time.Now()
		old := own.Sign(own.Claims(nil))
		verify := func(what, token string, ok bool) {
			t.Helper()
			if _, err := p.Verify(t.Context(), token, now); (err == nil) != ok {
				t.Errorf("%s: %v, want it accepted: %t", what, err, ok)
			}
		}
		verify("the first key", old, true)
		for range 5 {
			verify("the first key again", old, true)
		}
		if n := own.Fetches("/keys"); n != 1 {
			t.Errorf("the keys were fetched %d times, want once", n)
		}
		own.Rotate("second", true)
		now = now.Add(keysPause)
		verify("the second key", own.Sign(own.Claims(nil)), true)
		verify("the first key, which is still published", old, true)
		own.Rotate("third", false)
		now = now.Add(keysFresh)
		verify("a withdrawn key", old, false)
		verify("the third key", own.Sign(own.Claims(nil)), true)
		fetched := own.Fetches("/keys")
		for i := range 100 {
			forged := idp.SignWith(t, jose.ES256, jose.JSONWebKey{Key: newKey(t), KeyID: strings.Repeat("x", i)}, own.Claims(nil))
			verify("an unknown key", forged, false)
		}
		if n := own.Fetches("/keys"); n > fetched+1 {
			t.Errorf("tokens with unknown keys had the keys fetched %d times", n-fetched)
		}
	}
}

// TestAProviderThatFailsIsBounded has the provider misbehave in every way, before and after its keys are known.
func TestAProviderThatFailsIsBounded(t *testing.T) {
	own := idp.New(t)
	token := own.Sign(own.Claims(nil))
	stalled := make(chan struct{})
	defer close(stalled)
	answers := map[string]http.HandlerFunc{
		"an error":      func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "no", http.StatusInternalServerError) },
		"a page":        func(w http.ResponseWriter, _ *http.Request) { w.Write([]byte("<html>")) },
		"another type":  func(w http.ResponseWriter, _ *http.Request) { w.Write([]byte(`{"keys": 7, "issuer": 7}`)) },
		"nothing":       func(w http.ResponseWriter, _ *http.Request) { panic(http.ErrAbortHandler) },
		"a redirection": func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/keys", http.StatusFound) },
		"a huge answer": func(w http.ResponseWriter, _ *http.Request) { w.Write(make([]byte, 2*fetchLimit)) },
		"many keys": func(w http.ResponseWriter, _ *http.Request) {
			w.Write([]byte(`{"keys": [` + strings.Repeat("{},", mostKeys) + `{}]}`))
		},
		"another issuer": func(w http.ResponseWriter, _ *http.Request) {
			w.Write([]byte(`{"issuer": "https://evil.example", "jwks_uri": "https://evil.example/keys"}`))
		},
		"keys in clear": func(w http.ResponseWriter, _ *http.Request) {
			w.Write([]byte(`{"issuer": "` + own.URL + `", "jwks_uri": "http://evil.example/keys"}`))
		},
	}
	for what, answer := range answers {
		own.Answer(answer)
		p := provider(t, remoteMethod(own, true))
		_, err := p.Verify(t.Context(), token, time.Now())
		if api.CodeOf(err) != api.CodeUnavailable || strings.Contains(err.Error(), "Get \"") && len(err.Error()) > 400 {
			t.Errorf("%s: %v, want a provider that cannot be asked", what, err)
		}
	}
	own.Answer(nil)
	p := provider(t, remoteMethod(own, true))
	now := time.Now()
	if _, err := p.Verify(t.Context(), token, now); err != nil {
		t.Fatal(err)
	}
	own.Answer(answers["an error"])
	long := own.Sign(own.Claims(map[string]any{"exp": now.Add(24 * time.Hour).Unix()}))
	if _, err := p.Verify(t.Context(), long, now.Add(keysStale-time.Second)); err != nil {
		t.Errorf("with keys that are %s old: %v", keysStale-time.Second, err)
	}
	if _, err := p.Verify(t.Context(), long, now.Add(keysStale+keysPause)); api.CodeOf(err) != api.CodeUnavailable {
		t.Errorf("with stale keys: %v", err)
	}
	own.Answer(func(_ http.ResponseWriter, r *http.Request) {
		select {
		case <-stalled:
		case <-r.Context().Done():
		}
	})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := provider(t, remoteMethod(own, false)).Verify(ctx, token, now); err == nil {
		t.Error("a canceled login is accepted")
	}
}

// TestKeysOfOtherUsesAreIgnored publishes keys that must not verify a signature.
func TestKeysOfOtherUsesAreIgnored(t *testing.T) {
	own := idp.New(t)
	secret := []byte("0123456789abcdef0123456789abcdef")
	own.Answer(func(w http.ResponseWriter, _ *http.Request) {
		w.Write([]byte(`{"keys": [{"kty": "oct", "kid": "s", "k": "MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY"}, {"kty": "unknown"}, {"kty": "RSA", "n": "AQ", "e": "AQAB"}]}`))
	})
	m := remoteMethod(own, false)
	m.Config.SigningAlgs = append([]string{}, api.SigningAlgorithms...)
	p := provider(t, m)
	for _, alg := range []jose.SignatureAlgorithm{jose.HS256} {
		if _, err := p.Verify(t.Context(), idp.SignWith(t, alg, secret, own.Claims(nil)), time.Now()); api.CodeOf(err) != api.CodeForbidden {
			t.Errorf("%s with a published secret: %v", alg, err)
		}
	}
	if _, err := p.Verify(t.Context(), own.Sign(own.Claims(nil)), time.Now()); api.CodeOf(err) != api.CodeForbidden {
		t.Errorf("with no fitting key: %v", err)
	}
}
