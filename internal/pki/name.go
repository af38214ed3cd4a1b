// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package pki

import (
	"fmt"
	"net"
	"net/netip"
	"strings"
)

const (
	maxIDLength   = 64 // bound of a common name in X.509
	maxHostLength = 253
	maxHostLabel  = 63
)

// isID reports whether a text can be the id of a member or a cluster.
func isID(s string) bool {
	return len(s) <= maxIDLength && isLabel(strings.ReplaceAll(s, ".", "_"))
}

// isLabel reports whether s begins and ends with a letter or digit, and contains no other
// characters but these, "-" and "_".
func isLabel(s string) bool {
	if s == "" || strings.Trim(s[:1]+s[len(s)-1:], "-_") != s[:1]+s[len(s)-1:] {
		return false
	}
	return !strings.ContainsFunc(s, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && r != '-' && r != '_'
	})
}

// isHost reports whether a text is a host name that certificates can contain.
func isHost(s string) bool {
	if len(s) > maxHostLength {
		return false
	}
	for label := range strings.SplitSeq(s, ".") {
		if len(label) > maxHostLabel || !isLabel(label) {
			return false
		}
	}
	return true
}

// splitAddress returns the host of an advertised address, and its IP address if the host is
// one.
func splitAddress(address string) (host string, ip netip.Addr, err error) {
	host, port, err := net.SplitHostPort(address)
	if err != nil || port == "" {
		return "", ip, fmt.Errorf("advertised address %s is not HOST:PORT", show(address))
	}
	if ip, err = netip.ParseAddr(host); err == nil {
		ip = ip.Unmap().WithZone("")
		if ip.IsUnspecified() || ip.IsMulticast() {
			return "", ip, fmt.Errorf("advertised address %s is not an address of one machine: advertise an address that other members reach", show(address))
		}
		return host, ip, nil
	}
	if !isHost(host) {
		return "", ip, fmt.Errorf("advertised address %s: its host is neither an IP address nor a host name", show(address))
	}
	return host, netip.Addr{}, nil
}
