// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package agent

import (
	"fmt"
	"net/netip"
	"strings"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/node/network"
)

// A Bridge configures the networks of allocations.
type Bridge struct {
	Name    string       // of the bridge; default: network.DefaultBridge
	Subnet  netip.Prefix // default: network.DefaultSubnet
	Subnet6 netip.Prefix // invalid: no IPv6
	CNI     network.CNI  // no directories: the usual ones
}

// merge takes over what a configuration file says. Allocations always reach their own ports
// through the node, so bridge_network_hairpin_mode changes nothing.
func (b *Bridge) merge(k *fileClient) error {
	if n := k.BridgeName; n != "" {
		if len(n) > maxInterface || strings.Trim(n, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_") != "" {
			return api.Errorf(api.CodeInvalid, "bridge_network_name = %q: must be at most %d letters, digits, - and _", n, maxInterface)
		}
		b.Name = n
	}
	if err := b.mergeCNI(k); err != nil {
		return err
	}
	for _, s := range []struct {
		key, text string
		six       bool
		to        *netip.Prefix
	}{{"bridge_network_subnet", k.BridgeSubnet, false, &b.Subnet}, {"bridge_network_subnet_ipv6", k.BridgeSubnet6, true, &b.Subnet6}} {
		if s.text == "" {
			continue
		}
		p, err := network.ParseSubnet(s.text, s.six)
		if err != nil {
			return fmt.Errorf("%s: %w", s.key, err)
		}
		*s.to = p
	}
	return nil
}

// maxInterface is the longest name of an interface.
const maxInterface = 15
