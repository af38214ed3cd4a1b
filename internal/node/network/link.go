// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package network

import (
	"fmt"
	"net/netip"
	"os"
	"strings"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"
)

// connect makes the pair of links between an allocation's namespace and the bridge. It replaces
// what an interrupted attempt left.
//
// The bridge learns no addresses from the frames of an allocation: the addresses and their ports
// are permanent entries, so an allocation cannot draw the frames of another one to itself.
func (w *wire) connect(r *Record, namespace string) error {
	bridge, err := w.h.LinkByName(w.bridge)
	if err != nil {
		return explain("find bridge "+w.bridge, err)
	}
	ns, err := os.Open(namespace)
	if err != nil {
		return err
	}
	defer ns.Close()
	name := linkName(w.node, r.Alloc)
	if err := w.removeLink(w.h, r.Alloc); err != nil {
		return err
	}
	mac := hardwareAddress(r.Address.Addr())
	a := netlink.NewLinkAttrs()
	a.Name, a.MasterIndex, a.MTU, a.Alias = name, bridge.Attrs().Index, bridge.Attrs().MTU, owner+w.node+" "+r.Alloc
	v := &netlink.Veth{LinkAttrs: a, PeerName: Device, PeerHardwareAddr: mac, PeerNamespace: netlink.NsFd(int(ns.Fd())), PeerMTU: uint32(a.MTU)}
	if err := w.h.LinkAdd(v); err != nil {
		return explain("make the allocation's link", err)
	}
	link, err := w.h.LinkByName(name)
	if err != nil {
		return explain("find the allocation's link", err)
	}
	for _, step := range []struct {
		what string
		do   func() error
	}{
		{"name the owner of", func() error { return w.h.LinkSetAlias(link, a.Alias) }},
		{"isolate", func() error { return w.h.LinkSetIsolated(link, true) }},
		{"stop learning on", func() error { return w.h.LinkSetLearning(link, false) }},
		{"stop flooding on", func() error { return w.h.LinkSetFlood(link, false) }},
		{"start", func() error { return w.h.LinkSetUp(link) }},
		{"set the hardware address behind", func() error {
			return w.h.NeighSet(&netlink.Neigh{
				LinkIndex: link.Attrs().Index, Family: unix.AF_BRIDGE, Flags: netlink.NTF_MASTER, State: netlink.NUD_NOARP | netlink.NUD_PERMANENT, HardwareAddr: mac,
			})
		}},
	} {
		if err := step.do(); err != nil {
			return explain(step.what+" the allocation's link", err)
		}
	}
	for _, ip := range r.addresses() {
		if err := w.h.NeighSet(neighbour(bridge, ip, r)); err != nil {
			return explain("set the allocation's hardware address on the bridge", err)
		}
	}
	return within(namespace, func() error { return address(r) })
}

// neighbour returns the entry of an allocation's address in the machine's table of neighbours.
func neighbour(bridge netlink.Link, ip netip.Addr, r *Record) *netlink.Neigh {
	family := unix.AF_INET
	if ip.Is6() {
		family = unix.AF_INET6
	}
	return &netlink.Neigh{
		LinkIndex: bridge.Attrs().Index, Family: family, State: netlink.NUD_PERMANENT, IP: ip.AsSlice(), HardwareAddr: hardwareAddress(r.Address.Addr()),
	}
}

// addresses returns the allocation's addresses.
func (r *Record) addresses() (all []netip.Addr) {
	for _, p := range []netip.Prefix{r.Address, r.Address6} {
		if p.IsValid() {
			all = append(all, p.Addr())
		}
	}
	return all
}

// address configures the allocation's interface, on a thread in its namespace. It has a single
// address and one neighbour, the gateway: everything else is behind it.
func address(r *Record) error {
	h, err := netlink.NewHandle(unix.NETLINK_ROUTE)
	if err != nil {
		return explain("open netlink", err)
	}
	defer h.Close()
	link, err := h.LinkByName(Device)
	if err != nil {
		return explain("find the allocation's interface", err)
	}
	for _, p := range []netip.Prefix{r.Address, r.Address6} {
		if !p.IsValid() {
			continue
		}
		a := &netlink.Addr{IPNet: ipNet(single(p.Addr()))}
		if p.Addr().Is6() {
			a.Flags = unix.IFA_F_NODAD
		}
		if err := h.AddrReplace(link, a); err != nil {
			return explain("set the allocation's address "+p.Addr().String(), err)
		}
	}
	if err := h.LinkSetUp(link); err != nil {
		return explain("start the allocation's interface", err)
	}
	for _, g := range []netip.Addr{r.Gateway, r.Gateway6} {
		if !g.IsValid() {
			continue
		}
		all := netip.PrefixFrom(netip.IPv4Unspecified(), 0)
		if g.Is6() {
			all = netip.PrefixFrom(netip.IPv6Unspecified(), 0)
		}
		index := link.Attrs().Index
		if err := h.RouteReplace(&netlink.Route{LinkIndex: index, Dst: ipNet(single(g)), Scope: netlink.SCOPE_LINK}); err != nil {
			return explain("set the route to the gateway "+g.String(), err)
		}
		if err := h.RouteReplace(&netlink.Route{LinkIndex: index, Dst: ipNet(all), Gw: g.AsSlice(), Flags: int(netlink.FLAG_ONLINK)}); err != nil {
			return explain("set the default route", err)
		}
	}
	return nil
}

// disconnect removes an allocation's link, if it exists. The kernel takes tens of milliseconds for that, and needs the
// processors for little of them. So each removal has a handle of its own, and no other waits for it.
func (w *wire) disconnect(alloc string) error {
	var h *netlink.Handle
	var link netlink.Link
	var ended <-chan struct{}
	err := w.inHost(func() (err error) {
		if h, err = netlink.NewHandle(unix.NETLINK_ROUTE); err != nil {
			return explain("open netlink", err)
		}
		if link, err = w.findLink(h, alloc); link != nil {
			ended = w.ends.wait(link.Attrs().Index)
		}
		return err
	})
	if link == nil {
		if h != nil {
			h.Close()
		}
		return err
	}
	removed := make(chan error, 1)
	w.ends.late.Go(func() {
		defer h.Close()
		removed <- w.removeFound(h, link, alloc)
		w.ends.forget(link.Attrs().Index)
	})
	select {
	case <-ended:
		return nil
	case err := <-removed:
		return err
	}
}

// removeLink removes an allocation's link, if it exists, and waits for the kernel.
func (w *wire) removeLink(h *netlink.Handle, alloc string) error {
	link, err := w.findLink(h, alloc)
	if link == nil {
		return err
	}
	return w.removeFound(h, link, alloc)
}

// findLink returns an allocation's link, nil if it does not exist.
func (w *wire) findLink(h *netlink.Handle, alloc string) (netlink.Link, error) {
	link, err := h.LinkByName(linkName(w.node, alloc))
	if _, absent := err.(netlink.LinkNotFoundError); absent || isAbsent(err) {
		return nil, nil
	}
	if err != nil {
		return nil, explain("find the link of allocation "+alloc, err)
	}
	return link, nil
}

func (w *wire) removeFound(h *netlink.Handle, link netlink.Link, alloc string) error {
	err := h.LinkDel(link)
	if isAbsent(err) {
		return nil
	}
	return explain("remove the link of allocation "+alloc, err)
}

// forget removes an allocation's addresses from the table of neighbours.
func (w *wire) forget(r *Record) error {
	bridge, err := w.h.LinkByName(w.bridge)
	if err != nil {
		return nil // the entries ended with the bridge
	}
	for _, ip := range r.addresses() {
		if err := w.h.NeighDel(neighbour(bridge, ip, r)); err != nil && !isAbsent(err) {
			return explain(fmt.Sprintf("remove the neighbour %s", ip), err)
		}
	}
	return nil
}

// links returns the names of the node's links.
func (w *wire) links() (map[string]netlink.Link, error) {
	all, err := w.h.LinkList()
	if err != nil {
		return nil, explain("list the machine's interfaces", err)
	}
	own := map[string]netlink.Link{}
	for _, l := range all {
		if strings.HasPrefix(l.Attrs().Name, linkPrefix(w.node)) && l.Type() == "veth" {
			own[l.Attrs().Name] = l
		}
	}
	return own, nil
}
