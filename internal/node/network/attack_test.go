// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package network

import (
	"context"
	"net"
	"net/netip"
	"testing"
	"time"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"
)

// shortly is the time within which an attack would have succeeded.
const shortly = 300 * time.Millisecond

// from connects within a namespace from an address.
func from(namespace string, local netip.Addr, at string) error {
	return within(namespace, func() error {
		ctx, cancel := context.WithTimeout(context.Background(), shortly)
		defer cancel()
		d := net.Dialer{}
		if local.IsValid() {
			d.LocalAddr = &net.TCPAddr{IP: local.AsSlice()}
		}
		c, err := d.DialContext(ctx, "tcp", at)
		if err == nil {
			c.Close()
		}
		return err
	})
}

// change changes the interface of an allocation from inside, as a task with all rights could.
func change(t *testing.T, namespace string, do func(h *netlink.Handle, eth netlink.Link) error) {
	t.Helper()
	err := within(namespace, func() error {
		h, err := netlink.NewHandle()
		if err != nil {
			return err
		}
		defer h.Close()
		eth, err := h.LinkByName(Device)
		if err != nil {
			return err
		}
		return do(h, eth)
	})
	if err != nil {
		t.Fatal(err)
	}
}

// send sends a frame from an allocation.
func send(t *testing.T, namespace string, frame []byte) {
	t.Helper()
	change(t, namespace, func(_ *netlink.Handle, eth netlink.Link) error {
		fd, err := unix.Socket(unix.AF_PACKET, unix.SOCK_RAW|unix.SOCK_CLOEXEC, 0)
		if err != nil {
			return err
		}
		defer unix.Close(fd)
		return unix.Sendto(fd, frame, 0, &unix.SockaddrLinklayer{Ifindex: eth.Attrs().Index})
	})
}

func TestAddressOfAnotherAllocationDoesNotWork(t *testing.T) {
	m := newMachine(t)
	f := m.fabric()
	one, two := m.up(f, 1, 20001), m.up(f, 2, 20002)
	attacker := f.namespace(one.Alloc)
	m.serve(m.outside(), outside+":9000", "out")
	m.serve(m.outside(), "[2001:db8::1]:9000", "out")
	for _, at := range []string{outside + ":9000", "[2001:db8::1]:9000"} {
		if _, err := ask(attacker, "tcp", at); err != nil {
			t.Fatalf("its own address: %v", err)
		}
	}
	stolen := []netip.Addr{two.Address.Addr(), netipAddr("172.26.64.77"), two.Address6.Addr()}
	change(t, attacker, func(h *netlink.Handle, eth netlink.Link) error {
		for _, ip := range stolen {
			if err := h.AddrAdd(eth, &netlink.Addr{IPNet: ipNet(single(ip)), Flags: unix.IFA_F_NODAD}); err != nil {
				return err
			}
		}
		return nil
	})
	for _, ip := range stolen {
		at := outside + ":9000"
		if ip.Is6() {
			at = "[2001:db8::1]:9000"
		}
		if err := from(attacker, ip, at); err == nil {
			t.Errorf("a connection from %s, which is not the allocation's, works", ip)
		}
	}
	// It announces the address of the other allocation, and of the gateway, as its own.
	mac := hardwareAddress(one.Address.Addr())
	for _, ip := range []netip.Addr{two.Address.Addr(), one.Gateway} {
		frame := append([]byte{255, 255, 255, 255, 255, 255}, mac...)
		frame = append(frame, 8, 6, 0, 1, 8, 0, 6, 4, 0, 2)
		frame = append(append(frame, mac...), ip.AsSlice()...)
		frame = append(append(frame, 255, 255, 255, 255, 255, 255), ip.AsSlice()...)
		send(t, attacker, frame)
	}
	if got, err := ask(m.outside(), "tcp", "198.51.100.2:20002"); got != "2 from 198.51.100.1" {
		t.Errorf("the other allocation after false ARP: %q, %v", got, err)
	}
	// It takes the hardware address of the other allocation.
	change(t, attacker, func(h *netlink.Handle, eth netlink.Link) error {
		return h.LinkSetHardwareAddr(eth, hardwareAddress(two.Address.Addr()))
	})
	if err := from(attacker, one.Address.Addr(), outside+":9000"); err == nil {
		t.Error("a connection from another hardware address works")
	}
	if got, err := ask(m.outside(), "tcp", "198.51.100.2:20002"); got != "2 from 198.51.100.1" {
		t.Errorf("the other allocation after a false hardware address: %q, %v", got, err)
	}
}

func TestLoopbackOfTheMachineIsNotReachable(t *testing.T) {
	m := newMachine(t)
	f := m.fabric()
	one := m.up(f, 1, 20001)
	attacker := f.namespace(one.Alloc)
	m.serve(m.path, "127.0.0.1:7000", "secret")
	change(t, attacker, func(h *netlink.Handle, eth netlink.Link) error {
		for _, name := range []string{"all", Device} {
			if err := setting("ipv4/conf/"+name+"/route_localnet", "1"); err != nil {
				return err
			}
		}
		lo, err := h.LinkByName("lo")
		if err != nil {
			return err
		}
		if err := h.AddrDel(lo, &netlink.Addr{IPNet: ipNet(netip.MustParsePrefix("127.0.0.1/8"))}); err != nil {
			return err
		}
		return h.RouteAdd(&netlink.Route{LinkIndex: eth.Attrs().Index, Dst: ipNet(netip.MustParsePrefix("127.0.0.1/32")), Gw: one.Gateway.AsSlice(), Flags: int(netlink.FLAG_ONLINK)})
	})
	for _, at := range []string{"127.0.0.1:7000", "127.0.0.1:20001"} {
		if err := from(attacker, one.Address.Addr(), at); err == nil {
			t.Errorf("a connection to the machine's %s works", at)
		}
	}
	// Another machine reaches neither the bridge's address nor the name server there.
	m.serve(m.path, one.Gateway.String()+":7001", "names")
	if _, err := ask(attacker, "tcp", one.Gateway.String()+":7001"); err != nil {
		t.Errorf("an allocation at the bridge's address: %v", err)
	}
	change2 := within(m.outside(), func() error {
		l, err := netlink.LinkByName("uplink")
		if err != nil {
			return err
		}
		return netlink.RouteAdd(&netlink.Route{LinkIndex: l.Attrs().Index, Dst: ipNet(one.Address.Masked()), Gw: net.ParseIP("198.51.100.2")})
	})
	if change2 != nil {
		t.Fatal(change2)
	}
	if err := from(m.outside(), netip.Addr{}, one.Gateway.String()+":7001"); err == nil {
		t.Error("another machine reaches the bridge's address")
	}
}

func TestBridgeIgnoresRouters(t *testing.T) {
	m := newMachine(t)
	f := m.fabric()
	m.up(f, 1, 20001)
	err := f.w.inHost(func() error {
		for _, name := range []string{"accept_ra", "autoconf", "accept_redirects"} {
			if got := readSetting("ipv6/conf/" + DefaultBridge + "/" + name); got != "0" {
				t.Errorf("%s of the bridge is %q, want 0", name, got)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
