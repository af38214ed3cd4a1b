// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package network

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"testing"
	"time"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"
)

// Numbers of packets without an answer that are enough.
const few, many = 4, 60

// A sender sends from one port without a pause.
type sender struct {
	c net.Conn
	t *testing.T
}

func (m *machine) sender(namespace, at string) *sender {
	m.t.Helper()
	s := &sender{t: m.t.(*testing.T)}
	if err := within(namespace, func() (err error) {
		s.c, err = net.Dial("udp", at)
		return err
	}); err != nil {
		m.t.Fatal(err)
	}
	m.t.Cleanup(func() { s.c.Close() })
	return s
}

// ask sends until there is an answer, at most so many times, and waits for each for a twentieth of a second.
func (s *sender) ask(times int) string {
	s.t.Helper()
	b := make([]byte, 64)
	for range times {
		if _, err := fmt.Fprint(s.c, "?"); err != nil && !errors.Is(err, unix.ECONNREFUSED) {
			s.t.Fatal(err)
		}
		s.c.SetReadDeadline(time.Now().Add(50 * time.Millisecond))
		n, err := s.c.Read(b)
		if err == nil {
			return string(b[:n])
		}
		if !errors.Is(err, os.ErrDeadlineExceeded) && !errors.Is(err, unix.ECONNREFUSED) {
			s.t.Fatal(err)
		}
	}
	return ""
}

// drain forgets answers that are under way.
func (s *sender) drain() {
	b := make([]byte, 64)
	s.c.SetReadDeadline(time.Now().Add(50 * time.Millisecond))
	for {
		if _, err := s.c.Read(b); err != nil && !errors.Is(err, unix.ECONNREFUSED) {
			return
		}
	}
}

// A sender that never stops reaches each allocation that gets the port, and the flows of others stay.
func TestASenderThatNeverStopsFollowsThePort(t *testing.T) {
	m := newMachine(t)
	f := m.fabric()
	m.up(f, 9, 8009)
	paths := []struct{ namespace, at string }{
		{m.outside(), "198.51.100.2:8001"}, {m.path, "127.0.0.1:8001"}, {m.path, "198.51.100.2:8001"}, {m.outside(), "[2001:db8::2]:8001"},
	}
	var senders []*sender
	for _, p := range paths {
		s := m.sender(p.namespace, p.at)
		if got := s.ask(few); got != "" {
			t.Errorf("%s answers %q without an allocation", p.at, got)
		}
		senders = append(senders, s)
	}
	other := m.sender(m.outside(), "198.51.100.2:8009")
	if got := other.ask(many); got != "9" {
		t.Fatalf("the other allocation answers %q", got)
	}
	before := m.flows(8009)
	for n := 1; n <= 3; n++ {
		m.up(f, n, 8001)
		for i, s := range senders {
			s.drain()
			if got := s.ask(many); got != fmt.Sprint(n) {
				t.Errorf("allocation %d: %s answers %q", n, paths[i].at, got)
			}
		}
		if err := f.Release(allocID(n))(); err != nil {
			t.Fatal(err)
		}
		for i, s := range senders {
			s.drain()
			if got := s.ask(few); got != "" {
				t.Errorf("after allocation %d: %s answers %q", n, paths[i].at, got)
			}
		}
	}
	if after := m.flows(8009); before != 1 || after != 1 {
		t.Errorf("the other allocation has %d flows, and had %d", after, before)
	}
}

// flows counts those to a port.
func (m *machine) flows(port uint16) (n int) {
	m.t.Helper()
	err := within(m.path, func() error {
		list, err := netlink.ConntrackTableList(netlink.ConntrackTable, unix.AF_INET)
		for _, x := range list {
			if x.Forward.DstPort == port && x.Forward.Protocol == unix.IPPROTO_UDP {
				n++
			}
		}
		return err
	})
	if err != nil {
		m.t.Fatal(err)
	}
	return n
}

func TestStaleFlowsAreThoseWithoutAnAllocation(t *testing.T) {
	s := &flowFilter{
		subnets: []netip.Prefix{netip.MustParsePrefix("172.26.64.0/20")},
		live:    map[netip.Addr]bool{netipAddr("172.26.64.1"): true, netipAddr("172.26.64.2"): true},
		local:   map[netip.Addr]bool{netipAddr("198.51.100.2"): true, netipAddr("192.0.2.2"): true, netipAddr("127.0.0.1"): true},
		ports:   []Port{{Host: 53, To: 53}, {Host: 8000, To: 80, IP: netipAddr("192.0.2.2")}},
	}
	for _, c := range []struct {
		name           string
		protocol       uint8
		from, to, back string
		port           uint16
		want           bool
	}{
		{"to a live allocation", 17, outside, "198.51.100.2", "172.26.64.2", 53, false},
		{"to one that has ended", 17, outside, "198.51.100.2", "172.26.64.3", 53, true},
		{"to the machine, before the allocation", 17, outside, "198.51.100.2", "198.51.100.2", 53, true},
		{"within the machine", 17, "127.0.0.1", "127.0.0.1", "127.0.0.1", 53, true},
		{"to a port of another address", 17, outside, "198.51.100.2", "198.51.100.2", 8000, false},
		{"to the port's only address", 17, outside, "192.0.2.2", "192.0.2.2", 8000, true},
		{"to a program of the machine", 17, outside, "198.51.100.2", "198.51.100.2", 123, false},
		{"from a live allocation", 17, "172.26.64.2", "203.0.113.9", "203.0.113.9", 53, false},
		{"from one that has ended", 17, "172.26.64.9", "203.0.113.9", "203.0.113.9", 53, true},
		{"straight to one that has ended", 17, outside, "172.26.64.9", "172.26.64.9", 80, true},
		{"to the gateway", 17, "172.26.64.2", "172.26.64.1", "172.26.64.1", 5353, false},
		{"through the machine", 17, outside, "203.0.113.9", "203.0.113.9", 53, false},
		{"TCP", 6, outside, "198.51.100.2", "172.26.64.3", 53, false},
	} {
		flow := &netlink.ConntrackFlow{
			Forward: netlink.IPTuple{Protocol: c.protocol, SrcIP: net.ParseIP(c.from), DstIP: net.ParseIP(c.to), DstPort: c.port},
			Reverse: netlink.IPTuple{Protocol: c.protocol, SrcIP: net.ParseIP(c.back), DstIP: net.ParseIP(c.from)},
		}
		if got := s.MatchConntrackFlow(flow); got != c.want {
			t.Errorf("%s: stale is %v", c.name, got)
		}
	}
	if s.MatchConntrackFlow(&netlink.ConntrackFlow{Forward: netlink.IPTuple{Protocol: 17}}) {
		t.Error("a flow without addresses is stale")
	}
}
