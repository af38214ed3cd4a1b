// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package container_test

import (
	"os"
	"strings"
	"testing"

	v1 "github.com/google/go-containerregistry/pkg/v1"

	"github.com/reeve-run/reeve/internal/node/driver"
	"github.com/reeve-run/reeve/internal/node/driver/container"
)

func TestSettingsOfContainers(t *testing.T) {
	b := newBed(t, func(c *container.Config) { c.AllowPrivileged, c.Volumes = true, true })
	withVolume := b.push(t, "volume:1", func(c *v1.Config) { c.Volumes = map[string]struct{}{"/data/deep": {}} })
	outside := t.TempDir()
	if err := os.WriteFile(outside+"/file", []byte("outside\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct {
		commands string
		config   map[string]any
		user     string
		want     string
	}{
		"user by name":        {"id , stat /local , stat /secrets , write /local/x 1 , write /home/app/y 1", nil, "app", "uid 1000 gid 1001 groups [10]\n/local 1000:1001 777\n/secrets 1000:1001 777\n"},
		"user by number":      {"id", nil, "77:88", "uid 77 gid 88 groups []\n"},
		"groups":              {"id", map[string]any{"group_add": []any{"wheel", "5"}}, "77", "uid 77 gid 0 groups [5 10]\n"},
		"entrypoint":          {"pid", map[string]any{"entrypoint": []any{"/bin/tool", "echo", "x", ","}}, "", "x\npid 1\n"},
		"command":             {"echo b", map[string]any{"entrypoint": []any{}, "command": "/bin/tool"}, "", "b\n"},
		"working directory":   {"pwd", map[string]any{"work_dir": "/made/for/it"}, "", "/made/for/it\n"},
		"hostname":            {"hostname , cat /etc/hostname", map[string]any{"hostname": "box"}, "", "box\nbox\n"},
		"hosts":               {"grep 10.9.8.7 /etc/hosts", map[string]any{"extra_hosts": []any{"db:10.9.8.7"}}, "", "10.9.8.7\tdb\n"},
		"resolver":            {"grep nameserver /etc/resolv.conf , grep search /etc/resolv.conf", map[string]any{"dns_servers": []any{"10.0.0.53"}, "dns_search_domains": []any{"x.test"}}, "", "nameserver 10.0.0.53\nsearch x.test\n"},
		"no network":          {"ls /proc/self/net/../../../sys/fs , try dial tcp 1.1.1.1:80", map[string]any{"network_mode": "none"}, "", "network is unreachable"},
		"kernel settings":     {"cat /proc/sys/net/ipv4/ip_unprivileged_port_start", map[string]any{"network_mode": "none", "sysctl": map[string]any{"net.ipv4.ip_unprivileged_port_start": "80"}}, "", "80\n"},
		"read-only root":      {"try write /x 1 , write /alloc/x 1 , write /local/x 1", map[string]any{"readonly_rootfs": true}, "", "write /x 1: open /x: read-only file system\n"},
		"volume of the image": {"write /data/deep/x 1 , cat /data/deep/x", map[string]any{"image": withVolume}, "", "1"},
		"volume, read-only":   {"try write /x 1 , write /data/deep/x 1 , cat /data/deep/x", map[string]any{"image": withVolume, "readonly_rootfs": true}, "", "read-only file system\n1"},
		"init":                {"orphan , pid , exit 0", map[string]any{"init": false}, "", "pid 1\n"},
		"tmpfs":               {"write /scratch/x 1 , grep /scratch /proc/self/mounts", map[string]any{"mount": []any{map[string]any{"type": "tmpfs", "target": "/scratch", "tmpfs_options": []any{map[string]any{"size": 1048576}}}}}, "", "tmpfs /scratch tmpfs rw,nosuid,nodev,noexec,relatime,size=1024k"},
		"relative mount":      {"write /data/x 1 , try write /frozen/x 1 , ls /frozen", map[string]any{"volumes": []any{"local/new/deep:/data", "local/new/deep:/frozen:ro"}}, "", "read-only file system\nx\n"},
		"shared mount":        {"write /shared/x 1 , ls /alloc/data", map[string]any{"volumes": []any{"../alloc/data:/shared"}}, "", "x\n"},
		"absolute mount":      {"cat /outside/file", map[string]any{"mounts": []any{map[string]any{"type": "bind", "source": outside, "target": "/outside", "readonly": true}}}, "", "outside\n"},
		"shared memory":       {"grep /dev/shm /proc/self/mounts", map[string]any{"shm_size": 1 << 20}, "", "size=1024k"},
		"limits":              {"grep open /proc/self/limits", map[string]any{"ulimit": map[string]any{"nofile": "111:222"}}, "", "222                  files"},
		"host processes":      {"grep reeve-nothing /proc/1/cmdline , try cat /proc/1/environ", map[string]any{"pid_mode": "host"}, "", "cat /proc/1/environ: open /proc/1/environ: permission denied"},
		"host users":          {"cat /proc/self/uid_map", map[string]any{"userns_mode": "host"}, "", "         0          0 4294967295\n"},
		"own users":           {"cat /proc/self/uid_map", nil, "", "         0 1073741824      65536\n"},
		"no new privileges":   {"grep NoNewPrivs /proc/self/status , grep Seccomp: /proc/self/status", nil, "", "NoNewPrivs:\t1\nSeccomp:\t2\n"},
		"new privileges":      {"grep NoNewPrivs /proc/self/status", map[string]any{"security_opt": []any{"no-new-privileges=false"}}, "", "NoNewPrivs:\t0\n"},
		"capabilities":        {"grep Cap /proc/self/status", map[string]any{"cap_drop": []any{"all"}, "cap_add": []any{"net_bind_service"}}, "", "CapPrm:\t0000000000000400\nCapEff:\t0000000000000400\nCapBnd:\t0000000000000400\n"},
		"ambient":             {"grep CapAmb /proc/self/status", map[string]any{"cap_add": []any{"CAP_NET_BIND_SERVICE"}}, "app", "CapAmb:\t0000000000000400\n"},
		"privileged":          {"grep CapEff /proc/self/status , grep Seccomp: /proc/self/status , mkdir /m , mount /m", map[string]any{"privileged": true}, "", "Seccomp:\t0\n"},
		"devices":             {"stat /dev/fuse , overwrite /dev/mine", map[string]any{"devices": []any{map[string]any{"host_path": "/dev/fuse"}, map[string]any{"host_path": "/dev/null", "container_path": "/dev/mine"}}}, "", "/dev/fuse"},
		"processes":           {"cat /sys/fs/cgroup/pids/pids.max", map[string]any{"pids_limit": 17}, "", "17\n"},
	} {
		t.Run(name, func(t *testing.T) {
			task := b.task(t, "a/"+strings.ReplaceAll(name, " ", "-")+"/0", test.commands, test.config)
			task.User = test.user
			got, exit := b.run(t, task)
			if !strings.Contains(got, test.want) || exit.Code != 0 {
				t.Errorf("exit %+v, output:\n%s\nwant %q", exit, got, test.want)
			}
		})
	}
}

func TestRefusedPrivilegesNameTheirGate(t *testing.T) {
	b := newBed(t, nil)
	for want, config := range map[string]map[string]any{
		"allow_privileged = true in client { container { } }":                            {"privileged": true},
		"config devices is not permitted":                                                {"devices": []any{map[string]any{"host_path": "/dev/null"}}},
		"pid_mode = \"host\" is not permitted":                                           {"pid_mode": "host"},
		"userns_mode = \"host\" is not permitted":                                        {"userns_mode": "host"},
		"seccomp=unconfined":                                                             {"security_opt": []any{"seccomp=unconfined"}},
		"add it to allow_caps in client { container { } }":                               {"cap_add": []any{"sys_admin"}},
		"config cap_add \"all\" is not permitted":                                        {"cap_add": []any{"ALL"}},
		"the mount of /etc is not permitted on this node: set volumes = true":            {"volumes": []any{"/etc:/x"}},
		"the propagation \"rshared\" is not permitted":                                   {"volumes": []any{"local/x:/x:rshared"}},
		"would change the whole node":                                                    {"sysctl": map[string]any{"kernel.panic": "1"}},
		"is not below the task's directory":                                              {"volumes": []any{"../../x:/x"}},
		"the mount of \"container/upper\" is not below":                                  {"volumes": []any{"container/upper:/x"}},
		"set image_dir in client { container { } }":                                      {"image": "oci:/var/images/x"},
		"user \"nobody-here\" does not exist in the image":                               {"user": true},
		"is not in the container's user namespace, which has 65536 users: use a smaller": {"user": 70000},
	} {
		task := b.task(t, "a/refused/0", "echo x", config)
		if name, ok := config["user"]; ok {
			delete(task.Config, "user")
			task.User = map[any]string{true: "nobody-here", 70000: "70000"}[name]
		}
		if _, err := b.Start(t.Context(), task); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v is answered with %v\nwant %s", config, err, want)
		}
	}
}

func TestContainersOutOfMemoryAreReported(t *testing.T) {
	b := newBed(t, nil)
	task := b.task(t, "a/eater/0", "eat 200")
	task.Resources = driver.Limits{MemoryMB: 32}
	if got, exit := b.run(t, task); !exit.OOMKilled || exit.Signal != 9 {
		t.Errorf("exit %+v, output %q", exit, got)
	}
}
