// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package network

import (
	"testing"
)

func TestBridgePortIsReachableFromEverywhere(t *testing.T) {
	m := newMachine(t)
	f := m.fabric()
	one := m.up(f, 1, 20001)
	two := m.up(f, 2, 20002)
	if one.Address == two.Address {
		t.Fatalf("both have the address %s", one.Address)
	}
	self, other := f.namespace(one.Alloc), f.namespace(two.Alloc)
	for _, c := range []struct{ from, namespace, at, want string }{
		{"another machine", m.outside(), "198.51.100.2:20001", "1 from 198.51.100.1"},
		{"another machine", m.outside(), "[2001:db8::2]:20001", "1 from 2001:db8::1"},
		{"the machine", m.path, "198.51.100.2:20001", "1 from 198.51.100.2"},
		{"the machine", m.path, "[2001:db8::2]:20001", "1 from 2001:db8::2"},
		{"the machine's loopback", m.path, "127.0.0.1:20001", "1 from 172.26.64.1"},
		{"another allocation", other, "198.51.100.2:20001", "1 from " + two.Address.Addr().String()},
		{"another allocation", other, "[2001:db8::2]:20001", "1 from " + two.Address6.Addr().String()},
		{"another allocation, directly", other, one.Address.Addr().String() + ":80", "1 from " + two.Address.Addr().String()},
		{"another allocation, directly", other, "[" + one.Address6.Addr().String() + "]:80", "1 from " + two.Address6.Addr().String()},
		{"the allocation itself", self, "198.51.100.2:20001", "1 from 172.26.64.1"},
		{"the allocation itself", self, "[2001:db8::2]:20001", "1 from fd72:6565:7665::1"},
		{"the allocation's loopback", self, "127.0.0.1:80", "1 from 127.0.0.1"},
	} {
		for _, network := range []string{"tcp", "udp"} {
			want := c.want
			if network == "udp" {
				want = "1"
			}
			if got, err := ask(c.namespace, network, c.at); got != want {
				t.Errorf("%s %s over %s: %q, %v; want %q", c.from, c.at, network, got, err, want)
			}
		}
	}
	m.serve(m.outside(), outside+":9000", "out")
	if got, err := ask(self, "tcp", outside+":9000"); got != "out from 198.51.100.2" {
		t.Errorf("an allocation reaches another machine: %q, %v", got, err)
	}
}
