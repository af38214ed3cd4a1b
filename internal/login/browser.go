// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package login

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/reeve-run/reeve/api"
)

// Logins in a browser (OpenID Connect, code flow).
//
// AuthURL remembers a login, and returns the provider's address for the user. The provider sends the browser
// back to a program of the user with a code. Complete takes the remembered login, so that each is completed
// once, and exchanges the code for an identity token. The state, the nonce and the verifier (PKCE) are
// random and stay on the server: a code that someone injects or steals belongs to another login.

// longestNonce bounds what a program chooses, in bytes.
const longestNonce = 256

// AuthURL returns the address at which a user logs in.
func (p *Provider) AuthURL(ctx context.Context, all *Requests, r *api.OIDCAuthURLRequest, now time.Time) (string, error) {
	switch {
	case !slices.Contains(p.method.Config.AllowedRedirectURIs, r.RedirectURI):
		return "", api.Errorf(api.CodeInvalid, "RedirectURI: %.256q is not one of the AllowedRedirectURIs of auth method %q; an administrator adds it with: reeve acl auth-method update", r.RedirectURI, p.method.Name)
	case r.ClientNonce == "" || len(r.ClientNonce) > longestNonce:
		return "", api.Errorf(api.CodeInvalid, "ClientNonce: must be a random text of 1 to %d bytes", longestNonce)
	}
	d, err := p.discover(ctx, now)
	if err != nil {
		return "", unavailable(err)
	}
	if d.Authorization == "" || d.Token == "" {
		return "", unavailable(errors.New("it names no addresses for logins (authorization_endpoint, token_endpoint)"))
	}
	to, err := url.Parse(d.Authorization)
	if err != nil {
		return "", unavailable(err)
	}
	waits := &pending{
		state: rand.Text(), method: p.method.Name, redirectURI: r.RedirectURI, clientNonce: r.ClientNonce,
		nonce: rand.Text(), verifier: rand.Text() + rand.Text(), ends: now.Add(pendingFor), // a verifier has at least 43 characters
	}
	challenge := sha256.Sum256([]byte(waits.verifier))
	q := to.Query()
	for name, value := range map[string]string{
		"response_type": "code", "client_id": p.method.Config.OIDCClientID, "redirect_uri": r.RedirectURI, "scope": p.scopes(),
		"state": waits.state, "nonce": waits.nonce, "code_challenge_method": "S256", "code_challenge": base64.RawURLEncoding.EncodeToString(challenge[:]),
	} {
		q.Set(name, value)
	}
	to.RawQuery = q.Encode()
	all.add(waits, now)
	return to.String(), nil
}

func (p *Provider) scopes() string {
	scopes := []string{"openid"}
	for _, s := range p.method.Config.OIDCScopes {
		if !slices.Contains(scopes, s) {
			scopes = append(scopes, s)
		}
	}
	return strings.Join(scopes, " ")
}

var errNotPending = api.Errorf(api.CodeForbidden, "this login is not known: it was completed, has expired after %s, or began at a server that no longer leads; begin the login again", pendingFor)

// Complete returns the identity of the user who returns from the provider.
func (p *Provider) Complete(ctx context.Context, all *Requests, r *api.OIDCCompleteAuthRequest, now time.Time) (*Identity, error) {
	if r.State == "" || r.Code == "" {
		return nil, api.Errorf(api.CodeInvalid, "State, Code: are missing; set them to the parameters state and code with which the provider sent the browser back")
	}
	waits := all.take(r.State, now)
	switch {
	case waits == nil:
		return nil, errNotPending
	case waits.method != p.method.Name, waits.redirectURI != r.RedirectURI,
		subtle.ConstantTimeCompare([]byte(waits.clientNonce), []byte(r.ClientNonce)) != 1:
		return nil, api.Errorf(api.CodeForbidden, "the login began with another auth method, redirect address or nonce; begin the login again")
	}
	d, err := p.discover(ctx, now)
	switch {
	case err != nil:
		return nil, unavailable(err)
	case r.Iss != "" && r.Iss != d.Issuer, r.Iss == "" && d.NamesIssuer:
		return nil, api.Errorf(api.CodeForbidden, "the answer is of another identity provider (iss %.200q), not of %s; begin the login again", r.Iss, d.Issuer)
	}
	token, access, err := p.exchange(ctx, d, r.Code, waits)
	if err != nil {
		return nil, err
	}
	found, err := p.verifyIdentity(ctx, d, token, waits.nonce, now)
	if err != nil {
		return nil, err
	}
	if d.UserInfo != "" && access != "" && !p.method.Config.OIDCDisableUserInfo {
		if err := p.addUserInfo(ctx, d, access, found); err != nil {
			return nil, err
		}
	}
	return identify(p.method.Config, found)
}

// exchange returns the tokens of a code.
func (p *Provider) exchange(ctx context.Context, d *discovery, code string, waits *pending) (identity, access string, err error) {
	config := p.method.Config
	form := url.Values{
		"grant_type": {"authorization_code"}, "code": {code}, "redirect_uri": {waits.redirectURI}, "code_verifier": {waits.verifier},
	}
	basic := config.OIDCClientSecret != "" && (len(d.ClientAuth) == 0 || slices.Contains(d.ClientAuth, "client_secret_basic"))
	if !basic {
		form.Set("client_id", config.OIDCClientID)
	}
	if !basic && config.OIDCClientSecret != "" {
		form.Set("client_secret", config.OIDCClientSecret)
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, d.Token, strings.NewReader(form.Encode()))
	if err != nil {
		return "", "", err
	}
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	if basic {
		r.SetBasicAuth(url.QueryEscape(config.OIDCClientID), url.QueryEscape(config.OIDCClientSecret))
	}
	var answer struct {
		ID     string `json:"id_token"`
		Access string `json:"access_token"`
	}
	err = p.fetch.do(r, &answer)
	var refused *answerError
	switch {
	case errors.As(err, &refused) && refused.status/100 == 4:
		return "", "", api.Errorf(api.CodeForbidden, "the identity provider refuses the login: %s; begin again, and ask an administrator of the cluster to compare OIDCClientID, OIDCClientSecret and AllowedRedirectURIs with the provider if it lasts", refused.reason())
	case err != nil:
		return "", "", unavailable(err)
	case answer.ID == "":
		return "", "", unavailable(errors.New("its answer contains no identity token (id_token)"))
	}
	return answer.ID, answer.Access, nil
}

// reason returns the error code of an OAuth answer; the description could repeat a secret.
func (e *answerError) reason() string {
	var answer struct {
		Error string `json:"error"`
	}
	if json.Unmarshal(e.text, &answer) != nil || answer.Error == "" {
		return fmt.Sprintf("status %d", e.status)
	}
	return fmt.Sprintf("%.64q", answer.Error)
}

// verifyIdentity returns the claims of an identity token.
func (p *Provider) verifyIdentity(ctx context.Context, d *discovery, token, nonce string, now time.Time) (claims, error) {
	c := p.tokens
	c.issuers, c.audiences = []string{d.Issuer}, []string{p.method.Config.OIDCClientID}
	found, err := c.verify(ctx, token, now)
	if err != nil {
		return nil, err
	}
	audience, err := found.audience()
	if err != nil {
		return nil, err
	}
	party, named := found["azp"]
	got, _ := found["nonce"].(string)
	switch bound := p.method.Config.BoundAudiences; {
	case (named || len(audience) > 1) && party != p.method.Config.OIDCClientID:
		return nil, refuse("it was issued to another client (azp)")
	case len(bound) > 0 && !slices.ContainsFunc(audience, func(a string) bool { return slices.Contains(bound, a) }):
		return nil, refuse("it is for another audience than this cluster: %.200q", audience)
	case len(p.method.Config.BoundIssuer) > 0 && !slices.Contains(p.method.Config.BoundIssuer, d.Issuer):
		return nil, refuse("its issuer %.200q is not one that the method accepts", d.Issuer)
	case subtle.ConstantTimeCompare([]byte(got), []byte(nonce)) != 1:
		return nil, refuse("it belongs to another login (nonce)")
	}
	return found, nil
}

// addUserInfo adds the claims that the provider tells only at its UserInfo endpoint. Those of the identity
// token, which is signed, have precedence.
func (p *Provider) addUserInfo(ctx context.Context, d *discovery, access string, found claims) error {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, d.UserInfo, nil)
	if err != nil {
		return unavailable(err)
	}
	r.Header.Set("Authorization", "Bearer "+access)
	var more userInfo
	if err := p.fetch.do(r, &more); err != nil {
		return unavailable(err)
	}
	if more.claims["sub"] != found["sub"] {
		return refuse("the UserInfo endpoint tells about another user")
	}
	signed := maps.Clone(found)
	maps.Copy(found, more.claims)
	maps.Copy(found, signed)
	return nil
}

// userInfo is an answer with claims, whose numbers keep their text.
type userInfo struct{ claims claims }

// UnmarshalJSON implements json.Unmarshaler.
func (u *userInfo) UnmarshalJSON(text []byte) error {
	d := json.NewDecoder(strings.NewReader(string(text)))
	d.UseNumber()
	return d.Decode(&u.claims)
}
