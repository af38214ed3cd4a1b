// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package acme

import (
	"fmt"
	"log/slog"
	"net/url"
	"regexp"
	"slices"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/router/certs"
	"github.com/reeve-run/reeve/internal/router/variables"
)

// DefaultDirectory is the directory of Let's Encrypt.
const DefaultDirectory = "https://acme-v02.api.letsencrypt.org/directory"

// DefaultPrefix is the default of Config.Prefix.
const DefaultPrefix = "acme"

// MaxDomains bounds the domains of an issuer.
const MaxDomains = 100

// Types of challenges.
const (
	HTTP01    = "http-01"
	TLSALPN01 = "tls-alpn-01"
)

// Config configures an issuer.
type Config struct {
	Domains    []string // one certificate each
	RouteHosts []string // patterns of hosts of routes that also get one: a domain, or "*." and a domain
	Email      string   // contact of the account; may be empty
	Agreed     bool     // reports whether the operator agrees to the authority's terms of service
	Directory  string   // URL of the authority
	CA         string   // file with the roots that verify the directory's server; "": those of the system
	Prefix     string   // path of the variables
	Namespace  string   // of the variables
	Challenges []string // enabled types; none: both

	Open   variables.Open
	Store  *certs.Store
	Logger *slog.Logger
}

// prefixes are the paths that leave room for a domain in the path of a variable.
var prefixes = regexp.MustCompile(`^[A-Za-z0-9_-]+(/[A-Za-z0-9_-]+)*$`)

const maxPrefix = 32

// Problems returns errors of the configuration, each with the setting.
func (c *Config) Problems() (all []string) {
	add := func(format string, args ...any) { all = append(all, fmt.Sprintf("acme: "+format, args...)) }
	if !c.Agreed {
		add("terms_agreed: read the terms of service of the authority, and set terms_agreed = true if you agree to them")
	}
	if len(c.Domains)+len(c.RouteHosts) == 0 {
		add("set domains, or route_hosts to patterns for the hosts of routes")
	}
	if len(c.Domains) > MaxDomains {
		add("domains: has %d domains; at most %d are possible", len(c.Domains), MaxDomains)
	}
	for _, d := range c.Domains {
		if err := CheckDomain(d); err != nil {
			add("domains: %v", err)
		}
	}
	for _, p := range c.RouteHosts {
		if err := checkPattern(p); err != nil {
			add("route_hosts: %v", err)
		}
	}
	if u, err := url.Parse(c.Directory); err != nil || u.Scheme != "https" || u.Host == "" {
		add("directory_url %q: must be a URL that begins with https://", api.Printable(c.Directory, 200))
	}
	if len(c.Prefix) > maxPrefix || !prefixes.MatchString(c.Prefix) || c.Prefix == "nomad" {
		add("variables %q: must be 1 to %d letters, digits, \"-\", \"_\" and \"/\" within, other than nomad", api.Printable(c.Prefix, 200), maxPrefix)
	}
	for _, kind := range c.Challenges {
		if kind != HTTP01 && kind != TLSALPN01 {
			add("challenges: %q: must be %s or %s", kind, HTTP01, TLSALPN01)
		}
	}
	return all
}

func (c *Config) enabled(kind string) bool {
	return len(c.Challenges) == 0 || slices.Contains(c.Challenges, kind)
}
