// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package runner

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/node/driver"
)

// A publisher is a driver whose daemon may publish the ports of tasks.
type publisher struct {
	driver.Driver
	daemon bool
}

func (p publisher) PublishesPorts() bool { return p.daemon }

func TestOnlyPublishedPortsLeadToContainers(t *testing.T) {
	task := func(name string, config map[string]any) *api.Task {
		config["image"] = "redis:7"
		return &api.Task{Name: name, Driver: "docker", Config: config}
	}
	g := &api.Group{Tasks: []*api.Task{
		task("db", map[string]any{"ports": []any{"db", "none-such"}}),
		task("again", map[string]any{"ports": []any{"db", "own"}}),
		task("node", map[string]any{"network_mode": "host", "ports": []any{"web"}}),
		{Name: "exec", Driver: "exec"},
	}}
	db, web, own := api.PortMapping{Label: "db", Value: 20001, To: 6379, HostIP: "10.0.0.5"}, api.PortMapping{Label: "web", Value: 20002, HostIP: "10.0.0.5"}, api.PortMapping{Label: "own", Value: 20003, HostIP: "10.0.0.5"}
	a := &api.Allocation{ID: "a", AllocatedResources: &api.AllocatedResources{
		Tasks:  map[string]*api.AllocatedTask{"again": {Networks: []*api.Network{{IP: "10.0.0.5", DynamicPorts: []api.Port{{Label: "own", Value: 20003}}}}}},
		Shared: api.AllocatedShared{Ports: []api.PortMapping{db, web}},
	}}
	h := &Host{Drivers: map[string]driver.Driver{"docker": publisher{}}}
	n, within := h.dockerNetwork(a, g)
	if n == nil || n.Mode != api.NetworkBridge {
		t.Fatalf("network %+v", n)
	}
	if d := cmp.Diff([]api.PortMapping{db, own}, within.AllocatedResources.Shared.Ports); d != "" {
		t.Errorf("ports (-want +got):\n%s", d)
	}
	if len(a.AllocatedResources.Shared.Ports) != 2 {
		t.Error("the allocation itself has changed")
	}
	h.Drivers["docker"] = publisher{daemon: true}
	if n, within := h.dockerNetwork(a, g); n != nil || within != a {
		t.Errorf("with a daemon: %+v", n)
	}
	h.Drivers["docker"] = publisher{}
	if n, within := h.dockerNetwork(&api.Allocation{}, g); n == nil || len(within.AllocatedResources.Shared.Ports) > 0 {
		t.Errorf("without resources: %+v, %+v", n, within)
	}
}
