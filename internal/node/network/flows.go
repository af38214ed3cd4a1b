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

// forgetFlows removes the stale flows. A kernel without a list of flows loses no network by that: old senders wait
// until their flow ends. It takes tens of milliseconds, as the kernel passes over its whole table, however few flows
// are in it. So those who change ports at the same time share a pass.
func (f *Fabric) forgetFlows() {
	if err := f.tryForgetFlows(); err != nil {
		f.c.Logger.Warn("cannot forget flows of UDP: senders that send without a pause may reach ports of allocations late", "error", err)
	}
}

// forgetFlowsLater does so in the background: the start of a task takes longer.
func (f *Fabric) forgetFlowsLater() {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.life.Err() == nil {
		f.removals.Go(func() { f.flows.Do(f.life) })
	}
}

func (f *Fabric) tryForgetFlows() error {
	var h *netlink.Handle
	if err := f.w.inHost(func() (err error) {
		h, err = netlink.NewHandle(unix.NETLINK_NETFILTER, unix.NETLINK_ROUTE)
		return explain("open netlink", err)
	}); err != nil {
		return err
	}
	defer h.Close()
	s, err := f.staleFlows(h)
	if err != nil {
		return err
	}
	families, err := f.familiesWith(h, s)
	errs := []error{err}
	for _, family := range families {
		errs = append(errs, repeat(func() error {
			_, err := h.ConntrackDeleteFilters(netlink.ConntrackTable, family, s)
			return err
		}))
	}
	return explain("list the flows of the machine", errors.Join(errs...))
}

// familiesWith returns the families with stale flows: usually there are none. One pass is for both families, because
// the removal of a link waits while the kernel is in it.
func (f *Fabric) familiesWith(h *netlink.Handle, s *flowFilter) (families []netlink.InetFamily, err error) {
	err = repeat(func() error {
		families = nil
		flows, err := h.ConntrackTableList(netlink.ConntrackTable, unix.AF_UNSPEC)
		for _, flow := range flows {
			family := netlink.InetFamily(flow.FamilyType)
			if family == unix.AF_INET6 && !f.c.Subnet6.IsValid() {
				continue // ports lead nowhere
			}
			if s.MatchConntrackFlow(flow) && !slices.Contains(families, family) {
				families = append(families, family)
			}
		}
		return err
	})
	return families, err
}

// repeat repeats what reads a list, if the list has changed meanwhile. A kernel without the list is no error.
func repeat(read func() error) (err error) {
	for range flowAttempts {
		if err = read(); !errors.Is(err, netlink.ErrDumpInterrupted) {
			break
		}
	}
	if isAbsent(err) {
		return nil
	}
	return err
}

// staleFlows describes the flows that are stale.
func (f *Fabric) staleFlows(h *netlink.Handle) (*flowFilter, error) {
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
		if f.isUnruled(n) {
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
	list, err := h.AddrList(nil, unix.AF_UNSPEC)
	for _, a := range list {
		s.local[addrOf(a.IP)] = true
	}
	return s, explain("list the machine's addresses", err)
}
