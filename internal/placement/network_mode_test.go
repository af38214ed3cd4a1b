// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package placement

import (
	"strings"
	"testing"

	"github.com/reeve-run/reeve/api"
)

func TestGroupsWithOwnNetworksNeedNodesThatHaveThem(t *testing.T) {
	driver := map[string]*api.DriverStatus{"exec": {Detected: true, Healthy: true}}
	with := &api.Node{ID: "with", Drivers: driver, Attributes: map[string]string{api.NodeAttrBridge: "1"}}
	broken := &api.Node{ID: "broken", Drivers: driver, Attributes: map[string]string{api.NodeAttrBridgeProblem: "no CAP_NET_ADMIN"}}
	older := &api.Node{ID: "older", Drivers: driver}
	plugged := &api.Node{ID: "plugged", Drivers: driver, Attributes: map[string]string{api.NodeAttrCNI + "shop": "1", api.NodeAttrCNIProblem + "lab": "no plugin vlan"}}
	const none, cni = "missing network: the node's agent gives allocations no networks of their own", "missing network: the node has no CNI network shop: install its configuration in cni_config_dir"
	for _, n := range []*api.Node{with, broken, older, plugged} {
		n.ComputedClass = api.ComputeClass(n)
	}
	job := &api.Job{ID: "j"}
	for mode, want := range map[string]map[string]string{
		"host":     {"with": "", "broken": "", "older": "", "plugged": ""},
		"bridge":   {"with": "", "broken": "missing network: no CAP_NET_ADMIN", "older": none, "plugged": none},
		"none":     {"with": "", "broken": "missing network: no CAP_NET_ADMIN", "older": none, "plugged": none},
		"cni/shop": {"with": cni, "broken": cni, "older": cni, "plugged": ""},
		"cni/lab":  {"with": strings.ReplaceAll(cni, "shop", "lab"), "broken": strings.ReplaceAll(cni, "shop", "lab"), "older": strings.ReplaceAll(cni, "shop", "lab"), "plugged": "missing network: no plugin vlan"},
	} {
		g := &api.Group{Name: "g", Networks: []*api.Network{{Mode: mode}}, Tasks: []*api.Task{{Name: "t", Driver: "exec"}}}
		for _, n := range []*api.Node{with, broken, older, plugged} {
			if reason, ok := IsFeasible(job, g, n); reason != want[n.ID] || ok != (reason == "") {
				t.Errorf("mode %s on node %s: %q, %v; want %q", mode, n.ID, reason, ok, want[n.ID])
			}
		}
	}
	same := func(mode string) string {
		return string(appendSignature(nil, job, &api.Group{Networks: []*api.Network{{Mode: mode}}}, Policy{}))
	}
	if same("host") == same("bridge") || same("cni/shop") == same("cni/lab") || same("cni/shop") == same("bridge") {
		t.Error("groups with and without their own networks share their cached feasibility")
	}
}

func TestPublishedPortsNeedANetworkOnlyWithoutADaemon(t *testing.T) {
	node := func(engine, bridge string) *api.Node {
		n := &api.Node{Drivers: map[string]*api.DriverStatus{"docker": {Detected: true, Healthy: true}}, Attributes: map[string]string{api.NodeAttrDockerEngines: engine}}
		if bridge != "" {
			n.Attributes[api.NodeAttrBridge] = bridge
		}
		return n
	}
	group := func(config map[string]any) *api.Group {
		config["image"] = "redis:7"
		return &api.Group{Networks: []*api.Network{{DynamicPorts: []api.Port{{Label: "db", To: 6379}}}}, Tasks: []*api.Task{{Name: "db", Driver: "docker", Config: config}}}
	}
	publishes, silent := group(map[string]any{"ports": []any{"db"}}), group(map[string]any{})
	for _, c := range []struct {
		group *api.Group
		node  *api.Node
		want  string
	}{
		{publishes, node("container", "1"), ""},
		{publishes, node("daemon", ""), ""},
		{publishes, node("container", ""), "driver docker: missing network: the node's agent gives allocations no networks of their own"},
		{silent, node("container", ""), ""},
	} {
		if reason, _ := IsFeasible(&api.Job{}, c.group, c.node); reason != c.want {
			t.Errorf("%v on %v: %q, want %q", c.group.Tasks[0].Config, c.node.Attributes, reason, c.want)
		}
	}
	if string(appendSignature(nil, &api.Job{}, publishes, Policy{})) == string(appendSignature(nil, &api.Job{}, silent, Policy{})) {
		t.Error("groups with and without published ports share their cached feasibility")
	}
}

func TestLowPortsNeedNodesThatPermitThem(t *testing.T) {
	node := func(lowest string) *api.Node {
		n := &api.Node{Drivers: map[string]*api.DriverStatus{"container": {Detected: true, Healthy: true}}, Attributes: map[string]string{}}
		if lowest != "" {
			n.Attributes[api.NodeAttrLowestPort("container")] = lowest
		}
		return n
	}
	group := func(port int) *api.Group {
		return &api.Group{Networks: []*api.Network{{ReservedPorts: []api.Port{{Label: "http", Value: port}}}}, Tasks: []*api.Task{{Name: "web", Driver: "container", Config: map[string]any{"image": "nginx"}}}}
	}
	const want = `port "http": a container in the node's network cannot listen on 80, as it has a user namespace: set mode = "bridge" in the group's network block, or permit it on the node with sysctl -w net.ipv4.ip_unprivileged_port_start=80`
	for lowest, want := range map[string]string{"1024": want, "81": want, "80": "", "0": "", "": "", "-": ""} {
		if reason, _ := IsFeasible(&api.Job{}, group(80), node(lowest)); reason != want {
			t.Errorf("lowest port %q: %q, want %q", lowest, reason, want)
		}
	}
	if string(appendSignature(nil, &api.Job{}, group(80), Policy{})) == string(appendSignature(nil, &api.Job{}, group(443), Policy{})) {
		t.Error("groups with different low ports share their cached feasibility")
	}
}
