// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package api

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestContainerConfigsAreParsed(t *testing.T) {
	got, problems := ParseContainerConfig(map[string]any{
		"image": "redis:8", "command": "redis-server", "args": []any{"--port", "${NOMAD_PORT_db}"}, "force_pull": "true", "image_pull_timeout": "90s",
		"auth":       []any{map[string]any{"username": "u", "password": "p", "server_address": "r.test"}},
		"volumes":    []any{"local/a:/a", "/b:/b:ro,rslave", "${NOMAD_ALLOC_DIR:x}/c:/c"},
		"mount":      []any{map[string]any{"type": "tmpfs", "target": "/t", "tmpfs_options": []any{map[string]any{"size": 1024.0}}}},
		"cap_add":    []any{"net_admin", "ALL"},
		"pid_mode":   "host",
		"shm_size":   "1048576",
		"ulimit":     []any{map[string]any{"nofile": "10:20"}},
		"labels":     map[string]any{"a": "b", "n": 1.0},
		"runtime":    "runc",
		"pids_limit": 9,
		"init":       "${meta.init}",
	})
	want := &ContainerConfig{
		Image: "redis:8", Command: "redis-server", Args: []string{"--port", "${NOMAD_PORT_db}"}, ForcePull: true, PullTimeout: 90 * time.Second,
		Auth: &ContainerAuth{Username: "u", Password: "p", Server: "r.test"},
		Mounts: []ContainerMount{
			{Type: "tmpfs", Target: "/t", Size: 1024}, {Type: "bind", Source: "local/a", Target: "/a"},
			{Type: "bind", Source: "/b", Target: "/b", ReadOnly: true, Propagation: "rslave"}, {Type: "bind", Source: "${NOMAD_ALLOC_DIR:x}/c", Target: "/c"},
		},
		CapAdd: []string{"CAP_NET_ADMIN", "ALL"}, PIDHost: true, ShmSize: 1 << 20, Ulimits: []Ulimit{{"nofile", 10, 20}},
		Labels: map[string]string{"a": "b", "n": "1"}, PidsLimit: 9, Daemon: DaemonConfig{Runtime: "runc"},
	}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(ContainerConfig{})); diff != "" || len(problems) > 0 {
		t.Errorf("problems %q; -want +got:\n%s", problems, diff)
	}
}

func TestWrongContainerConfigsAreTold(t *testing.T) {
	for want, config := range map[string]map[string]any{
		"image is missing": {"image": nil},
		"image \"Shop:1\" has capital letters in the name of its repository, which no registry has: write shop":                              {"image": "Shop:1"},
		"image \"r.test:5000/a/B@sha256:x\" has capital letters in the name of its repository, which no registry has: write r.test:5000/a/b": {"image": "r.test:5000/a/B@sha256:x"},
		"image \"a b\" contains white space: write it like busybox:1.36":                                                                     {"image": "a b"},
		"driver container has no key \"Privileged\"; did you mean \"privileged\"?":                                                           {"Privileged": true},
		"driver container has no key \"volume\"; did you mean \"volumes\"?":                                                                  {"volume": "x"},
		"driver container has no key \"nonsense\"; there are: args, auth":                                                                    {"nonsense": 1},
		"logging is not supported: the node keeps the output of tasks":                                                                       {"logging": []any{}},
		"image must be a string, not 7":                                     {"image": 7},
		"args must be a list of strings, not [1]":                           {"args": []any{1}},
		"force_pull must be true or false, not maybe":                       {"force_pull": "maybe"},
		"image_pull_timeout must be more than zero":                         {"image_pull_timeout": "-1s"},
		"auth has no key \"token\"":                                         {"auth": map[string]any{"token": "x"}},
		"volumes has \"/only\": write it like":                              {"volumes": []any{"/only"}},
		"volumes has the option \"rx\"":                                     {"volumes": []any{"a:/b:rx"}},
		"volumes has the target \"/proc/sys\", which belongs to the kernel": {"volumes": []any{"a:/proc/sys"}},
		"volumes has the target \"/\"":                                      {"volumes": []any{"a:/../.."}},
		"mount has the type \"nfs\"; there are: bind, volume, tmpfs":        {"mount": []any{map[string]any{"type": "nfs", "target": "/x"}}},
		"mount of type \"bind\" has no source":                              {"mount": map[string]any{"type": "bind", "target": "/x"}},
		"mounts has no key \"src\"":                                         {"mounts": []any{map[string]any{"src": "x"}}},
		"mount has the tmpfs option size = -1":                              {"mount": map[string]any{"type": "tmpfs", "target": "/x", "tmpfs_options": map[string]any{"size": -1}}},
		"network_mode must be \"host\" or \"none\": a bridge belongs":       {"network_mode": "bridge"},
		"network_mode must be \"host\" or \"none\", not \"container:x\"":    {"network_mode": "container:x"},
		"work_dir must be an absolute path":                                 {"work_dir": "x"},
		"security_opt has \"apparmor=x\"":                                   {"security_opt": []any{"apparmor=x"}},
		"devices has the path \"/etc/shadow\"":                              {"devices": map[string]any{"host_path": "/etc/shadow"}},
		"devices has the permissions \"rx\"":                                {"devices": map[string]any{"host_path": "/dev/x", "cgroup_permissions": "rx"}},
		"pid_mode must be \"private\" or \"host\"":                          {"pid_mode": "container:x"},
		"cap_add has \"net admin\", which is not a capability":              {"cap_add": []any{"net admin"}},
		"shm_size must not be negative":                                     {"shm_size": -1},
		"pids_limit must be a number, not 1.5":                              {"pids_limit": 1.5},
		"cpu_cfs_period must be 1000 to 1000000 microseconds":               {"cpu_cfs_period": 5},
		"oom_score_adj must be 0 to 1000, not -1000":                        {"oom_score_adj": -1000},
		"runtime must be \"runc\", not \"kata\"":                            {"runtime": "kata"},
		"healthchecks must be { disable = true }":                           {"healthchecks": map[string]any{}},
		"extra_hosts has \"db\": write it like":                             {"extra_hosts": []any{"db"}},
		"dns_servers has \"x\", which is not an IP address":                 {"dns_servers": []any{"x"}},
		"ulimit has no limit \"files\"":                                     {"ulimit": map[string]any{"files": "1"}},
		"ports needs a network":                                             {"ports": []any{"http"}, "network_mode": "none"},
	} {
		if _, given := config["image"]; !given {
			config["image"] = "x"
		}
		if got := DriverConfigProblems(DriverContainer, config); len(got) == 0 || !strings.Contains(strings.Join(got, "\n"), want) {
			t.Errorf("%v is answered with %q\nwant %s", config, got, want)
		}
	}
}

// FuzzContainerConfig looks for a value of a key that ends the server.
func FuzzContainerConfig(f *testing.F) {
	f.Add("volumes", "a:b:c", int64(1))
	f.Add("mount", "${x:y}", int64(-1))
	f.Add("devices", "/dev/../etc", int64(1<<62))
	f.Fuzz(func(t *testing.T, key, text string, n int64) {
		for _, v := range []any{text, n, []any{text}, []any{n}, map[string]any{text: text}, []any{map[string]any{"type": "bind", "source": text, "target": text, "mode": n}}, nil} {
			ParseContainerConfig(map[string]any{"image": text, key: v})
		}
	})
}
