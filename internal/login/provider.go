// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package login

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/go-jose/go-jose/v4"

	"github.com/reeve-run/reeve/api"
)

// A Provider is an identity provider as an auth method describes it. It keeps the provider's keys, and
// is safe for concurrent use.
type Provider struct {
	method *api.ACLAuthMethod
	fetch  *fetcher
	tokens check

	mu    sync.Mutex // held during a fetch, which has a time limit
	known *discovery
	tried time.Time
	err   error // of the last fetch
}

// defaultSkew is the tolerated difference of clocks of a method that does not set it.
const defaultSkew = time.Minute

// New returns the provider of a valid method, with its client secret. It sends no request.
func New(method *api.ACLAuthMethod, secret string) (*Provider, error) {
	config := *method.Config
	config.OIDCClientSecret = secret
	own := *method
	own.Config = &config
	fetch, err := newFetcher(append([]string{config.JWKSCACert}, config.DiscoveryCaPem...)...)
	if err != nil {
		return nil, err
	}
	p := &Provider{method: &own, fetch: fetch}
	p.tokens = check{
		algorithms: algorithms(config.SigningAlgs), issuers: config.BoundIssuer, audiences: config.BoundAudiences,
		expiry: max(config.ExpirationLeeway, 0), notBefore: max(config.NotBeforeLeeway, 0), skew: max(config.ClockSkewLeeway, 0),
	}
	if config.ClockSkewLeeway == 0 {
		p.tokens.skew = defaultSkew
	}
	switch {
	case len(config.JWTValidationPubKeys) > 0:
		static, err := parseKeys(config.JWTValidationPubKeys)
		if err != nil {
			return nil, err
		}
		p.tokens.keys = static
	case config.JWKSURL != "":
		p.tokens.keys = &remoteKeys{fetch: fetch, url: func(context.Context, time.Time) (string, error) { return config.JWKSURL, nil }}
	default:
		p.tokens.keys = &remoteKeys{fetch: fetch, url: func(ctx context.Context, now time.Time) (string, error) {
			d, err := p.discover(ctx, now)
			if err != nil {
				return "", err
			}
			return d.JWKSURI, nil
		}}
	}
	if _, err := TokenName(&own, blank(&config)); err != nil {
		return nil, err
	}
	return p, nil
}

func algorithms(names []string) (all []jose.SignatureAlgorithm) {
	for _, name := range names {
		all = append(all, jose.SignatureAlgorithm(name))
	}
	if len(all) == 0 {
		all = append(all, jose.RS256)
	}
	return all
}

// Verify returns the identity of the user who presents a token of the provider.
func (p *Provider) Verify(ctx context.Context, token string, now time.Time) (*Identity, error) {
	c := p.tokens
	if p.method.Config.OIDCDiscoveryURL != "" {
		d, err := p.discover(ctx, now)
		if err != nil {
			return nil, unavailable(err)
		}
		if len(c.issuers) == 0 {
			c.issuers = []string{d.Issuer}
		}
	}
	found, err := c.verify(ctx, token, now)
	if err != nil {
		return nil, err
	}
	return identify(p.method.Config, found)
}

// A discovery is what a provider says of itself (OpenID Connect Discovery).
type discovery struct {
	Issuer        string `json:"issuer"`
	JWKSURI       string `json:"jwks_uri"`
	Authorization string `json:"authorization_endpoint"`
	Token         string `json:"token_endpoint"`
	UserInfo      string `json:"userinfo_endpoint"`
	NamesIssuer   bool   `json:"authorization_response_iss_parameter_supported"`
	// ClientAuth lists how clients present their secret; none: as HTTP basic authentication.
	ClientAuth []string `json:"token_endpoint_auth_methods_supported"`

	read time.Time
}

// discover returns what the provider says of itself, fetched again now and then.
func (p *Provider) discover(ctx context.Context, now time.Time) (*discovery, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.known != nil && now.Sub(p.known.read) < keysFresh {
		return p.known, nil
	}
	if p.tried.IsZero() || now.Sub(p.tried) >= keysPause {
		p.tried = now
		p.err = p.readDiscovery(ctx, now)
	}
	if p.err != nil && (p.known == nil || now.Sub(p.known.read) >= keysStale) {
		return nil, p.err
	}
	return p.known, nil
}

func (p *Provider) readDiscovery(ctx context.Context, now time.Time) error {
	base := strings.TrimSuffix(p.method.Config.OIDCDiscoveryURL, "/")
	d := &discovery{read: now}
	if err := p.fetch.get(ctx, base+"/.well-known/openid-configuration", d); err != nil {
		return err
	}
	if strings.TrimSuffix(d.Issuer, "/") != base {
		return fmt.Errorf("%s says that it is the issuer %.200q; correct OIDCDiscoveryURL", base, d.Issuer)
	}
	for _, address := range []string{d.JWKSURI, d.Authorization, d.Token, d.UserInfo} {
		if address == "" {
			continue
		}
		if err := api.CheckProviderURL(address); err != nil {
			return fmt.Errorf("%s names an address that is not accepted: %w", base, err)
		}
	}
	if d.JWKSURI == "" {
		return fmt.Errorf("%s names no keys (jwks_uri)", base)
	}
	p.known = d
	return nil
}

// unavailable returns the error of a provider that does not answer as it should.
func unavailable(err error) error {
	return api.Errorf(api.CodeUnavailable, "the identity provider cannot be asked: %v; try again, and ask an administrator of the cluster if it lasts", err)
}
