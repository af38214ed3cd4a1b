// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package fingerprint

import (
	"net"
	"strings"

	"github.com/reeve-run/reeve/api"
)

// network finds the address on which ports are published: the configured one, or that of the
// default route's interface, or the one at which other members reach the agent, or loopback.
func (m *Machine) network(o Options) {
	device, address := o.Interface, o.Address
	if address == "" {
		if device == "" {
			device = defaultInterface(readFile("/proc/net/route"))
		}
		address = addressOf(device)
	}
	if address == "" {
		device, address = interfaceOf(o.Member), o.Member
		if device == "" { // it is no address of this machine
			device, address = "lo", "127.0.0.1"
		}
	}
	if device == "" {
		device = interfaceOf(address)
	}
	m.Address = address
	m.set("unique.network.ip-address", address)
	bits := "/32"
	if strings.Contains(address, ":") {
		bits = "/128"
	}
	m.Resources.Networks = []*api.Network{{Mode: "host", Device: device, IP: address, CIDR: address + bits}}
}

// defaultInterface parses /proc/net/route and returns the interface of the default route.
func defaultInterface(routes string) string {
	for line := range strings.Lines(routes) {
		f := strings.Fields(line)
		if len(f) > 7 && f[1] == "00000000" && f[7] == "00000000" {
			return f[0]
		}
	}
	return ""
}

// addressOf returns an interface's first address, preferably IPv4.
func addressOf(device string) string {
	if device == "" {
		return ""
	}
	i, err := net.InterfaceByName(device)
	if err != nil {
		return ""
	}
	addresses, err := i.Addrs()
	if err != nil {
		return ""
	}
	found := ""
	for _, a := range addresses {
		ip, ok := a.(*net.IPNet)
		if !ok || ip.IP.IsLinkLocalUnicast() {
			continue
		}
		if ip.IP.To4() != nil {
			return ip.IP.String()
		}
		if found == "" {
			found = ip.IP.String()
		}
	}
	return found
}

func interfaceOf(address string) string {
	all, err := net.Interfaces()
	if err != nil {
		return ""
	}
	for _, i := range all {
		addresses, err := i.Addrs()
		if err != nil {
			continue
		}
		for _, a := range addresses {
			if ip, ok := a.(*net.IPNet); ok && ip.IP.String() == address {
				return i.Name
			}
		}
	}
	return ""
}
