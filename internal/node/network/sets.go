// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package network

import (
	"encoding/binary"
	"net/netip"

	"github.com/google/nftables"
)

// Names of the sets of the rules. The number is the version of IP.
const (
	setPorts     = "ports"     // protocol . port -> address . port, on every address of the machine
	setAddressed = "addressed" // address . protocol . port -> address . port
	setOwn       = "own"       // addresses of allocations
	setHairpin   = "hairpin"   // address . the same address
	setGateways  = "gateways"  // addresses of the bridge
	setSources   = "sources"   // link . hardware address . address: what an allocation may send from
)

// protocols are the protocols of every port, by their numbers.
var protocols = [...]byte{6, 17} // TCP, UDP

// families are the versions of IP, as suffixes of the sets' names.
var families = [...]string{"4", "6"}

// kinds are the types of a set's keys and values.
type kind struct{ key, value []nftables.SetDatatype }

func kinds(family string) map[string]kind {
	ip := nftables.TypeIPAddr
	if family == "6" {
		ip = nftables.TypeIP6Addr
	}
	port := []nftables.SetDatatype{nftables.TypeInetProto, nftables.TypeInetService}
	to := []nftables.SetDatatype{ip, nftables.TypeInetService}
	return map[string]kind{
		setPorts:     {port, to},
		setAddressed: {append([]nftables.SetDatatype{ip}, port...), to},
		setOwn:       {[]nftables.SetDatatype{ip}, nil},
		setHairpin:   {[]nftables.SetDatatype{ip, ip}, nil},
		setGateways:  {[]nftables.SetDatatype{ip}, nil},
		setSources:   {[]nftables.SetDatatype{nftables.TypeIFName, nftables.TypeEtherAddr, ip}, nil},
	}
}

// An element is one entry of a set.
type element struct {
	set        string // with the version of IP
	key, value string // bytes, as the kernel keeps them
}

// elements returns the entries of a record.
func (r *Record) elements(node string) (all []element) {
	if r.Mode != ModeBridge {
		return nil
	}
	link := make([]byte, 16)
	copy(link, linkName(node, r.Alloc))
	mac := hardwareAddress(r.Address.Addr())
	for i, ip := range []netip.Addr{r.Address.Addr(), r.Address6.Addr()} {
		if !ip.IsValid() {
			continue
		}
		f := families[i]
		all = append(all,
			element{set: setOwn + f, key: join(ip.AsSlice())},
			element{set: setHairpin + f, key: join(ip.AsSlice(), ip.AsSlice())},
			element{set: setSources + f, key: join(link, mac, ip.AsSlice())},
		)
		for _, p := range r.Ports {
			to := join(ip.AsSlice(), number(p.To))
			for _, protocol := range protocols {
				switch {
				case !p.IP.IsValid():
					all = append(all, element{setPorts + f, join([]byte{protocol}, number(p.Host)), to})
				case p.IP.Is4() == ip.Is4():
					all = append(all, element{setAddressed + f, join(p.IP.AsSlice(), []byte{protocol}, number(p.Host)), to})
				}
			}
		}
	}
	return all
}

// gatewayElements returns the entries of the bridge's addresses.
func gatewayElements(gateways []netip.Prefix) (all []element) {
	for _, g := range gateways {
		f := families[0]
		if g.Addr().Is6() {
			f = families[1]
		}
		all = append(all, element{set: setGateways + f, key: join(g.Addr().AsSlice())})
	}
	return all
}

// join concatenates values, each padded to whole registers of 4 bytes.
func join(values ...[]byte) string {
	var b []byte
	for _, v := range values {
		b = append(b, v...)
		for len(b)%4 != 0 {
			b = append(b, 0)
		}
	}
	return string(b)
}

func number(port uint16) []byte { return binary.BigEndian.AppendUint16(nil, port) }
