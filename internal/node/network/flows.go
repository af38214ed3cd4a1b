// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package network

import (
	"errors"
	"net"
	"net/netip"
	"slices"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"
)

// The kernel remembers for each flow where its packets go, as long as they come. A sender that never stops
// keeps a flow of UDP on the path that it had when it began: to an allocation that has ended, or to the machine
// itself, if the port belonged to no allocation then. So flows without a future are forgotten when an
// allocation gets its ports and when it loses them; their next packet takes the new path. Flows of TCP end
// by themselves, because the other side answers with a reset.

// flowAttempts bounds the repetitions of a list that changes meanwhile.
const flowAttempts = 3

// A flowFilter matches the stale flows of UDP.
type flowFilter struct {
	subnets []netip.Prefix
	live    map[netip.Addr]bool // addresses of the allocations and gateways
	local   map[netip.Addr]bool // addresses of the machine
	ports   []Port              // that lead to live allocations
}

// MatchConntrackFlow reports whether a flow is stale.
func (s *flowFilter) MatchConntrackFlow(f *netlink.ConntrackFlow) bool {
	if f.Forward.Protocol != unix.IPPROTO_UDP {
		return false
	}
	to, from, server := addrOf(f.Forward.DstIP), addrOf(f.Forward.SrcIP), addrOf(f.Reverse.SrcIP)
	if s.ended(from) || s.ended(server) || s.ended(to) {
		return true
	}
	// The packets of a flow to a port of an allocation that was not redirected stay on the machine.
	return server == to && s.local[to] && slices.ContainsFunc(s.ports, func(p Port) bool {
		return p.Host == f.Forward.DstPort && (!p.IP.IsValid() || p.IP == to)
	})
}

// ended reports whether an address of the subnets belongs to no allocation.
func (s *flowFilter) ended(ip netip.Addr) bool {
	return !s.live[ip] && slices.ContainsFunc(s.subnets, func(p netip.Prefix) bool { return p.Contains(ip) })
}

func addrOf(ip net.IP) netip.Addr {
	a, _ := netip.AddrFromSlice(ip)
	return a.Unmap()
}

// forgetFlows removes the stale flows. without is a network that ends; nil: none. The caller holds hostMu. A
// kernel without a list of flows loses no network by that: old senders wait until their flow ends.
func (f *Fabric) forgetFlows(without *Record) {
	if err := f.tryForgetFlows(without); err != nil {
		f.c.Logger.Warn("cannot forget flows of UDP: senders that send without a pause may reach ports of allocations late", "error", err)
	}
}

func (f *Fabric) tryForgetFlows(without *Record) error {
	s, err := f.staleFlows(without)
	if err != nil {
		return err
	}
	var h *netlink.Handle
	if err := f.w.inHost(func() (err error) {
		h, err = netlink.NewHandle(unix.NETLINK_NETFILTER)
		return explain("open netlink", err)
	}); err != nil {
		return err
	}
	defer h.Close()
	families := []netlink.InetFamily{unix.AF_INET}
	if f.c.Subnet6.IsValid() {
		families = append(families, unix.AF_INET6)
	}
	var errs []error
	for _, family := range families {
		for attempt := range flowAttempts {
			_, err := h.ConntrackDeleteFilters(netlink.ConntrackTable, family, s)
			if err == nil || isAbsent(err) {
				break
			}
			if !errors.Is(err, netlink.ErrDumpInterrupted) || attempt == flowAttempts-1 {
				errs = append(errs, explain("list the flows of the machine", err))
				break
			}
		}
	}
	return errors.Join(errs...)
}

// staleFlows describes the flows that are stale without a network.
func (f *Fabric) staleFlows(without *Record) (*flowFilter, error) {
	s := &flowFilter{live: map[netip.Addr]bool{}, local: map[netip.Addr]bool{}}
	for _, subnet := range []netip.Prefix{f.c.Subnet, f.c.Subnet6} {
		if subnet.IsValid() {
			s.subnets = append(s.subnets, subnet)
		}
	}
	for _, g := range f.gateways() {
		s.live[g.Addr()] = true
	}
	for _, n := range f.all() {
		if n.rec == without {
			for _, ip := range n.rec.addresses() { // of a subnet that the configuration no longer has
				s.subnets = append(s.subnets, netip.PrefixFrom(ip, ip.BitLen()))
			}
			continue
		}
		for _, ip := range n.rec.addresses() {
			s.live[ip] = true
		}
		if !f.isClosing(n) {
			s.ports = append(s.ports, n.rec.Ports...)
		}
	}
	list, err := f.w.h.AddrList(nil, unix.AF_UNSPEC)
	for _, a := range list {
		s.local[addrOf(a.IP)] = true
	}
	return s, explain("list the machine's addresses", err)
}
