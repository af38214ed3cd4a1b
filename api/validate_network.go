// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package api

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"
)

// validateNetworks validates the networks of a group, apart from the labels of their ports.
func (g *Group) validateNetworks(c *complaints, at string) {
	for _, n := range g.Networks {
		n.validate(c, at+", network")
	}
}

func (n *Network) validate(c *complaints, at string) {
	ports := slices.Concat(n.ReservedPorts, n.DynamicPorts)
	switch {
	case n.isHost(), n.Mode == NetworkBridge:
	case n.Mode == NetworkNone && len(ports) > 0:
		c.add("%s, port %q: mode \"none\" has no ports: no address leads to the tasks; use mode = \"bridge\", or remove the port", at, ports[0].Label)
	case n.Mode == NetworkNone, IsCNI(n.Mode):
	default:
		c.add("%s: mode = %q: must be \"host\", \"bridge\", \"none\" or \"cni/NAME\"", at, n.Mode)
	}
	n.validateCNI(c, at)
	if (n.Mode == NetworkBridge || IsCNI(n.Mode)) && len(ports) > maxMappedPorts {
		c.add("%s: it has %d ports: at most %d are possible", at, len(ports), maxMappedPorts)
	}
	if h := n.Hostname; h != "" && !isReplaced(h) && !IsMachineName(h) {
		c.add("%s: hostname = %q: must be letters, digits, - and ., at most %d of them", at, h, maxHostname)
	}
	n.DNS.validate(c, at+", dns")
}

// isReplaced reports whether the node completes a text, and validates it then.
func isReplaced(s string) bool { return strings.Contains(s, "${") }

func (d *DNS) validate(c *complaints, at string) {
	for _, problem := range d.Problems() {
		c.add("%s: %s", at, problem)
	}
}

// Replace returns the configuration with its texts replaced.
func (d *DNS) Replace(replace func(string) string) *DNS {
	if d == nil {
		return nil
	}
	all := func(texts []string) (replaced []string) {
		for _, s := range texts {
			replaced = append(replaced, replace(s))
		}
		return replaced
	}
	return &DNS{Servers: all(d.Servers), Searches: all(d.Searches), Options: all(d.Options)}
}

// Problems returns the errors of the configuration. Texts that the node completes are not
// judged; nil has no problems.
func (d *DNS) Problems() (problems []string) {
	if d == nil {
		return nil
	}
	add := func(format string, args ...any) { problems = append(problems, fmt.Sprintf(format, args...)) }
	for _, list := range []struct {
		key    string
		values []string
		valid  func(string) bool
		want   string
	}{
		{"servers", d.Servers, func(s string) bool { ip, err := netip.ParseAddr(s); return err == nil && ip.Zone() == "" }, "an IP address"},
		{"searches", d.Searches, IsResolverWord, "a domain, such as \"example.com\""},
		{"options", d.Options, IsResolverWord, "an option of the resolver, such as \"ndots:2\""},
	} {
		if len(list.values) > maxResolverWords {
			add("%s has %d entries: at most %d are possible", list.key, len(list.values), maxResolverWords)
		}
		for _, v := range list.values {
			if !isReplaced(v) && !list.valid(v) {
				add("%s: %q: must be %s", list.key, v, list.want)
			}
		}
	}
	return problems
}
