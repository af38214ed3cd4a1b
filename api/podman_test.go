// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package api

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

func TestPodmanConfigMeansWhatDockerConfigMeans(t *testing.T) {
	swappiness := int64(60)
	podman, problems := ParsePodmanConfig(map[string]any{
		"image": "docker://redis:7", "command": "redis-server", "working_dir": "/data", "shm_size": "64m",
		"tmpfs": []any{"/run", "/cache:size=1g,mode=0700,noexec"}, "devices": []any{"/dev/fuse", "/dev/fuse:r", "/dev/a:/dev/b:rw", "/dev/a:/dev/b"},
		"dns": []any{"192.0.2.53"}, "auth": []any{map[string]any{"username": "u", "password": "p", "tls_verify": true}},
		"logging": map[string]any{"driver": "nomad"}, "socket": "default", "userns": "host", "memory_reservation": "100m",
		"memory_swap": "180m", "memory_swappiness": 60, "selinux_opts": []any{"disable"}, "apparmor_profile": "web",
		"ulimit": map[string]any{"nofile": "1:2"}, "network_mode": "bridge",
	})
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	docker, problems := ParseDockerConfig(map[string]any{
		"image": "redis:7", "command": "redis-server", "work_dir": "/data", "shm_size": 64 << 20,
		"mount": []any{
			map[string]any{"type": "tmpfs", "target": "/run"},
			map[string]any{"type": "tmpfs", "target": "/cache", "tmpfs_options": map[string]any{"size": 1 << 30, "mode": 0o700}},
		},
		"devices": []any{
			map[string]any{"host_path": "/dev/fuse"}, map[string]any{"host_path": "/dev/fuse", "cgroup_permissions": "r"},
			map[string]any{"host_path": "/dev/a", "container_path": "/dev/b", "cgroup_permissions": "rw"}, map[string]any{"host_path": "/dev/a", "container_path": "/dev/b"},
		},
		"dns_servers": []any{"192.0.2.53"}, "auth": map[string]any{"username": "u", "password": "p"}, "userns_mode": "host",
		"ulimit": map[string]any{"nofile": "1:2"}, "network_mode": "bridge",
	})
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	docker.MemoryReserve, docker.Daemon.MemorySwap, docker.Daemon.Swappiness = 100<<20, 180<<20, &swappiness
	docker.Daemon.SecurityOpt = []string{"apparmor=web", "label=disable"}
	docker.DaemonNeeds = []string{"apparmor_profile", "memory_swap", "memory_swappiness", `network_mode "bridge"`, "selinux_opts"}
	if diff := cmp.Diff(docker, podman, cmp.AllowUnexported(ContainerConfig{}), cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("docker and podman differ:\n%s", diff)
	}
}

func TestPodmanConfigErrorsNameTheKeyAndTheRemedy(t *testing.T) {
	for _, c := range []struct {
		key   string
		value any
		want  string
	}{
		{"image", "oci-archive:/tmp/a.tar", "skopeo copy oci-archive:/tmp/a.tar oci:DIR"},
		{"image", "docker://", "has no name after docker://"},
		{"image", 7, "must be a string"},
		{"workingdir", "/", `has no key "workingdir"; did you mean "working_dir"?`},
		{"work_dir", "/", `has no key "work_dir"`},
		{"mount", []any{}, `has no key "mount"`},
		{"tmpfs", []any{"cache"}, "write a path in the container"},
		{"tmpfs", []any{"/proc"}, "belongs to the kernel"},
		{"tmpfs", []any{"/c:size=-1"}, "must be like size=64m"},
		{"tmpfs", []any{"/c:size=99999999999g"}, "must be like size=64m"},
		{"tmpfs", []any{"/c:mode=99999"}, "must be like size=64m"},
		{"tmpfs", []any{"/c:suid"}, `has the option "suid"`},
		{"devices", []any{"/etc/shadow"}, "host_path must be below /dev"},
		{"devices", []any{"/dev/a:/dev/b:rw:x"}, "write it like"},
		{"devices", []any{""}, "write it like"},
		{"devices", []any{"/dev/a:dev/b"}, "container_path absolute"},
		{"auth", map[string]any{"tls_verify": false}, "certificate authority"},
		{"auth", map[string]any{"tls_verify": "perhaps"}, "not true or false"},
		{"network_mode", "task:server", `mode = "bridge" in the group's network block`},
		{"network_mode", "slirp4netns", `mode = "bridge" in the group's network block`},
		{"userns", "keep-id", "must be \"auto\""},
		{"socket", "app1", "docker_socket"},
		{"init_path", "/usr/libexec/podman/catatonit", "is not supported: init = true"},
		{"memory_swappiness", 101, "0 to 100"},
		{"memory_reservation", "-1", "must be a size"},
		{"memory_reservation", "12q", "must be a size"},
		{"memory_swap", "-2", "must be a size"},
		{"memory_swap", "-1g", "must be a size"},
		{"memory_swap", "9223372036854775807g", "must be a size"},
		{"shm_size", true, "must be a number of bytes"},
		{"logging", map[string]any{"drver": "journald"}, `logging has no key "drver"`},
		{"port_map", map[string]any{"http": 80}, "is not supported: declare the ports"},
	} {
		config := map[string]any{"image": "redis:7"}
		config[c.key] = c.value
		_, problems := ParsePodmanConfig(config)
		if len(problems) == 0 || !strings.Contains(problems[0], c.want) || !strings.Contains(problems[0], c.key) {
			t.Errorf("%s = %v: %q, want %q", c.key, c.value, problems, c.want)
		}
	}
	if _, problems := ParsePodmanConfig(map[string]any{"image": "redis", "memory_swap": "-1"}); len(problems) > 0 {
		t.Errorf("unlimited swap: %q", problems)
	}
	if _, problems := ParsePodmanConfig(map[string]any{}); len(problems) != 1 || problems[0] != "image is missing" {
		t.Errorf("no image: %q", problems)
	}
}

func TestPodmanTasksSayWhatNeedsADaemon(t *testing.T) {
	need := func(config map[string]any) DockerNeed {
		config["image"] = "redis"
		return DockerNeedOf(&Group{}, &Task{Driver: DriverPodman, Config: config})
	}
	for _, c := range []struct {
		config map[string]any
		want   string
	}{
		{map[string]any{"working_dir": "/", "tmpfs": []any{"/run"}, "logging": map[string]any{"driver": "nomad"}}, ""},
		{map[string]any{"memory_swap": "180m"}, "memory_swap needs a Docker daemon"},
		{map[string]any{"logging": map[string]any{"driver": "journald", "options": []any{map[string]any{"tag": "r"}}}}, `logging of type "journald" needs a Docker daemon`},
	} {
		if got := need(c.config); got.ByContainer != c.want || got.ByDaemon != "" {
			t.Errorf("%v: %+v, want %q", c.config, got, c.want)
		}
	}
}
