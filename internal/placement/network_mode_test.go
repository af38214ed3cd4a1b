// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package placement

import (
	"testing"

	"github.com/reeve-run/reeve/api"
)

func TestGroupsWithOwnNetworksNeedNodesThatHaveThem(t *testing.T) {
	driver := map[string]*api.DriverStatus{"exec": {Detected: true, Healthy: true}}
	with := &api.Node{ID: "with", Drivers: driver, Attributes: map[string]string{api.NodeAttrBridge: "1"}}
	broken := &api.Node{ID: "broken", Drivers: driver, Attributes: map[string]string{api.NodeAttrBridgeProblem: "no CAP_NET_ADMIN"}}
	older := &api.Node{ID: "older", Drivers: driver}
	for _, n := range []*api.Node{with, broken, older} {
		n.ComputedClass = api.ComputeClass(n)
	}
	job := &api.Job{ID: "j"}
	for mode, want := range map[string]map[string]string{
		"host":   {"with": "", "broken": "", "older": ""},
		"bridge": {"with": "", "broken": "missing network: no CAP_NET_ADMIN", "older": "missing network: the node's agent gives allocations no networks of their own"},
		"none":   {"with": "", "broken": "missing network: no CAP_NET_ADMIN", "older": "missing network: the node's agent gives allocations no networks of their own"},
	} {
		g := &api.Group{Name: "g", Networks: []*api.Network{{Mode: mode}}, Tasks: []*api.Task{{Name: "t", Driver: "exec"}}}
		for _, n := range []*api.Node{with, broken, older} {
			if reason, ok := IsFeasible(job, g, n); reason != want[n.ID] || ok != (reason == "") {
				t.Errorf("mode %s on node %s: %q, %v; want %q", mode, n.ID, reason, ok, want[n.ID])
			}
		}
	}
	same := func(mode string) string {
		return string(appendSignature(nil, job, &api.Group{Networks: []*api.Network{{Mode: mode}}}, Policy{}))
	}
	if same("host") == same("bridge") {
		t.Error("groups with and without their own networks share their cached feasibility")
	}
}
