// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package idp

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/go-jose/go-jose/v4"
)

func (p *Provider) discovery(w http.ResponseWriter, _ *http.Request) {
	p.mu.Lock()
	inForm := p.secretInForm
	p.mu.Unlock()
	auth := "client_secret_basic"
	if inForm {
		auth = "client_secret_post"
	}
	answer(w, map[string]any{
		"token_endpoint_auth_methods_supported": []string{auth},
		"issuer":                                p.URL, "jwks_uri": p.URL + "/keys", "authorization_endpoint": p.URL + "/authorize",
		"token_endpoint": p.URL + "/token", "userinfo_endpoint": p.URL + "/userinfo",
		"authorization_response_iss_parameter_supported": true,
	})
}

func (p *Provider) keySet(w http.ResponseWriter, _ *http.Request) {
	p.mu.Lock()
	defer p.mu.Unlock()
	var set jose.JSONWebKeySet
	for _, k := range p.keys {
		set.Keys = append(set.Keys, k.Public())
	}
	answer(w, set)
}

// authorize has the user confirm at once, and sends the browser back.
func (p *Provider) authorize(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	switch {
	case q.Get("response_type") != "code", q.Get("client_id") != ClientID, !slices.Contains(strings.Fields(q.Get("scope")), "openid"),
		q.Get("state") == "", q.Get("nonce") == "", q.Get("code_challenge_method") != "S256", q.Get("code_challenge") == "":
		http.Error(w, "the request lacks something: "+r.URL.RawQuery, http.StatusBadRequest)
		return
	}
	back, err := url.Parse(q.Get("redirect_uri"))
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	code := rand.Text()
	p.mu.Lock()
	p.codes[code] = &grant{request: q, user: p.user}
	p.mu.Unlock()
	back.RawQuery = url.Values{"code": {code}, "state": {q.Get("state")}, "iss": {p.URL}}.Encode()
	http.Redirect(w, r, back.String(), http.StatusFound)
}

// token exchanges a code for an identity token, once.
func (p *Provider) token(w http.ResponseWriter, r *http.Request) {
	id, secret, _ := r.BasicAuth()
	p.mu.Lock()
	g := p.codes[r.PostFormValue("code")]
	valid := g != nil && !g.used
	if valid {
		g.used = true
	}
	change := p.change
	if p.secretInForm {
		id, secret = r.PostFormValue("client_id"), r.PostFormValue("client_secret")
	}
	p.mu.Unlock()
	hash := sha256.Sum256([]byte(r.PostFormValue("code_verifier")))
	switch {
	case id != ClientID || secret != ClientSecret:
		refuse(w, "invalid_client")
		return
	case !valid, r.PostFormValue("grant_type") != "authorization_code", g.request.Get("redirect_uri") != r.PostFormValue("redirect_uri"),
		base64.RawURLEncoding.EncodeToString(hash[:]) != g.request.Get("code_challenge"):
		refuse(w, "invalid_grant")
		return
	}
	claims := p.Claims(map[string]any{"nonce": g.request.Get("nonce")})
	maps.Copy(claims, g.user)
	delete(claims, "groups") // only the UserInfo endpoint tells them
	if change != nil {
		change(claims)
	}
	answer(w, map[string]any{"access_token": r.PostFormValue("code"), "token_type": "Bearer", "id_token": p.Sign(claims)})
}

// userInfo returns the claims of the user for whom a token was granted.
func (p *Provider) userInfo(w http.ResponseWriter, r *http.Request) {
	p.mu.Lock()
	g := p.codes[strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")]
	p.mu.Unlock()
	if g == nil {
		http.Error(w, "unknown token", http.StatusUnauthorized)
		return
	}
	answer(w, g.user)
}

func answer(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	json.NewEncoder(w).Encode(v)
}

func refuse(w http.ResponseWriter, code string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(http.StatusBadRequest)
	json.NewEncoder(w).Encode(map[string]string{"error": code, "error_description": "as the test wants"})
}
