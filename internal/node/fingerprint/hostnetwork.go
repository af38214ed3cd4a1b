// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package fingerprint

import (
	"fmt"
	"net"
	"net/netip"

	"github.com/reeve-run/reeve/api"
)

// HostNetworks finds the machine's address in each network, which is defined by an address
// range, an interface, or both. Networks without an address are left out of found; missing
// describes them.
func HostNetworks(wanted []api.HostNetwork) (found map[string]*api.HostNetwork, missing []string) {
	if len(wanted) == 0 {
		return nil, nil
	}
	addresses := machineAddresses()
	found = make(map[string]*api.HostNetwork, len(wanted))
	for _, w := range wanted {
		if h := match(w, addresses); h != nil {
			found[w.Name] = h
		} else {
			missing = append(missing, fmt.Sprintf("%s (cidr %q, interface %q)", w.Name, w.CIDR, w.Interface))
		}
	}
	return found, missing
}

// An ownAddress is one of the machine's addresses.
type ownAddress struct {
	device string
	ip     netip.Addr
}

func machineAddresses() []ownAddress {
	interfaces, err := net.Interfaces()
	if err != nil {
		return nil
	}
	var all []ownAddress
	for _, i := range interfaces {
		addresses, err := i.Addrs()
		if err != nil || i.Flags&net.FlagUp == 0 {
			continue
		}
		for _, a := range addresses {
			if prefix, err := netip.ParsePrefix(a.String()); err == nil && !prefix.Addr().IsLinkLocalUnicast() {
				all = append(all, ownAddress{i.Name, prefix.Addr().Unmap()})
			}
		}
	}
	return all
}

// match returns the network with the first address that belongs to it, preferably IPv4; nil
// if no address does.
func match(w api.HostNetwork, addresses []ownAddress) *api.HostNetwork {
	var found *api.HostNetwork
	for _, a := range addresses {
		if w.Interface != "" && a.device != w.Interface {
			continue
		}
		if w.CIDR != "" {
			if prefix, err := netip.ParsePrefix(w.CIDR); err != nil || !prefix.Contains(a.ip) {
				continue
			}
		}
		if found == nil || a.ip.Is4() && !netip.MustParseAddr(found.Address).Is4() {
			h := w
			h.Address, h.Interface = a.ip.String(), a.device
			found = &h
		}
	}
	return found
}
