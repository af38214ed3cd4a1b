// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package network

import (
	"fmt"
	"net"
	"net/netip"
	"strconv"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"
)

// owner is the beginning of the alias of each link that a node makes.
const owner = "reeve "

// A wire is the part of a node's machine that consists of links, addresses and routes.
type wire struct {
	node   string
	bridge string
	host   string // path of the namespace of the machine; "": that of the process
	h      *netlink.Handle
	ends   ends
}

// inHost calls do in the machine's namespace.
func (w *wire) inHost(do func() error) error {
	if w.host == "" {
		return do()
	}
	return within(w.host, do)
}

func (w *wire) open() error {
	if w.h != nil {
		return nil
	}
	return w.inHost(func() (err error) {
		w.h, err = netlink.NewHandle(unix.NETLINK_ROUTE)
		return explain("open netlink", err)
	})
}

// close closes the ways to the kernel, after the calls that run.
func (w *wire) close() {
	w.ends.late.Wait()
	if w.h != nil {
		w.h.Close()
		w.h = nil
	}
}

// raiseBridge makes the bridge with the gateways' addresses, and lets the machine forward.
func (w *wire) raiseBridge(gateways []netip.Prefix) (netlink.Link, error) {
	link, err := w.ownBridge()
	if err != nil {
		return nil, err
	}
	if link == nil {
		if err := w.checkRoutes(gateways); err != nil {
			return nil, err
		}
		a := netlink.NewLinkAttrs()
		a.Name, a.HardwareAddr, a.MTU = w.bridge, bridgeAddress(w.node, w.bridge), w.uplinkMTU()
		snooping := false
		if err := w.h.LinkAdd(&netlink.Bridge{LinkAttrs: a, MulticastSnooping: &snooping}); err != nil {
			return nil, explain("make bridge "+w.bridge, err)
		}
		if link, err = w.h.LinkByName(w.bridge); err != nil {
			return nil, explain("find bridge "+w.bridge, err)
		}
	}
	if link.Attrs().Alias != owner+w.node {
		if err := w.h.LinkSetAlias(link, owner+w.node); err != nil {
			return nil, explain("name the owner of bridge "+w.bridge, err)
		}
	}
	six := false
	for _, g := range gateways {
		six = six || g.Addr().Is6()
	}
	if err := w.inHost(func() error { return w.configure(six) }); err != nil {
		return nil, err
	}
	for _, g := range gateways {
		a := &netlink.Addr{IPNet: ipNet(g)}
		if g.Addr().Is6() {
			a.Flags = unix.IFA_F_NODAD
		}
		if err := w.h.AddrReplace(link, a); err != nil {
			return nil, explain(fmt.Sprintf("give bridge %s the address %s", w.bridge, g), err)
		}
	}
	if link.Attrs().Flags&net.FlagUp == 0 {
		if err := w.h.LinkSetUp(link); err != nil {
			return nil, explain("start bridge "+w.bridge, err)
		}
	}
	return link, nil
}

// ownBridge returns the bridge; nil if it does not exist. The bridge of another node is an error
// as long as it has ports.
func (w *wire) ownBridge() (netlink.Link, error) {
	link, err := w.h.LinkByName(w.bridge)
	if _, absent := err.(netlink.LinkNotFoundError); absent {
		return nil, nil
	}
	if err != nil {
		return nil, explain("find bridge "+w.bridge, err)
	}
	if link.Type() != "bridge" {
		return nil, fmt.Errorf("the machine has an interface %s of type %s: set bridge_network_name to another name", w.bridge, link.Type())
	}
	if link.Attrs().Alias == owner+w.node {
		return link, nil
	}
	all, err := w.h.LinkList()
	if err != nil {
		return nil, explain("list the machine's interfaces", err)
	}
	for _, l := range all {
		if l.Attrs().MasterIndex == link.Attrs().Index {
			return nil, fmt.Errorf("bridge %s belongs to another agent or program, and %s uses it: set bridge_network_name and bridge_network_subnet to other values, or remove the bridge (ip link delete %s)",
				w.bridge, l.Attrs().Name, w.bridge)
		}
	}
	return link, nil
}

// checkRoutes rejects subnets that overlap the machine's own networks.
func (w *wire) checkRoutes(gateways []netip.Prefix) error {
	routes, err := w.h.RouteList(nil, unix.AF_UNSPEC)
	if err != nil {
		return explain("list the machine's routes", err)
	}
	for _, r := range routes {
		to := prefixOf(r.Dst)
		if !to.IsValid() || to.Bits() == 0 {
			continue
		}
		for _, g := range gateways {
			if !to.Overlaps(g.Masked()) {
				continue
			}
			device, key := strconv.Itoa(r.LinkIndex), "bridge_network_subnet"
			if l, err := w.h.LinkByIndex(r.LinkIndex); err == nil {
				device = l.Attrs().Name
			}
			if device == w.bridge {
				continue
			}
			if g.Addr().Is6() {
				key = "bridge_network_subnet_ipv6"
			}
			return fmt.Errorf("the bridge's subnet %s overlaps the machine's route to %s on %s: set %s to a range that the machine does not use", g.Masked(), to, device, key)
		}
	}
	return nil
}

// configure sets the machine's settings, on a thread in its namespace.
func (w *wire) configure(six bool) error {
	of := "ipv4/conf/" + w.bridge + "/"
	// Programs of the machine reach the ports of allocations at 127.0.0.1. The rules drop
	// packets of allocations to that address.
	for _, s := range [][2]string{
		{"ipv4/ip_forward", "1"}, {of + "route_localnet", "1"}, {of + "send_redirects", "0"}, {of + "accept_redirects", "0"},
	} {
		if err := setting(s[0], s[1]); err != nil {
			return explain("set net/"+s[0], err)
		}
	}
	for _, name := range []string{"accept_ra", "autoconf", "accept_redirects"} {
		_ = setting("ipv6/conf/"+w.bridge+"/"+name, "0") // absent without IPv6
	}
	if !six {
		return nil
	}
	if err := w.keepRouters(); err != nil {
		return err
	}
	return explain("set net/ipv6/conf/all/forwarding", setting("ipv6/conf/all/forwarding", "1"))
}

// keepRouters lets the machine's other interfaces learn their routers although the machine
// forwards IPv6, which otherwise ends that.
func (w *wire) keepRouters() error {
	links, err := net.Interfaces()
	if err != nil {
		return explain("list the machine's interfaces", err)
	}
	for _, l := range links {
		if l.Name == w.bridge {
			continue
		}
		name := "ipv6/conf/" + l.Name + "/accept_ra"
		if readSetting(name) == "1" {
			if err := setting(name, "2"); err != nil {
				return explain("set net/"+name, err)
			}
		}
	}
	return nil
}

// uplinkMTU returns the MTU of the default route's interface, so that packets of allocations fit
// there; 0: the kernel's default.
func (w *wire) uplinkMTU() int {
	routes, err := w.h.RouteList(nil, unix.AF_INET)
	if err != nil {
		return 0
	}
	for _, r := range routes {
		if to := prefixOf(r.Dst); r.Dst == nil || to.IsValid() && to.Bits() == 0 {
			if l, err := w.h.LinkByIndex(r.LinkIndex); err == nil {
				return l.Attrs().MTU
			}
		}
	}
	return 0
}

// prefixOf converts a range of addresses; the result is invalid for nil.
func prefixOf(n *net.IPNet) netip.Prefix {
	if n == nil {
		return netip.Prefix{}
	}
	ip, ok := netip.AddrFromSlice(n.IP)
	ones, _ := n.Mask.Size()
	if !ok {
		return netip.Prefix{}
	}
	return netip.PrefixFrom(ip.Unmap(), ones)
}

func ipNet(p netip.Prefix) *net.IPNet {
	return &net.IPNet{IP: p.Addr().AsSlice(), Mask: net.CIDRMask(p.Bits(), p.Addr().BitLen())}
}

func single(ip netip.Addr) netip.Prefix { return netip.PrefixFrom(ip, ip.BitLen()) }
