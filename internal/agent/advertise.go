// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package agent

import (
	"cmp"
	"net"
	"net/netip"
	"strings"

	"github.com/reeve-run/reeve/api"
)

// DefaultPort is the port of an agent's API and of everything between members.
const DefaultPort = "4646"

// anywhere is an address that no machine has: a route to it is the default route. Nothing
// is sent.
const anywhere = "192.0.2.1:9"

// advertised returns the address, host:port, at which other members reach this agent.
// bound is the address of its listener, and toward the address of a member, or "".
func advertised(given, bound, toward string) (string, error) {
	host, port, err := net.SplitHostPort(bound)
	if err != nil {
		return "", api.Errorf(api.CodeInvalid, "address %q is not HOST:PORT", bound)
	}
	if given != "" {
		return withPort(given, port), nil
	}
	if ip, err := netip.ParseAddr(host); err == nil && !ip.IsUnspecified() {
		return bound, nil
	}
	local, err := sourceAddress(cmp.Or(toward, anywhere))
	if err != nil {
		local, err = onlyAddress()
	}
	if err != nil {
		return "", err
	}
	return net.JoinHostPort(local, port), nil
}

// sourceAddress returns the address of this machine from which it would send to another.
func sourceAddress(to string) (string, error) {
	conn, err := net.Dial("udp", to)
	if err != nil {
		return "", err
	}
	defer conn.Close()
	return conn.LocalAddr().(*net.UDPAddr).IP.String(), nil
}

// onlyAddress returns the address of this machine if it has exactly one besides loopback.
func onlyAddress() (string, error) {
	all, err := net.InterfaceAddrs()
	if err != nil {
		return "", api.Errorf(api.CodeInvalid, "read the addresses of this machine: %v; name one with -advertise HOST", err)
	}
	var found []string
	for _, a := range all {
		if n, ok := a.(*net.IPNet); ok && n.IP.IsGlobalUnicast() {
			found = append(found, n.IP.String())
		}
	}
	switch len(found) {
	case 1:
		return found[0], nil
	case 0:
		return "", api.Errorf(api.CodeInvalid, "this machine has no address besides loopback: other members cannot reach it; connect it to a network, or name its address with -advertise HOST")
	}
	return "", api.Errorf(api.CodeInvalid, "this machine has the addresses %s and no default route: name the one at which other members reach it with -advertise HOST", strings.Join(found, ", "))
}

// withPort adds a port to a host that has none.
func withPort(address, port string) string {
	if _, _, err := net.SplitHostPort(address); err == nil {
		return address
	}
	return net.JoinHostPort(strings.Trim(address, "[]"), port)
}
