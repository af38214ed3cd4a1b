// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package fingerprint

import (
	"net/netip"
	"testing"

	"github.com/reeve-run/reeve/api"
)

func TestKeptCoresAreNotReservable(t *testing.T) {
	m := &Machine{Attributes: map[string]string{}, Resources: &api.NodeResources{CPU: api.NodeCPU{ReservableCPUCores: []uint16{0, 1, 2, 3}}}}
	m.Keep([]uint16{0, 2})
	if got := api.FormatCores(m.Resources.CPU.ReservableCPUCores); got != "1,3" || m.Attributes["cpu.reservablecores"] != "2" {
		t.Errorf("cores %s, attribute %s", got, m.Attributes["cpu.reservablecores"])
	}
}

func TestHostNetworksFindTheirAddress(t *testing.T) {
	addresses := []ownAddress{
		{"lo", netip.MustParseAddr("127.0.0.1")}, {"eth0", netip.MustParseAddr("fd00::1")},
		{"eth0", netip.MustParseAddr("10.0.0.5")}, {"eth1", netip.MustParseAddr("203.0.113.9")},
	}
	for _, test := range []struct {
		network api.HostNetwork
		want    string
	}{
		{api.HostNetwork{CIDR: "203.0.113.0/24"}, "203.0.113.9"},
		{api.HostNetwork{Interface: "eth0"}, "10.0.0.5"},
		{api.HostNetwork{Interface: "eth0", CIDR: "fd00::/8"}, "fd00::1"},
		{api.HostNetwork{Interface: "eth1", CIDR: "10.0.0.0/8"}, ""},
		{api.HostNetwork{CIDR: "nonsense"}, ""},
	} {
		got := ""
		if h := match(test.network, addresses); h != nil {
			got = h.Address
		}
		if got != test.want {
			t.Errorf("%+v has address %q, want %q", test.network, got, test.want)
		}
	}
	found, missing := HostNetworks([]api.HostNetwork{{Name: "local", CIDR: "127.0.0.0/8"}, {Name: "none", CIDR: "255.255.255.254/32"}})
	if found["local"] == nil || found["local"].Address != "127.0.0.1" || len(missing) != 1 {
		t.Errorf("found %v, missing %v", found, missing)
	}
}
