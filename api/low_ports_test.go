// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package api

import (
	"fmt"
	"testing"
)

func TestLowPortsOfContainersInTheNodesNetwork(t *testing.T) {
	docker := func(config map[string]any) *Task {
		config["image"] = "nginx"
		return &Task{Driver: DriverDocker, Config: config}
	}
	container := func(config map[string]any) *Task {
		config["image"] = "nginx"
		return &Task{Driver: DriverContainer, Config: config}
	}
	host := func() map[string]any { return map[string]any{"network_mode": "host"} }
	with := func(key string, value any) map[string]any {
		c := host()
		c[key] = value
		return c
	}
	program := &Task{Driver: "exec", Config: map[string]any{"command": "/bin/web"}}
	low, high := Port{Label: "http", Value: 80}, Port{Label: "admin", Value: 8080}
	for name, c := range map[string]struct {
		mode  string
		ports []Port
		tasks []*Task
		want  string
	}{
		"an ingress":                 {"", []Port{low, high}, []*Task{docker(host())}, "[{docker http 80}]"},
		"a container":                {"host", []Port{low}, []*Task{container(map[string]any{})}, "[{container http 80}]"},
		"a container that has ports": {"", []Port{low}, []*Task{container(map[string]any{"ports": []any{"http"}}), program}, "[{container http 80}]"},
		"docker without a network":   {"", []Port{low}, []*Task{docker(map[string]any{})}, "[{docker http 80}]"},
		"a published port":           {"", []Port{low}, []*Task{docker(map[string]any{"ports": []any{"http"}})}, "[]"},
		"published beside another":   {"", []Port{low}, []*Task{docker(map[string]any{"ports": []any{"http"}}), docker(host())}, "[]"},
		"it listens on a high one":   {"", []Port{{Label: "http", Value: 80, To: 8080}}, []*Task{docker(host())}, "[]"},
		"a bridge":                   {"bridge", []Port{low}, []*Task{docker(map[string]any{})}, "[]"},
		"another task may listen":    {"", []Port{low}, []*Task{docker(host()), program}, "[]"},
		"the host's users":           {"", []Port{low}, []*Task{docker(with("userns_mode", "host"))}, "[]"},
		"privileged":                 {"", []Port{low}, []*Task{docker(with("privileged", true))}, "[]"},
		"the node knows":             {"", []Port{low}, []*Task{docker(with("userns_mode", "${meta.users}"))}, "[]"},
		"no network":                 {"", []Port{low}, []*Task{docker(map[string]any{"network_mode": "none"})}, "[]"},
		"no containers":              {"", []Port{low}, []*Task{program}, "[]"},
	} {
		g := &Group{Networks: []*Network{{Mode: c.mode, ReservedPorts: c.ports}}, Tasks: c.tasks}
		if got := fmt.Sprint(g.LowPorts()); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}

func TestContainersShareTheNetworkOfTheirPorts(t *testing.T) {
	publishes := &Task{Name: "db", Driver: DriverPodman, Config: map[string]any{"image": "redis", "ports": []any{"db"}}}
	bridge := &Task{Name: "side", Driver: DriverDocker, Config: map[string]any{"image": "redis", "network_mode": "bridge"}}
	host := &Task{Name: "host", Driver: DriverDocker, Config: map[string]any{"image": "redis", "network_mode": "host", "ports": []any{"web"}}}
	plain := &Task{Name: "plain", Driver: DriverDocker, Config: map[string]any{"image": "redis"}}
	other := &Task{Name: "exec", Driver: "exec", Config: map[string]any{"ports": []any{"db"}}}
	dns := &DNS{Servers: []string{"192.0.2.1"}}
	g := &Group{Networks: []*Network{{DNS: dns}}, Tasks: []*Task{publishes, bridge, host, plain, other}}
	if n := g.DockerNetwork(); n == nil || n.Mode != NetworkBridge || n.DNS != dns {
		t.Errorf("got %+v", n)
	}
	for _, task := range g.Tasks {
		if within := g.NetworkOf(task) != nil; within != (task == publishes || task == bridge) {
			t.Errorf("%s: in a network: %v", task.Name, within)
		}
	}
	if !g.LeadsInside("db") || g.LeadsInside("web") || g.LeadsInside("") {
		t.Error("other ports than db lead inside")
	}
	if g.Tasks = []*Task{host, plain, other}; g.DockerNetwork() != nil {
		t.Error("nothing publishes a port")
	}
	g.Tasks, g.Networks[0].Mode = []*Task{publishes}, NetworkNone
	if g.DockerNetwork() != nil || g.NetworkOf(publishes) != g.Networks[0] || g.LeadsInside("db") {
		t.Error("the group has a network of its own")
	}
}
