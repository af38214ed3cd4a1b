// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package api

import (
	"encoding/json"
	"net/netip"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"
)

// Types of auth methods, and localities of their tokens.
const (
	ACLAuthMethodJWT  = "JWT"  // the user presents a token that an identity provider signed
	ACLAuthMethodOIDC = "OIDC" // the user logs in to an identity provider in a browser

	ACLTokenLocal  = "local"
	ACLTokenGlobal = "global" // without further effect: a cluster is one region
)

// Redacted stands for a stored secret in answers. In a request it keeps the stored one.
const Redacted = "redacted"

// An ACLAuthMethod says how users of an identity provider get tokens. Its form is that of Nomad's API.
type ACLAuthMethod struct {
	Name          string
	Type          string // ACLAuthMethodJWT or ACLAuthMethodOIDC
	TokenLocality string // ACLTokenLocal or ACLTokenGlobal
	// TokenNameFormat is a template for the names of tokens; "": DefaultTokenNameFormat.
	TokenNameFormat string
	MaxTokenTTL     time.Duration // lifetime of its tokens
	Default         bool          // used by logins that name no method; at most one of each type
	Config          *ACLAuthMethodConfig

	CreateTime  time.Time
	ModifyTime  time.Time
	CreateIndex uint64
	ModifyIndex uint64
}

// DefaultTokenNameFormat is the template of methods without one.
const DefaultTokenNameFormat = "${auth_method_type}-${auth_method_name}"

// An ACLAuthMethodConfig describes an identity provider, and what of its tokens is accepted.
type ACLAuthMethodConfig struct {
	// Keys of the type JWT are at exactly one of these places.
	JWTValidationPubKeys []string // in PEM
	JWKSURL              string   // of a JSON Web Key Set
	OIDCDiscoveryURL     string   // of the provider, without /.well-known; the type OIDC needs it

	OIDCClientID        string
	OIDCClientSecret    string               // Redacted in answers; stored encrypted
	OIDCClientAssertion *OIDCClientAssertion // not supported: must be nil
	OIDCEnablePKCE      bool                 // without effect: PKCE is always used
	OIDCDisableUserInfo bool                 // do not ask the provider's UserInfo endpoint for claims
	OIDCScopes          []string             // besides openid

	BoundAudiences      []string // one of them must be in the token's audience
	BoundIssuer         []string // one of them must be the token's issuer; none: any
	AllowedRedirectURIs []string // exact
	DiscoveryCaPem      []string // certificates that verify OIDCDiscoveryURL; none: those of the system
	JWKSCACert          string   // certificates that verify JWKSURL; "": those of the system
	SigningAlgs         []string // accepted algorithms; none: RS256

	// Differences of clocks that are tolerated. Those about expiry and not-before add to
	// ClockSkewLeeway, whose 0 means 60 s. Negative ones mean none.
	ExpirationLeeway time.Duration
	NotBeforeLeeway  time.Duration
	ClockSkewLeeway  time.Duration

	ClaimMappings     map[string]string // claim -> name after "value." in selectors
	ListClaimMappings map[string]string // claim -> name after "list."
	VerboseLogging    bool              // log the mapped claims at level debug
}

// An OIDCClientAssertion is a credential of clients that Reeve does not support.
type OIDCClientAssertion struct {
	KeySource string
}

// An ACLAuthMethodStub is a method in a list, which everyone may read.
type ACLAuthMethodStub struct {
	Name        string
	Type        string
	Default     bool
	CreateIndex uint64
	ModifyIndex uint64
}

// Stub returns the method for a list.
func (m *ACLAuthMethod) Stub() *ACLAuthMethodStub {
	return &ACLAuthMethodStub{Name: m.Name, Type: m.Type, Default: m.Default, CreateIndex: m.CreateIndex, ModifyIndex: m.ModifyIndex}
}

// Show returns the method without its secret.
func (m *ACLAuthMethod) Show() *ACLAuthMethod {
	shown := *m
	if m.Config != nil {
		config := *m.Config
		if config.OIDCClientSecret != "" {
			config.OIDCClientSecret = Redacted
		}
		shown.Config = &config
	}
	return &shown
}

// SigningAlgorithms are those that methods may accept. Algorithms with shared secrets are not
// among them: a public key must never serve as one.
var SigningAlgorithms = []string{"RS256", "RS384", "RS512", "ES256", "ES384", "ES512", "PS256", "PS384", "PS512", "EdDSA"}

// Limits of auth methods.
const (
	maxAuthList  = 100
	maxAuthText  = 2048
	maxAuthPEM   = 64 << 10
	maxLeeway    = 24 * time.Hour
	maxTokenName = 256
)

var mappedName = regexp.MustCompile(`^[a-zA-Z][a-zA-Z0-9_]{0,63}$`)

// Validate returns an error if the method is invalid; package login parses its keys and templates.
func (m *ACLAuthMethod) Validate() error {
	var c complaints
	if !aclName.MatchString(m.Name) {
		c.add("Name: %.128q %s", m.Name, aclNameRule)
	}
	if m.TokenLocality != ACLTokenLocal && m.TokenLocality != ACLTokenGlobal {
		c.add("TokenLocality: %.64q must be %q or %q", m.TokenLocality, ACLTokenLocal, ACLTokenGlobal)
	}
	if m.MaxTokenTTL < MinACLTokenTTL || m.MaxTokenTTL > MaxACLTokenTTL {
		c.add("MaxTokenTTL: is %s; it must be from %s to %s", m.MaxTokenTTL, MinACLTokenTTL, MaxACLTokenTTL)
	}
	if len(m.TokenNameFormat) > maxTokenName {
		c.add("TokenNameFormat: has %d bytes; at most %d are allowed", len(m.TokenNameFormat), maxTokenName)
	}
	switch {
	case m.Config == nil:
		c.add("Config: is missing")
	case m.Type == ACLAuthMethodJWT:
		m.Config.validateJWT(&c)
	case m.Type == ACLAuthMethodOIDC:
		m.Config.validateOIDC(&c)
	default:
		c.add("Type: %.64q must be %q or %q", m.Type, ACLAuthMethodJWT, ACLAuthMethodOIDC)
	}
	if m.Config != nil {
		m.Config.validate(&c)
	}
	return c.err("the auth method is not valid")
}

func (f *ACLAuthMethodConfig) validateJWT(c *complaints) {
	places := 0
	for _, set := range []bool{len(f.JWTValidationPubKeys) > 0, f.JWKSURL != "", f.OIDCDiscoveryURL != ""} {
		if set {
			places++
		}
	}
	if places != 1 {
		c.add("Config: %d of JWTValidationPubKeys, JWKSURL and OIDCDiscoveryURL are set; set exactly one", places)
	}
	if f.OIDCClientID != "" || f.OIDCClientSecret != "" || len(f.AllowedRedirectURIs) > 0 {
		c.add("Config: OIDCClientID, OIDCClientSecret and AllowedRedirectURIs belong to the type %q; remove them", ACLAuthMethodOIDC)
	}
}

func (f *ACLAuthMethodConfig) validateOIDC(c *complaints) {
	if f.OIDCDiscoveryURL == "" || f.OIDCClientID == "" {
		c.add("Config: the type %q needs OIDCDiscoveryURL and OIDCClientID", ACLAuthMethodOIDC)
	}
	if len(f.AllowedRedirectURIs) == 0 {
		c.add("Config: AllowedRedirectURIs is empty; the command line uses http://localhost:4649/oidc/callback")
	}
	if len(f.JWTValidationPubKeys) > 0 || f.JWKSURL != "" {
		c.add("Config: JWTValidationPubKeys and JWKSURL belong to the type %q; remove them", ACLAuthMethodJWT)
	}
}

func (f *ACLAuthMethodConfig) validate(c *complaints) {
	if f.OIDCClientAssertion != nil {
		c.add("Config.OIDCClientAssertion: is not supported; use OIDCClientSecret")
	}
	checkProviderURL(c, "JWKSURL", f.JWKSURL)
	checkProviderURL(c, "OIDCDiscoveryURL", f.OIDCDiscoveryURL)
	for _, uri := range f.AllowedRedirectURIs {
		if u, err := url.Parse(uri); err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Host == "" || u.Fragment != "" {
			c.add("Config.AllowedRedirectURIs: %.256q is not an address such as http://localhost:4649/oidc/callback", uri)
		}
	}
	for _, alg := range f.SigningAlgs {
		if !slices.Contains(SigningAlgorithms, alg) {
			c.add("Config.SigningAlgs: %.64q is not one of %s", alg, strings.Join(SigningAlgorithms, ", "))
		}
	}
	for name, texts := range map[string][]string{
		"OIDCScopes": f.OIDCScopes, "BoundAudiences": f.BoundAudiences, "BoundIssuer": f.BoundIssuer, "AllowedRedirectURIs": f.AllowedRedirectURIs,
		"SigningAlgs": f.SigningAlgs, "OIDCClientID": {f.OIDCClientID}, "OIDCClientSecret": {f.OIDCClientSecret},
	} {
		if len(texts) > maxAuthList || slices.ContainsFunc(texts, func(s string) bool { return len(s) > maxAuthText }) {
			c.add("Config.%s: at most %d entries of %d bytes are allowed", name, maxAuthList, maxAuthText)
		}
	}
	if n := len(strings.Join(f.JWTValidationPubKeys, "")) + len(strings.Join(f.DiscoveryCaPem, "")) + len(f.JWKSCACert); n > maxAuthPEM {
		c.add("Config: the keys and certificates have %d bytes; at most %d are allowed", n, maxAuthPEM)
	}
	for _, d := range []time.Duration{f.ExpirationLeeway, f.NotBeforeLeeway, f.ClockSkewLeeway} {
		if d > maxLeeway {
			c.add("Config: a leeway is %s; at most %s is allowed", d, maxLeeway)
		}
	}
	checkMappings(c, "ClaimMappings", f.ClaimMappings)
	checkMappings(c, "ListClaimMappings", f.ListClaimMappings)
}

func checkMappings(c *complaints, field string, mappings map[string]string) {
	seen := map[string]bool{}
	for claim, name := range mappings {
		switch {
		case claim == "" || len(claim) > maxAuthText || len(mappings) > maxAuthList:
			c.add("Config.%s: a claim is empty or longer than %d bytes, or there are more than %d", field, maxAuthText, maxAuthList)
			return
		case !mappedName.MatchString(name):
			c.add("Config.%s: the name %.64q must be a letter and up to 63 letters, digits and \"_\"", field, name)
		case seen[name]:
			c.add("Config.%s: two claims have the name %q", field, name)
		}
		seen[name] = true
	}
}

// checkProviderURL accepts https, and http on this machine.
func checkProviderURL(c *complaints, field, text string) {
	if text == "" {
		return
	}
	if err := CheckProviderURL(text); err != nil {
		c.add("Config.%s: %v", field, err)
	}
}

// CheckProviderURL returns an error unless a server may send requests to an address of an identity
// provider: anyone between could replace the keys without TLS.
func CheckProviderURL(text string) error {
	u, err := url.Parse(text)
	switch {
	case err != nil || u.Host == "" || len(text) > maxAuthText || u.User != nil || u.Fragment != "":
		return Errorf(CodeInvalid, "%.256q is not an address such as https://accounts.example.com", text)
	case u.Scheme == "https":
		return nil
	case u.Scheme == "http" && isLoopback(u.Hostname()):
		return nil
	}
	return Errorf(CodeInvalid, "%.256q must begin with https://", text)
}

func isLoopback(host string) bool {
	address, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && address.IsLoopback()
}

// plainACLAuthMethod is ACLAuthMethod without its methods.
type plainACLAuthMethod ACLAuthMethod

// MarshalJSON writes the duration as text, such as "1h0m0s".
func (m ACLAuthMethod) MarshalJSON() ([]byte, error) {
	return json.Marshal(struct {
		plainACLAuthMethod
		MaxTokenTTL string
	}{plainACLAuthMethod(m), m.MaxTokenTTL.String()})
}

// UnmarshalJSON reads the duration as text or as nanoseconds.
func (m *ACLAuthMethod) UnmarshalJSON(text []byte) error {
	in := struct {
		*plainACLAuthMethod
		MaxTokenTTL json.RawMessage
	}{plainACLAuthMethod: (*plainACLAuthMethod)(m)}
	if err := json.Unmarshal(text, &in); err != nil {
		return err
	}
	return readOptional(in.MaxTokenTTL, "MaxTokenTTL", &m.MaxTokenTTL)
}

// plainACLAuthMethodConfig is ACLAuthMethodConfig without its methods.
type plainACLAuthMethodConfig ACLAuthMethodConfig

// MarshalJSON writes durations as text, such as "1m0s".
func (f ACLAuthMethodConfig) MarshalJSON() ([]byte, error) {
	return json.Marshal(struct {
		plainACLAuthMethodConfig
		ExpirationLeeway string
		NotBeforeLeeway  string
		ClockSkewLeeway  string
	}{plainACLAuthMethodConfig(f), f.ExpirationLeeway.String(), f.NotBeforeLeeway.String(), f.ClockSkewLeeway.String()})
}

// UnmarshalJSON reads durations as text or as nanoseconds.
func (f *ACLAuthMethodConfig) UnmarshalJSON(text []byte) error {
	in := struct {
		*plainACLAuthMethodConfig
		ExpirationLeeway json.RawMessage
		NotBeforeLeeway  json.RawMessage
		ClockSkewLeeway  json.RawMessage
	}{plainACLAuthMethodConfig: (*plainACLAuthMethodConfig)(f)}
	if err := json.Unmarshal(text, &in); err != nil {
		return err
	}
	if err := readOptional(in.ExpirationLeeway, "ExpirationLeeway", &f.ExpirationLeeway); err != nil {
		return err
	}
	if err := readOptional(in.NotBeforeLeeway, "NotBeforeLeeway", &f.NotBeforeLeeway); err != nil {
		return err
	}
	return readOptional(in.ClockSkewLeeway, "ClockSkewLeeway", &f.ClockSkewLeeway)
}

// readOptional is readDuration for settings whose absence clients of Nomad write as "".
func readOptional(text json.RawMessage, name string, into *time.Duration) error {
	if string(text) == `""` {
		return nil
	}
	return readDuration(text, name, into)
}
