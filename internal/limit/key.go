// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package limit

import "net/netip"

// A Key names a caller, by its network or its token.
type Key struct {
	Network netip.Prefix // an IPv4 address, or 64 bits of an IPv6 address; the zero value stands for all other peers
	Token   string       // id, not a secret
	Times   uint16       // multiplies the rate; 0 is 1
}

// NetworkOf returns the network of a remote address, host:port. The addresses of an IPv6 network of 64 bits
// share one, because one machine has all of them. It is the zero value for other texts, such as the name of
// a Unix socket.
func NetworkOf(remote string) netip.Prefix {
	at, err := netip.ParseAddrPort(remote)
	if err != nil {
		return netip.Prefix{}
	}
	address := at.Addr().Unmap().WithZone("")
	bits := 64
	if address.Is4() {
		bits = 32
	}
	network, err := address.Prefix(bits)
	if err != nil {
		return netip.Prefix{}
	}
	return network
}

// AddressKey returns the network of a remote address as text: an IPv4 address without its length.
func AddressKey(remote string) string {
	network := NetworkOf(remote)
	switch {
	case !network.IsValid():
		return ""
	case network.Addr().Is4():
		return network.Addr().String()
	}
	return network.String()
}
