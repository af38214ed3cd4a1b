// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package network

import (
	"net/netip"
	"strings"
	"testing"
)

func TestPoolGivesEachAddressOnce(t *testing.T) {
	p := newPool(netip.MustParsePrefix("10.9.0.0/29"), netip.MustParsePrefix("fd00::/64"))
	if g, g6 := p.gateways(); g.String() != "10.9.0.1" || g6.String() != "fd00::1" {
		t.Errorf("gateways %s and %s", g, g6)
	}
	records := map[string]*Record{}
	for _, owner := range []string{"a", "b", "c", "d", "e"} {
		four, six, err := p.take(owner)
		if err != nil {
			t.Fatal(err)
		}
		records[owner] = &Record{Request: Request{Alloc: owner}, Address: four, Address6: six}
	}
	if a, e := records["a"], records["e"]; a.Address.String() != "10.9.0.2/29" || a.Address6.String() != "fd00::2/64" || e.Address.String() != "10.9.0.6/29" {
		t.Errorf("first %s and %s, last %s", a.Address, a.Address6, e.Address)
	}
	if _, _, err := p.take("f"); err == nil || !strings.Contains(err.Error(), "larger bridge_network_subnet") {
		t.Errorf("a full subnet: %v", err)
	}
	p.free(records["b"])
	p.free(records["d"])
	p.free(&Record{Request: Request{Alloc: "x"}, Address: records["a"].Address}) // not its own
	for i, want := range []string{"10.9.0.3/29", "10.9.0.5/29"} {
		if four, _, err := p.take("later"); err != nil || four.String() != want {
			t.Errorf("address %d after two became free: %s, %v; want %s", i, four, err, want)
		}
	}
}

func TestPoolDoesNotReuseAddressesSoon(t *testing.T) {
	p := newPool(netip.MustParsePrefix(DefaultSubnet), netip.Prefix{})
	seen := map[netip.Prefix]bool{}
	for range 4000 {
		four, _, err := p.take("a")
		if err != nil || seen[four] {
			t.Fatalf("%s again after %d others, %v", four, len(seen), err)
		}
		seen[four] = true
		p.free(&Record{Request: Request{Alloc: "a"}, Address: four})
	}
}

func TestParseSubnet(t *testing.T) {
	for _, c := range []struct {
		text string
		six  bool
		want string // "" or a part of the error
	}{
		{DefaultSubnet, false, ""},
		{"fd00::/64", true, ""},
		{"fd00::/64", false, "no range"},
		{"10.0.0.0/8", true, "no range"},
		{"10.0.0.0", false, "no range"},
		{"10.0.0.0/30", false, "too small"},
		{"fd00::/120", true, "too small"},
		{"127.0.0.0/16", false, "cannot use"},
		{"224.0.0.0/16", false, "cannot use"},
		{"0.0.0.0/0", false, "cannot use"},
		{"::ffff:10.0.0.0/100", true, "no range"},
	} {
		_, err := ParseSubnet(c.text, c.six)
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.text, err, c.want)
		}
	}
}
