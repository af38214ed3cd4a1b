// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package acme

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	protocol "github.com/mholt/acmez/v3/acme"

	"github.com/reeve-run/reeve/api"
)

func TestDomainsAreChecked(t *testing.T) {
	long := strings.Repeat("a", 63)
	for d, ok := range map[string]bool{
		"shop.example.com": true, "xn--bcher-kva.example": true, "a.b": true, strings.Join([]string{long, long, long, "com"}, "."): true,
		"": false, "localhost": false, "*.example.com": false, "a..b": false, ".a.b": false, "a.b.": false, "Shop.example.com": false, "-a.b": false, "a-.b": false,
		"../../account": false, "a.b/c": false, "a.b\x00": false, "a.b\n": false, "192.0.2.1": false, "a_b.c": false, "a.b:443": false, strings.Repeat("a", 64) + ".b": false,
		strings.Repeat("a.", 127) + "com": false,
	} {
		if err := CheckDomain(d); (err == nil) != ok {
			t.Errorf("%.80q: %v", d, err)
		}
	}
}

func TestPatternsStandForOneLabel(t *testing.T) {
	for _, c := range []struct {
		pattern, host string
		want          bool
	}{
		{"a.b.c", "a.b.c", true}, {"a.b.c", "x.b.c", false}, {"*.b.c", "a.b.c", true}, {"*.b.c", "a.a.b.c", false}, {"*.b.c", ".b.c", false}, {"*.b.c", "b.c", false}, {"*.b.c", "evilb.c", false},
	} {
		if got := matches(c.pattern, c.host); got != c.want {
			t.Errorf("%s matches %s: %v", c.pattern, c.host, got)
		}
	}
}

func TestPathsAreDistinctAndValid(t *testing.T) {
	c := Config{Prefix: strings.Repeat("p", maxPrefix), Directory: DefaultDirectory}
	label := strings.Repeat("a", 63)
	seen := map[string]string{}
	for _, d := range []string{
		"a.b", "a-b.c", "a.b-c", "shop.example.com", label + "." + label + ".com", label + "." + label + ".org", label + "." + label + "." + label + ".com", "account.com",
	} {
		path := c.pathOf(d)
		if other := seen[path]; other != "" || !api.IsVariablePath(path) || path == c.accountPath() {
			t.Errorf("the path of %s is %s, as that of %q", d, path, other)
		}
		seen[path] = d
	}
	for _, directory := range []string{DefaultDirectory, "https://[2001:db8::1]:14000/dir", "https://" + strings.Repeat("a.", 100) + "com/x", "https://UPPER.example/%2e%2e/"} {
		c.Directory = directory
		if p := c.pathOf("a.b"); !api.IsVariablePath(p) || seen[p] != "" && directory != DefaultDirectory {
			t.Errorf("the path with %s is %s", directory, p)
		}
	}
}

func TestConfigurationsAreChecked(t *testing.T) {
	good := Config{Domains: []string{"a.b"}, Agreed: true, Directory: DefaultDirectory, Prefix: DefaultPrefix}
	if p := good.Problems(); len(p) > 0 {
		t.Errorf("problems %q", p)
	}
	for want, change := range map[string]func(*Config){
		"terms_agreed = true":         func(c *Config) { c.Agreed = false },
		"set domains":                 func(c *Config) { c.Domains = nil },
		"wildcards need":              func(c *Config) { c.Domains = []string{"*.a.b"} },
		"route_hosts":                 func(c *Config) { c.RouteHosts = []string{"*"} },
		"begins with https://":        func(c *Config) { c.Directory = "http://ca.example/dir" },
		"variables \"../x\"":          func(c *Config) { c.Prefix = "../x" },
		"other than nomad":            func(c *Config) { c.Prefix = "nomad" },
		"at most 100":                 func(c *Config) { c.Domains = make([]string, MaxDomains+1) },
		"must be http-01 or":          func(c *Config) { c.Challenges = []string{"dns-01"} },
		"variables \"" + "a~b" + "\"": func(c *Config) { c.Prefix = "a~b" },
	} {
		c := good
		change(&c)
		if p := strings.Join(c.Problems(), "\n"); !strings.Contains(p, want) {
			t.Errorf("problems %q, want %q", p, want)
		}
	}
}

func TestPausesGrowAndEnd(t *testing.T) {
	limited := fmt.Errorf("order: %w", protocol.Problem{Type: protocol.ProblemTypeRateLimited})
	refused := protocol.Problem{Type: protocol.ProblemTypeDNS}
	for _, c := range []struct {
		err  error
		n    int
		want time.Duration
	}{
		{refused, 0, 10 * time.Minute}, {refused, 1, 10 * time.Minute}, {refused, 3, time.Hour}, {refused, 1 << 40, 6 * time.Hour}, {refused, -5, 10 * time.Minute},
		{limited, 1, time.Hour}, {errors.New("no route"), 1, time.Minute}, {errors.New("no route"), 1 << 40, time.Hour},
	} {
		if got := pauseAfter(c.err, c.n); got != c.want {
			t.Errorf("pause after %v, %d times: %s, want %s", c.err, c.n, got, c.want)
		}
	}
}

// Anyone who may write the variable chooses its content.
func TestRecordsOfHostileItems(t *testing.T) {
	now := time.Unix(1e9, 0)
	for name, items := range map[string]map[string]string{
		"nothing":            nil,
		"no certificate":     {"certificate": "x", "key": "y"},
		"far retry":          {"retry_at": "9999-01-01T00:00:00Z", "failure": "x", "attempts": "-9999999999999999999999"},
		"no time":            {"retry_at": "now"},
		"another PEM object": {"certificate": "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n", "key": "x"},
	} {
		r := recordOf(items)
		if due := r.due(shop, now); due.After(now) {
			t.Errorf("%s: due at %s, want now", name, due)
		}
		if len(r.items()) == 0 {
			t.Errorf("%s: no items", name)
		}
	}
	r := recordOf(map[string]string{"retry_at": now.Add(time.Hour).Format(time.RFC3339), "failure": "x"})
	if due := r.due(shop, now); !due.Equal(now.Add(time.Hour)) {
		t.Errorf("due at %s", due)
	}
}
