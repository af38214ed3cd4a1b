// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package api

import "strings"

// Modes of a group's network. Others are CNI networks, "cni/NAME".
const (
	NetworkHost   = "host"   // the node's own
	NetworkNone   = "none"   // loopback only
	NetworkBridge = "bridge" // an own address, and ports of the node that lead to it
)

// NodeAttrBridge is the attribute of nodes whose allocations can have networks of their own:
// "1". NodeAttrBridgeProblem says on the other nodes why they cannot.
const (
	NodeAttrBridge        = "network.bridge"
	NodeAttrBridgeProblem = "network.bridge.problem"
)

// OwnNetwork returns the network that the group's allocations have for themselves; nil if they
// use the node's.
func (g *Group) OwnNetwork() *Network {
	for _, n := range g.Networks {
		if n != nil && !n.isHost() {
			return n
		}
	}
	return nil
}

// HostDNS returns the resolver's configuration of a group in the node's network; nil: the node's.
func (g *Group) HostDNS() *DNS {
	for _, n := range g.Networks {
		if n != nil && n.isHost() && n.DNS != nil {
			return n.DNS
		}
	}
	return nil
}

// UseDNS adds the group's configuration of the resolver where the config has none of its own.
func (c *ContainerConfig) UseDNS(d *DNS) {
	if d == nil {
		return
	}
	for _, list := range []struct {
		own   *[]string
		group []string
	}{{&c.DNSServers, d.Servers}, {&c.DNSSearch, d.Searches}, {&c.DNSOptions, d.Options}} {
		if len(*list.own) == 0 {
			*list.own = list.group
		}
	}
}

// IsBridge reports whether the group's ports lead into a network of their own.
func (g *Group) IsBridge() bool {
	n := g.OwnNetwork()
	return n != nil && n.Mode != NetworkNone
}

// Bounds of a network.
const (
	maxHostname      = 63
	maxResolverWords = 32
	maxResolverWord  = 253
	maxMappedPorts   = 256
)

// IsResolverWord reports whether s can be a search domain or an option in a resolver's file: it
// can neither end its line nor begin a comment.
func IsResolverWord(s string) bool {
	return s != "" && len(s) <= maxResolverWord && s[0] != '-' &&
		strings.Trim(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.:") == ""
}

// IsMachineName reports whether s can be the host name of an allocation.
func IsMachineName(s string) bool {
	return s != "" && len(s) <= maxHostname && s[0] != '-' && s[0] != '.' && s[len(s)-1] != '-' && s[len(s)-1] != '.' &&
		strings.Trim(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-.") == "" && !strings.Contains(s, "..")
}
