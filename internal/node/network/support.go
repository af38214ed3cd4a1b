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

	"github.com/reeve-run/reeve/internal/node/thread"
)

// Support reports why this machine cannot give allocations their own networks; nil if it can. It
// tries everything in a namespace that ends with the attempt, and changes nothing else.
func Support(c Config) error {
	if err := thread.Run(func() error { return try(c) }); err != nil {
		return err
	}
	w := &wire{node: c.Node, bridge: c.Bridge, host: c.Host}
	if err := w.open(); err != nil {
		return err
	}
	defer w.close()
	bridge, err := w.ownBridge()
	if err != nil || bridge != nil {
		return err
	}
	return w.checkRoutes(newPool(c.Subnet, c.Subnet6).bridgeAddresses())
}

// bridgeAddresses returns the addresses of the bridge with the subnets.
func (p *pool) bridgeAddresses() []netip.Prefix {
	four, six := p.gateways()
	all := []netip.Prefix{netip.PrefixFrom(four, p.subnet.Bits())}
	if six.IsValid() {
		all = append(all, netip.PrefixFrom(six, p.subnet6.Bits()))
	}
	return all
}

// try makes a bridge, a pair of links and all rules, on a thread that then ends.
func try(c Config) error {
	if err := unix.Unshare(unix.CLONE_NEWNET); err != nil {
		return explain("make a network namespace", err)
	}
	h, err := netlink.NewHandle(unix.NETLINK_ROUTE)
	if err != nil {
		return explain("open netlink", err)
	}
	defer h.Close()
	bridge := netlink.NewLinkAttrs()
	bridge.Name = c.Bridge
	if err := h.LinkAdd(&netlink.Bridge{LinkAttrs: bridge}); err != nil {
		return explain("make a bridge", err)
	}
	link, err := h.LinkByName(c.Bridge)
	if err != nil {
		return explain("find the bridge", err)
	}
	pair := netlink.NewLinkAttrs()
	pair.Name, pair.MasterIndex = "rv0", link.Attrs().Index
	if err := h.LinkAdd(&netlink.Veth{LinkAttrs: pair, PeerName: "rv1"}); err != nil {
		return explain("make a pair of links", err)
	}
	port, err := h.LinkByName("rv0")
	if err != nil {
		return explain("find the link", err)
	}
	if err := h.LinkSetIsolated(port, true); err != nil {
		return explain("isolate a port of a bridge", err)
	}
	t, err := openTable(c.Node, c.Bridge, -1)
	if err != nil {
		return err
	}
	defer t.close()
	return t.replace(newPool(c.Subnet, c.Subnet6).bridgeAddresses(), nil)
}

// checkFree returns an error if a program of the machine has one of the ports: the rules would
// take its connections away.
func (f *Fabric) checkFree(ports []Port) error {
	return f.w.inHost(func() error {
		for _, p := range ports {
			if p.Shared {
				continue
			}
			host := ""
			if p.IP.IsValid() {
				host = p.IP.String()
			}
			at := net.JoinHostPort(host, strconv.Itoa(int(p.Host)))
			l, err := net.Listen("tcp", at)
			if err == nil {
				l.Close()
				var u net.PacketConn
				if u, err = net.ListenPacket("udp", at); err == nil {
					u.Close()
				}
			}
			if err != nil {
				return fmt.Errorf("port %d of the node is not free: %w; stop the program that uses it, or give the group another port", p.Host, err)
			}
		}
		return nil
	})
}
