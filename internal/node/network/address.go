// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package network

import (
	"encoding/binary"
	"fmt"
	"net/netip"
)

// Defaults of the bridge.
const (
	DefaultBridge = "reeve0"
	DefaultSubnet = "172.26.64.0/20"
)

// maxAddresses bounds the part of a subnet that allocations use.
const maxAddresses = 1 << 16

// A pool gives out the addresses of a subnet. It takes the next free one rather than the lowest,
// so that an address is not used again as long as connections to its former owner may exist.
type pool struct {
	subnet  netip.Prefix
	subnet6 netip.Prefix // invalid: none
	used    map[netip.Addr]string
	last    uint32 // number of the address that was given out last; 1 is the gateway's
}

func newPool(subnet, subnet6 netip.Prefix) *pool {
	return &pool{subnet: subnet.Masked(), subnet6: subnet6.Masked(), used: map[netip.Addr]string{}, last: 1}
}

// size returns the number of the last usable address.
func (p *pool) size() uint32 {
	bits := 32 - p.subnet.Bits()
	if p.subnet6.IsValid() {
		bits = min(bits, 128-p.subnet6.Bits())
	}
	if bits >= 16 {
		return maxAddresses
	}
	return 1<<bits - 2 // without the broadcast address
}

// take gives the next free address to an owner.
func (p *pool) take(owner string) (address, address6 netip.Prefix, err error) {
	size := p.size()
	for i := uint32(1); i <= size; i++ {
		n := (p.last-1+i)%size + 1
		if n == 1 {
			continue
		}
		ip := nth(p.subnet, n)
		if _, taken := p.used[ip]; taken {
			continue
		}
		p.last, p.used[ip] = n, owner
		address = netip.PrefixFrom(ip, p.subnet.Bits())
		if p.subnet6.IsValid() {
			address6 = netip.PrefixFrom(nth(p.subnet6, n), p.subnet6.Bits())
		}
		return address, address6, nil
	}
	return address, address6, fmt.Errorf("all %d addresses of the bridge's subnet %s are in use: stop allocations on this node, or set a larger bridge_network_subnet", len(p.used), p.subnet)
}

// keep marks the address of a restored record as used.
func (p *pool) keep(r *Record) {
	if r.Address.IsValid() {
		p.used[r.Address.Addr()] = r.Alloc
	}
}

// free returns the address of a record.
func (p *pool) free(r *Record) {
	if ip := r.Address.Addr(); p.used[ip] == r.Alloc {
		delete(p.used, ip)
	}
}

// gateways returns the addresses of the bridge.
func (p *pool) gateways() (gateway, gateway6 netip.Addr) {
	gateway = nth(p.subnet, 1)
	if p.subnet6.IsValid() {
		gateway6 = nth(p.subnet6, 1)
	}
	return gateway, gateway6
}

// nth returns the nth address of a subnet.
func nth(subnet netip.Prefix, n uint32) netip.Addr {
	if subnet.Addr().Is4() {
		b := subnet.Addr().As4()
		binary.BigEndian.PutUint32(b[:], binary.BigEndian.Uint32(b[:])+n)
		return netip.AddrFrom4(b)
	}
	b := subnet.Addr().As16()
	binary.BigEndian.PutUint32(b[12:], binary.BigEndian.Uint32(b[12:])+n)
	return netip.AddrFrom16(b)
}

// ParseSubnet parses the subnet of a bridge.
func ParseSubnet(text string, six bool) (netip.Prefix, error) {
	p, err := netip.ParsePrefix(text)
	example, most := DefaultSubnet, 29
	if six {
		example, most = "fd72:6565:7665::/64", 112
	}
	switch {
	case err != nil || p.Addr().Is4() == six || p.Addr().Is4In6():
		return p, fmt.Errorf("%q is no range of addresses: write one such as %q", text, example)
	case p.Bits() > most:
		return p, fmt.Errorf("%q is too small: use /%d or a larger range", text, most)
	case p.Bits() < 8 || p.Addr().IsLoopback() || p.Addr().IsMulticast() || p.Addr().IsLinkLocalUnicast() || p.Addr().IsUnspecified():
		return p, fmt.Errorf("%q has addresses that allocations cannot use: write a private range such as %q", text, example)
	}
	return p.Masked(), nil
}
