// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package api

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func dockerNeed(mode string, port Port, config map[string]any) DockerNeed {
	config["image"] = "web:1"
	g := &Group{Networks: []*Network{{Mode: mode, DynamicPorts: []Port{port}}}}
	return DockerNeedOf(g, &Task{Driver: DriverDocker, Config: config})
}

func TestDockerTasksSayWhatTheyNeed(t *testing.T) {
	plain := Port{Label: "http"}
	mapped := Port{Label: "http", To: 80}
	const own = "the group has a network of its own, which a Docker daemon cannot join"
	for name, c := range map[string]struct {
		mode   string
		port   Port
		config map[string]any
		want   DockerNeed
	}{
		"nothing":                 {"", plain, map[string]any{"tty": false, "interactive": "false"}, DockerNeed{}},
		"a mapped port":           {"host", mapped, map[string]any{"ports": []any{"http"}}, DockerNeed{Network: true}},
		"a mapped port, mode":     {"", mapped, map[string]any{"ports": []any{"http"}, "network_mode": "bridge"}, DockerNeed{Network: true}},
		"Docker's bridge":         {"", plain, map[string]any{"network_mode": "bridge"}, DockerNeed{Network: true}},
		"the node's network":      {"", mapped, map[string]any{"ports": []any{"http"}, "network_mode": "host"}, DockerNeed{ByContainer: `port "http" leads to another port of the container, which uses the node's network: remove network_mode = "host", or set mode = "bridge" in the group's network block`}},
		"a mode of the node":      {"", mapped, map[string]any{"ports": []any{"http"}, "network_mode": "${meta.mode}"}, DockerNeed{ByContainer: `port "http" leads to another port of the container, which uses the node's network: remove network_mode = "host", or set mode = "bridge" in the group's network block`}},
		"a port of another task":  {"host", mapped, map[string]any{}, DockerNeed{}},
		"a mapped port in bridge": {"bridge", mapped, map[string]any{"ports": []any{"http"}, "network_mode": "bridge"}, DockerNeed{ByDaemon: own}},
		"a terminal":              {"", plain, map[string]any{"tty": true}, DockerNeed{ByContainer: "tty needs a Docker daemon"}},
		"a network":               {"", plain, map[string]any{"network_mode": "shop", "network_aliases": []any{"web"}}, DockerNeed{ByContainer: `network_aliases, network_mode "shop" need a Docker daemon`}},
		"logs on the node":        {"", plain, map[string]any{"logging": map[string]any{"type": "json-file", "config": []any{map[string]any{"max-file": 3}}}}, DockerNeed{}},
		"logs elsewhere":          {"", plain, map[string]any{"logging": map[string]any{"type": "fluentd"}}, DockerNeed{ByContainer: `logging of type "fluentd" needs a Docker daemon`}},
		"a named volume":          {"", plain, map[string]any{"mount": []any{map[string]any{"type": "volume", "target": "/data", "source": "pg"}}}, DockerNeed{ByContainer: `mount of type "volume" needs a Docker daemon`}},
		"a runtime":               {"", plain, map[string]any{"runtime": "nvidia"}, DockerNeed{ByContainer: `runtime "nvidia" needs a Docker daemon`}},
		"a profile":               {"", plain, map[string]any{"security_opt": []any{"apparmor=web"}}, DockerNeed{ByContainer: `security_opt "apparmor=web" needs a Docker daemon`}},
	} {
		if got := dockerNeed(c.mode, c.port, c.config); got != c.want {
			t.Errorf("%s: %s", name, cmp.Diff(c.want, got))
		}
	}
}

func TestDockerNeedsMatchEngines(t *testing.T) {
	both := DockerNeed{ByContainer: "tty needs a Docker daemon", ByDaemon: "no network"}
	one := DockerNeed{ByContainer: "tty needs a Docker daemon"}
	for _, c := range []struct {
		need          DockerNeed
		engines, want string
	}{
		{DockerNeed{}, "container", ""},
		{one, "container", "tty needs a Docker daemon"},
		{one, "daemon", ""},
		{one, "daemon,container", ""},
		{both, "daemon,container", "no network; tty needs a Docker daemon"},
		{DockerNeed{Network: true}, "container", "no networks"},
		{DockerNeed{Network: true}, "daemon", ""},
		{DockerNeed{Network: true, ByContainer: "tty"}, "container", "tty"},
		{both, "", ""},
		{both, "of a later version", ""},
	} {
		if got := c.need.Mismatch(c.engines, "no networks"); got != c.want {
			t.Errorf("%v on a node with %q: %q, want %q", c.need, c.engines, got, c.want)
		}
	}
}

func TestDockerConfigHasItsOwnMeaning(t *testing.T) {
	c, problems := ParseDockerConfig(map[string]any{"image": "web:1", "ulimit": map[string]any{"memlock": "-1:-1"}, "container_exists_attempts": 5})
	if len(problems) > 0 || !c.NewPrivs || len(c.DaemonNeeds) > 0 {
		t.Errorf("got %+v, %q", c, problems)
	}
	if c, _ := ParseContainerConfig(map[string]any{"image": "web:1", "tty": true}); c.NewPrivs || len(c.DaemonNeeds) > 0 {
		t.Errorf("driver container: %+v", c)
	}
	for want, config := range map[string]map[string]any{
		`driver docker has no key "privilegd"`:    {"privilegd": true},
		"port_map is not supported":               {"port_map": map[string]any{"http": 80}},
		"network_mode must be":                    {"network_mode": "container:db"},
		"ipv4_address must be an IP address":      {"ipv4_address": "10.0.0"},
		`logging has no key "typ"`:                {"logging": map[string]any{"typ": "json-file"}},
		"tty must be true or false":               {"tty": "sometimes"},
		`security_opt has "seccomp=/etc/shadow"`:  {"security_opt": []any{"seccomp=/etc/shadow"}},
		`mount has no key "nam" in driver_config`: {"mount": map[string]any{"target": "/d", "volume_options": map[string]any{"driver_config": map[string]any{"nam": "x"}}}},
	} {
		config["image"] = "web:1"
		if _, problems := ParseDockerConfig(config); len(problems) != 1 || !strings.HasPrefix(problems[0], want) {
			t.Errorf("%v: %q, want one that begins with %q", config, problems, want)
		}
	}
	if _, problems := ParseContainerConfig(map[string]any{"image": "web:1", "tty": true}); len(problems) != 1 || !strings.HasPrefix(problems[0], "tty is not supported: ") {
		t.Errorf("driver container: %q", problems)
	}
}
