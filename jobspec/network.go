// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package jobspec

import (
	"slices"

	"github.com/reeve-run/reeve/api"
)

var networkSchema = &schema[api.Network]{
	noun: "network",
	attrs: attrs[api.Network]{
		"mode":     func(n *api.Network) any { return &n.Mode },
		"device":   func(n *api.Network) any { return &n.Device },
		"cidr":     func(n *api.Network) any { return &n.CIDR },
		"ip":       func(n *api.Network) any { return &n.IP },
		"hostname": func(n *api.Network) any { return &n.Hostname },
		"mbits":    func(n *api.Network) any { return &n.MBits },
	},
	blocks: blocks[api.Network]{
		"dns":            one(dnsSchema, func(n *api.Network) **api.DNS { return &n.DNS }),
		"cni":            one(cniSchema, func(n *api.Network) **api.CNI { return &n.CNI }),
		"port":           {known: portSchema.keys(), block: readPort},
		"reserved_ports": {known: portSchema.keys(), block: readPort},
	},
}

var dnsSchema = &schema[api.DNS]{
	noun: "dns",
	attrs: attrs[api.DNS]{
		"servers":  func(s *api.DNS) any { return &s.Servers },
		"searches": func(s *api.DNS) any { return &s.Searches },
		"options":  func(s *api.DNS) any { return &s.Options },
	},
}

var cniSchema = &schema[api.CNI]{
	noun: "cni",
	blocks: blocks[api.CNI]{
		"args": texts(func(c *api.CNI) *map[string]string { return &c.Args }),
	},
}

var portSchema = &schema[api.Port]{
	noun:  "port",
	label: "name",
	name:  func(p *api.Port) *string { return &p.Label },
	attrs: attrs[api.Port]{
		"static":           func(p *api.Port) any { return &p.Value },
		"to":               func(p *api.Port) any { return &p.To },
		"host_network":     func(p *api.Port) any { return &p.HostNetwork },
		"ignore_collision": func(p *api.Port) any { return &p.IgnoreCollision },
	},
}

// readPort adds a port to the reserved ones if its number is fixed.
func readPort(d *decoder, n *api.Network, b *block) {
	var p api.Port
	read(d, portSchema, b, &p)
	for _, other := range slices.Concat(n.ReservedPorts, n.DynamicPorts) {
		if len(b.labels) == 1 && other.Label == p.Label {
			d.addAt(b.labelAt[0], "there is already a port named %q here", p.Label)
			return
		}
	}
	if p.Value != 0 {
		n.ReservedPorts = append(n.ReservedPorts, p)
	} else {
		n.DynamicPorts = append(n.DynamicPorts, p)
	}
}
