// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package idp

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"encoding/json"
	"encoding/pem"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"sync"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
)

// The client that the provider knows.
const (
	ClientID     = "reeve"
	ClientSecret = "the-secret-of-the-client"
)

// A Provider runs on loopback until the test ends.
type Provider struct {
	URL string // its issuer
	CA  string // the certificate that verifies it, in PEM

	t testing.TB

	mu      sync.Mutex
	keys    []jose.JSONWebKey // the last one signs
	user    map[string]any    // claims of the user who logs in next
	codes   map[string]*grant
	fetches map[string]int
	answer  http.HandlerFunc // replaces all answers; nil: none
	change  func(claims map[string]any)

	secretInForm bool // clients present their secret in the form, not in a header
}

// A grant is a login that the user confirmed.
type grant struct {
	request url.Values
	user    map[string]any
	used    bool
}

// New starts a provider with one key of the type ES256.
func New(t testing.TB) *Provider {
	t.Helper()
	p := &Provider{t: t, codes: map[string]*grant{}, fetches: map[string]int{}, user: map[string]any{"sub": "ana"}}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /.well-known/openid-configuration", p.discovery)
	mux.HandleFunc("GET /keys", p.keySet)
	mux.HandleFunc("GET /authorize", p.authorize)
	mux.HandleFunc("POST /token", p.token)
	mux.HandleFunc("GET /userinfo", p.userInfo)
	s := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		p.mu.Lock()
		p.fetches[r.URL.Path]++
		answer := p.answer
		p.mu.Unlock()
		if answer != nil {
			answer(w, r)
			return
		}
		mux.ServeHTTP(w, r)
	}))
	t.Cleanup(s.Close)
	p.URL = s.URL
	p.CA = string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw}))
	p.Rotate("first", false)
	return p
}

// Rotate has a new key sign from now on. The earlier ones remain in the key set if keep is set.
func (p *Provider) Rotate(kid string, keep bool) {
	p.t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		p.t.Fatal(err)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if !keep {
		p.keys = nil
	}
	p.keys = append(p.keys, jose.JSONWebKey{Key: key, KeyID: kid, Algorithm: "ES256", Use: "sig"})
}

// SetUser sets the claims of the user who logs in next.
func (p *Provider) SetUser(claims map[string]any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.user = claims
}

// Change has every identity token of a login changed; nil: none is.
func (p *Provider) Change(change func(claims map[string]any)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.change = change
}

// TakeSecretInForm has the provider accept the client's secret only in the form of the request.
func (p *Provider) TakeSecretInForm() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.secretInForm = true
}

// Answer replaces all answers of the provider; nil: it answers as it should.
func (p *Provider) Answer(with http.HandlerFunc) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.answer = with
}

// Fetches returns how often a path was requested.
func (p *Provider) Fetches(path string) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.fetches[path]
}

// Claims returns claims of a token that is valid for ten minutes, with changes.
func (p *Provider) Claims(changes map[string]any) map[string]any {
	now := time.Now().Unix()
	all := map[string]any{"iss": p.URL, "aud": ClientID, "sub": "ana", "iat": now, "exp": now + 600}
	maps.Copy(all, changes)
	for name, value := range all {
		if value == nil {
			delete(all, name)
		}
	}
	return all
}

// Sign returns a token with claims, signed with the newest key.
func (p *Provider) Sign(claims map[string]any) string {
	p.t.Helper()
	p.mu.Lock()
	key := p.keys[len(p.keys)-1]
	p.mu.Unlock()
	return SignWith(p.t, jose.ES256, key, claims)
}

// SignWith returns a token that any key signs.
func SignWith(t testing.TB, alg jose.SignatureAlgorithm, key any, claims map[string]any) string {
	t.Helper()
	payload, err := json.Marshal(claims)
	if err != nil {
		t.Fatal(err)
	}
	s, err := jose.NewSigner(jose.SigningKey{Algorithm: alg, Key: key}, (&jose.SignerOptions{}).WithType("JWT"))
	if err != nil {
		t.Fatal(err)
	}
	jws, err := s.Sign(payload)
	if err != nil {
		t.Fatal(err)
	}
	token, err := jws.CompactSerialize()
	if err != nil {
		t.Fatal(err)
	}
	return token
}
