// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package network

import (
	"net/netip"

	"github.com/google/nftables"
	"github.com/google/nftables/binaryutil"
	"github.com/google/nftables/expr"
	"golang.org/x/sys/unix"
)

// Registers of 4 bytes; the first shares its place with register 1, of 16 bytes.
const (
	register  = 1
	register4 = 8
)

// A chain is one chain of the rules, and the rules in it.
type chain struct {
	bridge bool // of the bridge's table, which sees frames
	chain  nftables.Chain
	rules  [][]expr.Any
}

// chains returns all rules of a node. Everything that belongs to single allocations is in the
// sets.
func chains(node, bridge string, sets func(string) *nftables.Set) []chain {
	var first, translate, masquerade [][]expr.Any
	for _, f := range families {
		six := f == "6"
		gateways, ports, addressed := sets(setGateways+f), sets(setPorts+f), sets(setAddressed+f)
		if !six {
			// route_localnet lets the kernel accept packets to 127.0.0.1 from the bridge. Only answers may
			// come in this way, and they have the gateway's address here.
			first = append(first, rule(isInput(bridge, true), isVersion(f), inLoopback(true), drop()))
		}
		// The bridge's addresses, with the name server, are for allocations and the machine itself.
		first = append(first, rule(isInput(bridge, false), isInput("lo", false), isVersion(f), load(destination(six)), in(gateways, true), drop()))
		translate = append(translate, rule(isVersion(f), load(destination(six), protocolAndPort(register4+width(six))...), mapTo(addressed), translateTo(six)))
		own := rule(isVersion(f), load(destination(six)), in(gateways, false))
		if six { // the kernel cannot route packets from ::1 elsewhere
			own = append(own, load(destination(true))...)
			own = append(own, &expr.Cmp{Op: expr.CmpOpNeq, Register: register, Data: netip.IPv6Loopback().AsSlice()})
		}
		own = append(own, &expr.Fib{Register: register, FlagDADDR: true, ResultADDRTYPE: true},
			&expr.Cmp{Op: expr.CmpOpEq, Register: register, Data: binaryutil.NativeEndian.PutUint32(unix.RTN_LOCAL)})
		own = append(own, protocolAndPort(register4)...)
		translate = append(translate, rule(own, mapTo(ports), translateTo(six)))
		masquerade = append(masquerade, rule(isOutput(bridge, false), isVersion(f), load(source(six)), in(sets(setOwn+f), true), hide()))
		if !six {
			masquerade = append(masquerade, rule(isOutput(bridge, true), isVersion(f), inLoopback(false), hide()))
		}
		masquerade = append(masquerade, rule(isOutput(bridge, true), isVersion(f), load(source(six)),
			[]expr.Any{&expr.Payload{DestRegister: register4 + width(six), Base: expr.PayloadBaseNetworkHeader, Offset: destination(six).Offset, Len: destination(six).Len}},
			in(sets(setHairpin+f), true), hide()))
	}
	return []chain{
		{chain: base("first", nftables.ChainTypeFilter, nftables.ChainHookPrerouting, *nftables.ChainPriorityRaw), rules: first},
		{chain: base("translate", nftables.ChainTypeNAT, nftables.ChainHookPrerouting, *nftables.ChainPriorityNATDest), rules: translate},
		{chain: base("translate_own", nftables.ChainTypeNAT, nftables.ChainHookOutput, *nftables.ChainPriorityNATDest), rules: translate},
		{chain: base("masquerade", nftables.ChainTypeNAT, nftables.ChainHookPostrouting, *nftables.ChainPriorityNATSource), rules: masquerade},
		{bridge: true, chain: base("guard", nftables.ChainTypeFilter, nftables.ChainHookPrerouting, *nftables.ChainPriorityRaw), rules: guard(node, sets)},
	}
}

// guard returns the rules for frames of allocations: the hardware address and the IP address of
// the sender are the allocation's own, in ARP, too. All other protocols end here, and with them
// the announcements of routers, whose addresses are those of links.
func guard(node string, sets func(string) *nftables.Set) [][]expr.Any {
	prefix := linkPrefix(node)
	ours := []expr.Any{
		&expr.Meta{Key: expr.MetaKeyIIFNAME, Register: register},
		&expr.Cmp{Op: expr.CmpOpEq, Register: register, Data: []byte(prefix)},
	}
	link := &expr.Meta{Key: expr.MetaKeyIIFNAME, Register: register}
	mac := &expr.Payload{DestRegister: register4 + 4, Base: expr.PayloadBaseLLHeader, Offset: 6, Len: 6}
	from := func(base expr.PayloadBase, offset, length uint32) *expr.Payload {
		return &expr.Payload{DestRegister: register4 + 6, Base: base, Offset: offset, Len: length}
	}
	return [][]expr.Any{
		rule(ours, isEther(unix.ETH_P_IP), []expr.Any{link, mac, from(expr.PayloadBaseNetworkHeader, 12, 4)}, in(sets(setSources+"4"), true), accept()),
		rule(ours, isEther(unix.ETH_P_ARP), []expr.Any{link, mac, from(expr.PayloadBaseNetworkHeader, 14, 4)}, in(sets(setSources+"4"), true),
			[]expr.Any{link, &expr.Payload{DestRegister: register4 + 4, Base: expr.PayloadBaseNetworkHeader, Offset: 8, Len: 6}, from(expr.PayloadBaseNetworkHeader, 14, 4)},
			in(sets(setSources+"4"), true), accept()),
		rule(ours, isEther(unix.ETH_P_IPV6), []expr.Any{link, mac, from(expr.PayloadBaseNetworkHeader, 8, 16)}, in(sets(setSources+"6"), true), accept()),
		rule(ours, drop()),
	}
}

func base(name string, kind nftables.ChainType, hook *nftables.ChainHook, priority nftables.ChainPriority) nftables.Chain {
	accept := nftables.ChainPolicyAccept
	return nftables.Chain{Name: name, Type: kind, Hooknum: hook, Priority: &priority, Policy: &accept}
}

// rule concatenates the parts of a rule.
func rule(parts ...[]expr.Any) (all []expr.Any) {
	for _, p := range parts {
		all = append(all, p...)
	}
	return all
}

func interfaceName(name string) []byte {
	b := make([]byte, 16)
	copy(b, name)
	return b
}

func equal(is bool) expr.CmpOp {
	if is {
		return expr.CmpOpEq
	}
	return expr.CmpOpNeq
}

func isInput(name string, is bool) []expr.Any {
	return []expr.Any{&expr.Meta{Key: expr.MetaKeyIIFNAME, Register: register}, &expr.Cmp{Op: equal(is), Register: register, Data: interfaceName(name)}}
}

func isOutput(name string, is bool) []expr.Any {
	return []expr.Any{&expr.Meta{Key: expr.MetaKeyOIFNAME, Register: register}, &expr.Cmp{Op: equal(is), Register: register, Data: interfaceName(name)}}
}

func isVersion(family string) []expr.Any {
	version := byte(unix.NFPROTO_IPV4)
	if family == "6" {
		version = unix.NFPROTO_IPV6
	}
	return []expr.Any{&expr.Meta{Key: expr.MetaKeyNFPROTO, Register: register}, &expr.Cmp{Op: expr.CmpOpEq, Register: register, Data: []byte{version}}}
}

// isEther matches the protocol in the header of a frame.
func isEther(protocol uint16) []expr.Any {
	return []expr.Any{
		&expr.Payload{DestRegister: register, Base: expr.PayloadBaseLLHeader, Offset: 12, Len: 2},
		&expr.Cmp{Op: expr.CmpOpEq, Register: register, Data: binaryutil.BigEndian.PutUint16(protocol)},
	}
}

func source(six bool) *expr.Payload {
	if six {
		return &expr.Payload{DestRegister: register, Base: expr.PayloadBaseNetworkHeader, Offset: 8, Len: 16}
	}
	return &expr.Payload{DestRegister: register, Base: expr.PayloadBaseNetworkHeader, Offset: 12, Len: 4}
}

func destination(six bool) *expr.Payload {
	if six {
		return &expr.Payload{DestRegister: register, Base: expr.PayloadBaseNetworkHeader, Offset: 24, Len: 16}
	}
	return &expr.Payload{DestRegister: register, Base: expr.PayloadBaseNetworkHeader, Offset: 16, Len: 4}
}

// width returns the number of registers of an address.
func width(six bool) uint32 {
	if six {
		return 4
	}
	return 1
}

func load(first expr.Any, more ...expr.Any) []expr.Any { return append([]expr.Any{first}, more...) }

// protocolAndPort loads the protocol and the destination's port into registers from at.
func protocolAndPort(at uint32) []expr.Any {
	return []expr.Any{
		&expr.Meta{Key: expr.MetaKeyL4PROTO, Register: at},
		&expr.Payload{DestRegister: at + 1, Base: expr.PayloadBaseTransportHeader, Offset: 2, Len: 2},
	}
}

// inLoopback matches an address of 127.0.0.0/8.
func inLoopback(to bool) []expr.Any {
	p := source(false)
	if to {
		p = destination(false)
	}
	return []expr.Any{
		p,
		&expr.Bitwise{SourceRegister: register, DestRegister: register, Len: 4, Mask: []byte{255, 0, 0, 0}, Xor: make([]byte, 4)},
		&expr.Cmp{Op: expr.CmpOpEq, Register: register, Data: []byte{127, 0, 0, 0}},
	}
}

func in(set *nftables.Set, is bool) []expr.Any {
	return []expr.Any{&expr.Lookup{SourceRegister: register, SetName: set.Name, SetID: set.ID, Invert: !is}}
}

// mapTo replaces the key in the registers by the value in a map.
func mapTo(set *nftables.Set) []expr.Any {
	return []expr.Any{&expr.Lookup{SourceRegister: register, DestRegister: register, IsDestRegSet: true, SetName: set.Name, SetID: set.ID}}
}

func translateTo(six bool) []expr.Any {
	family := uint32(unix.NFPROTO_IPV4)
	if six {
		family = unix.NFPROTO_IPV6
	}
	return []expr.Any{&expr.NAT{Type: expr.NATTypeDestNAT, Family: family, RegAddrMin: register, RegProtoMin: register4 + width(six), Specified: true}}
}

func hide() []expr.Any   { return []expr.Any{&expr.Masq{}} }
func drop() []expr.Any   { return []expr.Any{&expr.Verdict{Kind: expr.VerdictDrop}} }
func accept() []expr.Any { return []expr.Any{&expr.Verdict{Kind: expr.VerdictAccept}} }
