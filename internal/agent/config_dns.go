// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package agent

import (
	"fmt"
	"net"
	"strconv"
	"time"

	miekg "github.com/miekg/dns"

	"github.com/reeve-run/reeve/api"
)

// DefaultDNSAddr is the default address of the name server.
const DefaultDNSAddr = "127.0.0.1:8600"

// DNS configures the name server, which returns the addresses of instances.
type DNS struct {
	Enabled   *bool         // nil: enabled only with Dev
	Address   string        // host:port; default: DefaultDNSAddr, or with Dev a free port if that is taken
	Zone      string        // default: "reeve"
	TTL       time.Duration // time for which answers may be cached; 0: not at all
	Upstreams []string      // host:port of name servers for all other names; none: those are refused
}

// answersNames reports whether the agent has a name server.
func (c *Config) answersNames() bool {
	if c.DNS.Enabled == nil {
		return c.Dev
	}
	return *c.DNS.Enabled
}

type fileDNS struct {
	Enabled   *bool    `hcl:"enabled,optional"`
	Address   string   `hcl:"address,optional"`
	Zone      string   `hcl:"zone,optional"`
	TTL       string   `hcl:"ttl,optional"`
	Upstreams []string `hcl:"upstreams,optional"`
}

func (d *DNS) merge(f *fileDNS) error {
	if f.Enabled != nil {
		d.Enabled = f.Enabled
	}
	override(&d.Address, f.Address)
	override(&d.Zone, f.Zone)
	if len(f.Upstreams) > 0 {
		d.Upstreams = f.Upstreams
	}
	if f.TTL == "" {
		return nil
	}
	ttl, err := time.ParseDuration(f.TTL)
	if err != nil {
		return api.Errorf(api.CodeInvalid, "ttl = %q: must be a duration, such as \"5s\"", f.TTL)
	}
	d.TTL = ttl
	return nil
}

// maxTTL bounds how long others may use outdated answers.
const maxTTL = time.Hour

// problems sets the defaults, and returns all errors.
func (d *DNS) problems() (problems []string) {
	fallback(&d.Zone, "reeve")
	if _, ok := miekg.IsDomainName(d.Zone); !ok || d.Zone == "." {
		problems = append(problems, fmt.Sprintf("dns: zone %q: must be a domain name, such as \"reeve\" or \"apps.example.com\"", d.Zone))
	}
	if d.TTL < 0 || d.TTL > maxTTL || d.TTL%time.Second != 0 {
		problems = append(problems, fmt.Sprintf("dns: ttl %s: must be whole seconds from 0 to %s", d.TTL, maxTTL))
	}
	if d.Address != "" && !isHostPort(d.Address) {
		problems = append(problems, fmt.Sprintf("dns: address %q: must be IP:PORT, as in %s", d.Address, DefaultDNSAddr))
	}
	upstreams := make([]string, len(d.Upstreams))
	for i, u := range d.Upstreams {
		if net.ParseIP(u) != nil {
			u = net.JoinHostPort(u, "53")
		}
		if !isHostPort(u) {
			problems = append(problems, fmt.Sprintf("dns: upstreams: %q must be an IP address, or IP:PORT", u))
		}
		upstreams[i] = u
	}
	d.Upstreams = upstreams
	return problems
}

func isHostPort(s string) bool {
	host, port, err := net.SplitHostPort(s)
	if err != nil {
		return false
	}
	n, err := strconv.Atoi(port)
	return err == nil && n >= 0 && n <= 65535 && (host == "localhost" || net.ParseIP(host) != nil)
}
