// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package node

import (
	"testing"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/node/network"
)

func TestMappedPortsAreBounded(t *testing.T) {
	for _, c := range []struct {
		p    api.PortMapping
		want network.Port
		ok   bool
	}{
		{api.PortMapping{Value: 20001, To: 80}, network.Port{Host: 20001, To: 80}, true},
		{api.PortMapping{Value: 20001}, network.Port{Host: 20001, To: 20001}, true},
		{api.PortMapping{Value: 20001, To: -1, IgnoreCollision: true}, network.Port{Host: 20001, To: 20001, Shared: true}, true},
		{api.PortMapping{Value: 20001, HostNetwork: api.HostNetworkDefault, HostIP: "10.0.0.1"}, network.Port{Host: 20001, To: 20001}, true},
		{api.PortMapping{Value: 0}, network.Port{}, false},
		{api.PortMapping{Value: -5}, network.Port{}, false},
		{api.PortMapping{Value: 65536}, network.Port{}, false},
		{api.PortMapping{Value: 65537, To: 1}, network.Port{}, false},
		{api.PortMapping{Value: 1, To: 65536}, network.Port{}, false},
		{api.PortMapping{Value: 1, HostNetwork: "public", HostIP: "nonsense"}, network.Port{}, false},
	} {
		got, err := mapped(c.p)
		if (err == nil) != c.ok || got != c.want {
			t.Errorf("%+v: %+v, %v", c.p, got, err)
		}
	}
	got, err := mapped(api.PortMapping{Value: 80, HostNetwork: "public", HostIP: "192.0.2.1"})
	if err != nil || got.IP.String() != "192.0.2.1" {
		t.Errorf("a port of a host network: %+v, %v", got, err)
	}
}

func TestNamesAreValidatedAfterTheReplacement(t *testing.T) {
	n := &networks{}
	evil := func(string) string { return "a\n127.0.0.1 bank.example" }
	a := &api.Allocation{ID: "a"}
	if _, err := n.Up(t.Context(), a, &api.Network{Mode: "bridge", Hostname: "${x}"}, evil); err == nil {
		t.Error("a host name with a line is accepted")
	}
	keep := func(s string) string {
		if s == "" {
			return s
		}
		return evil(s)
	}
	if _, err := n.Up(t.Context(), a, &api.Network{Mode: "bridge", DNS: &api.DNS{Searches: []string{"${x}"}}}, keep); err == nil {
		t.Error("a search domain with a line is accepted")
	}
}
