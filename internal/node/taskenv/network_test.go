// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package taskenv

import (
	"testing"

	"github.com/reeve-run/reeve/api"
)

func TestPortsOfAnOwnNetwork(t *testing.T) {
	in := input()
	in.Group.Networks = []*api.Network{{Mode: api.NetworkBridge}}
	in.Alloc.NetworkStatus = &api.AllocNetworkStatus{InterfaceName: "eth0", Address: "172.26.64.9"}
	e := Build(in)
	for name, want := range map[string]string{
		"PORT_my_admin": "99", "ALLOC_PORT_my_admin": "99", "HOST_PORT_my_admin": "20002", "IP_my_admin": "10.0.0.5", "ADDR_my_admin": "10.0.0.5:20002",
		"HOST_ADDR_my_admin": "10.0.0.5:20002", "ALLOC_IP_my_admin": "172.26.64.9", "ALLOC_ADDR_my_admin": "172.26.64.9:99", "ALLOC_INTERFACE_my_admin": "eth0",
		"ALLOC_ADDR_http": "172.26.64.9:20001",
	} {
		for _, p := range []string{prefix, compatPrefix} {
			if got := e.Get(p + name); got != want {
				t.Errorf("%s%s = %q, want %q", p, name, got, want)
			}
		}
	}
}

// Containers of a group in the node's network share one for the ports that they publish. All tasks see where
// these ports lead.
func TestPortsThatContainersPublish(t *testing.T) {
	in := input()
	in.Group.Tasks = append(in.Group.Tasks, &api.Task{Name: "db", Driver: "docker", Config: map[string]any{"image": "redis:7", "ports": []any{"my-admin"}}})
	in.Alloc.NetworkStatus = &api.AllocNetworkStatus{InterfaceName: "eth0", Address: "172.26.64.9"}
	e := Build(in)
	for name, want := range map[string]string{
		"PORT_my_admin": "99", "HOST_PORT_my_admin": "20002", "ADDR_my_admin": "10.0.0.5:20002", "ALLOC_ADDR_my_admin": "172.26.64.9:99",
		"PORT_http": "20001", "ADDR_http": "10.0.0.5:20001", "ALLOC_ADDR_http": "",
	} {
		if got := e.Get(prefix + name); got != want {
			t.Errorf("%s = %q, want %q", name, got, want)
		}
	}
}
