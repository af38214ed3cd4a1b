// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package acme

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/netip"
	"net/url"
	"regexp"
	"strings"
)

var (
	domainName = regexp.MustCompile(`^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?(\.[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?)+$`)
	otherRunes = regexp.MustCompile(`[^a-z0-9_-]`)
)

const (
	maxDomain     = 253
	maxDomainPart = 65 // of a path, in bytes
	maxHostPart   = 20
)

// CheckDomain returns why a domain can have no certificate by the challenges of this package.
func CheckDomain(d string) error {
	switch _, err := netip.ParseAddr(d); {
	case strings.HasPrefix(d, "*"):
		return fmt.Errorf("%.300q: wildcards need challenges by DNS, which the router cannot answer: name each host, or use a certificate from files or variables", d)
	case err == nil:
		return fmt.Errorf("%.300q: must be the name of a host, not an address", d)
	case len(d) > maxDomain || !domainName.MatchString(d):
		return fmt.Errorf("%.300q: must be the name of a host in lower case with at least one dot, as in shop.example.com", d)
	}
	return nil
}

// checkPattern is CheckDomain for a pattern.
func checkPattern(p string) error { return CheckDomain(strings.TrimPrefix(p, "*.")) }

// matches reports whether a host fits a pattern. An asterisk stands for one label.
func matches(pattern, host string) bool {
	parent, ok := strings.CutPrefix(pattern, "*")
	if !ok {
		return pattern == host
	}
	label, found := strings.CutSuffix(host, parent)
	return found && label != "" && !strings.Contains(label, ".")
}

// pathOf returns the path of the variable of a domain. Variables have no dots in their paths, and
// domains no underscores. Each authority has variables of its own: a change of the authority, for
// example from staging to production, orders again, and two routers with different authorities do
// not compete.
func (c *Config) pathOf(domain string) string {
	part := strings.ReplaceAll(domain, ".", "_")
	if len(part) > maxDomainPart {
		part = part[:maxDomainPart-17] + "~" + digest(domain, 16)
	}
	return c.authorityPath() + "/" + part
}

// accountPath returns the path of the variable with the key of the account. A domain has a dot,
// so no domain has this path.
func (c *Config) accountPath() string { return c.authorityPath() + "/account" }

func (c *Config) authorityPath() string {
	host := c.Directory
	if u, err := url.Parse(c.Directory); err == nil {
		host = u.Hostname()
	}
	host = otherRunes.ReplaceAllString(strings.ToLower(host), "_")
	return c.Prefix + "/" + host[:min(len(host), maxHostPart)] + "-" + digest(c.Directory, 8)
}

func digest(text string, digits int) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])[:digits]
}
