// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package container_test

import (
	"archive/tar"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	v1 "github.com/google/go-containerregistry/pkg/v1"

	"github.com/reeve-run/reeve/internal/node/driver/container"
	"github.com/reeve-run/reeve/internal/node/driver/container/containertest"
)

// attacks are tried by root of a container with all capabilities that a job can have without the
// operator's permission. None may be "done".
var attacks = []string{
	"mount /tmp", "bind /proc /tmp", "remount /sys", "remount /proc/sys", "umount /proc/sys", "umount /etc/hosts",
	"mknod /tmp/disk", "mknod /dev/disk", "unshare 0x10000000", "unshare 0x20000", "unshare 0x10020000",
	"reboot", "sethostname", "write /proc/sys/kernel/core_pattern |/tmp/x", "write /proc/sysrq-trigger b", "write /proc/sys/kernel/hostname x",
	"write /sys/fs/cgroup/memory/memory.limit_in_bytes 1", "write /sys/fs/cgroup/memory/release_agent /tmp/x", "write /sys/fs/cgroup/devices/devices.allow a",
	"write /sys/fs/cgroup/cgroup.procs 1", "write /sys/kernel/uevent_helper /tmp/x", "cat /proc/kcore", "ls /proc/1/root/../../../root/.ssh",
	"dial unix /run/docker.sock", "write /proc/self/oom_score_adj -1000", "mkdir /sys/fs/cgroup/x",
	"call init_module", "call finit_module", "call delete_module", "call kexec_load", "call bpf", "call perf_event_open", "call open_by_handle_at", "call syslog",
	"call swapon", "call acct", "call pivot_root", "call fsopen", "call open_tree", "call add_key", "call keyctl", "call userfaultfd", "call io_uring_setup",
	"setns /proc/1/ns/mnt", "setns /proc/self/ns/user", "write /proc/sys/vm/overcommit_memory 2", "write /proc/irq/default_smp_affinity 1", "ls /sys/firmware/efi",
}

func TestEscapesFail(t *testing.T) {
	for _, users := range []string{"private", "host"} {
		t.Run(users, func(t *testing.T) {
			b := newBed(t, func(c *container.Config) { c.HostUsers = users == "host" })
			before := mountTable(t)
			task := b.task(t, "a/hostile-"+users+"/0", "try "+strings.Join(attacks, " , try ")+" , fds , stat /proc/1", map[string]any{
				"cap_add": []any{"audit_write", "chown", "dac_override", "fowner", "fsetid", "kill", "mknod", "net_bind_service", "setfcap", "setgid", "setpcap", "setuid", "sys_chroot"},
				"init":    false,
			})
			got, exit := b.run(t, task)
			for line := range strings.Lines(got) {
				if strings.HasSuffix(line, ": done\n") || strings.HasPrefix(line, "open ") {
					t.Errorf("a container can: %s", line)
				}
			}
			if exit.Code != 0 || strings.Count(got, "\n") < len(attacks) {
				t.Errorf("exit %+v, output:\n%s", exit, got)
			}
			if after := mountTable(t); after != before {
				t.Errorf("the node's mounts have changed:\n%s\nbefore:\n%s", after, before)
			}
		})
	}
}

// mountTable returns the mounts of this process, as those of the agent.
func mountTable(t *testing.T) string {
	t.Helper()
	b, err := os.ReadFile("/proc/self/mounts")
	if err != nil {
		t.Fatal(err)
	}
	var own []string
	for line := range strings.Lines(string(b)) {
		if f := strings.Fields(line); f[0] == "overlay" || strings.HasPrefix(f[1], "/mnt") || strings.HasPrefix(f[1], "/media") {
			own = append(own, line)
		}
	}
	return strings.Join(own, "")
}

// TestLinksOfTasksLeadNowhere replaces what a mount names, in the directories of the task, by links
// to files of the node.
func TestLinksOfTasksLeadNowhere(t *testing.T) {
	b := newBed(t, nil)
	secret := filepath.Join(t.TempDir(), "secret")
	if err := os.Mkdir(secret, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(secret+"/key", []byte("of the node"), 0o644); err != nil {
		t.Fatal(err)
	}
	for name, source := range map[string]string{
		"link": "local/link", "below a link": "local/link/key", "upwards": "local/up/../../../../../../../../etc", "shared": "../alloc/link", "magic": "local/magic/etc",
	} {
		task := b.task(t, "a/links/0", "ls /x , cat /x/key", map[string]any{"volumes": []any{source + ":/x"}})
		for link, to := range map[string]string{"local/link": secret, "local/up": "../../../..", "local/magic": "/proc/self/root", "../alloc/link": secret} {
			if err := os.Symlink(to, filepath.Join(task.Dir.Task, link)); err != nil {
				t.Fatal(err)
			}
		}
		h, err := b.Start(t.Context(), task)
		if err == nil {
			h.Wait(t.Context())
			t.Errorf("%s: started, output %q", name, output(t, task))
		} else if !strings.Contains(err.Error(), "task's directory") {
			t.Errorf("%s: %v", name, err)
		}
	}
	// A container that an earlier run of the task filled with links.
	task := b.task(t, "a/links/1", "echo x")
	if err := os.Symlink(secret, task.Dir.Task+"/container"); err != nil {
		t.Fatal(err)
	}
	if _, exit := b.run(t, task); exit.Code != 0 {
		t.Errorf("exit %+v", exit)
	}
	if names, _ := filepath.Glob(secret + "/*"); len(names) != 1 {
		t.Errorf("files appeared behind the link: %v", names)
	}
}

// TestLinksOfImagesStayInside mounts files of the node over names that the image made links.
func TestLinksOfImagesStayInside(t *testing.T) {
	b := newBed(t, nil)
	outside := t.TempDir()
	layer, err := containertest.Layer(
		containertest.File{Name: strings.TrimPrefix(outside, "/") + "/", Mode: 0o755}, // the same path in the image
		containertest.File{Name: "etc/hosts", Kind: tar.TypeSymlink, Link: outside + "/hosts"},
		containertest.File{Name: "local", Kind: tar.TypeSymlink, Link: "../../../.." + outside},
		containertest.File{Name: "alloc", Kind: tar.TypeSymlink, Link: outside},
		containertest.File{Name: "tmp/work", Kind: tar.TypeSymlink, Link: outside},
		containertest.File{Name: "data", Kind: tar.TypeSymlink, Link: outside},
		containertest.File{Name: "etc/group", Kind: tar.TypeSymlink, Link: "/../../../../etc/shadow"},
	)
	if err != nil {
		t.Fatal(err)
	}
	image := b.push(t, "links:1", func(c *v1.Config) {
		c.WorkingDir = "/tmp/work/deep"
		c.Volumes = map[string]struct{}{"/data/deep": {}, "/../../up": {}}
	}, layer)
	task := b.task(t, "a/image/0", "write /local/x 1 , pwd , id", map[string]any{"image": image})
	got, exit := b.run(t, task)
	if exit.Code != 0 {
		t.Errorf("exit %+v, output:\n%s", exit, got)
	}
	if names, _ := os.ReadDir(outside); len(names) != 0 {
		t.Errorf("the image's links led to the node: %v", names)
	}
}

func TestAContainerCannotOverwriteItsInit(t *testing.T) {
	b := newBed(t, nil)
	task := b.task(t, "a/init/0", "try overwrite /dev/reeve-init , try overwrite /proc/1/exe , orphan , pid", map[string]any{"init": true})
	h, err := b.Start(t.Context(), task)
	if err != nil {
		if !strings.Contains(err.Error(), "CGO_ENABLED=0") {
			t.Fatal(err)
		}
		return // the race detector links the test with libraries
	}
	exit, err := h.Wait(t.Context())
	if got := output(t, task); err != nil || exit.Code != 0 || strings.Contains(got, ": done") || !strings.Contains(got, "pid 2") && !strings.Contains(got, "pid ") {
		t.Errorf("%v, exit %+v, output:\n%s", err, exit, got)
	}
}

func TestHostileImageConfigurations(t *testing.T) {
	b := newBed(t, nil)
	for name, change := range map[string]func(*v1.Config){
		"user":         func(c *v1.Config) { c.User = strings.Repeat("x", 10000) },
		"big id":       func(c *v1.Config) { c.User = "4294967295" },
		"negative id":  func(c *v1.Config) { c.User = "-1:-1" },
		"no command":   func(c *v1.Config) { c.Entrypoint, c.Cmd = nil, nil },
		"nul":          func(c *v1.Config) { c.Entrypoint = []string{"/bin/tool\x00x"} },
		"directory":    func(c *v1.Config) { c.WorkingDir = "../../../../etc/hosts" },
		"stop signal":  func(c *v1.Config) { c.StopSignal = "SIGNONE"; c.User = "none" },
		"environment":  func(c *v1.Config) { c.Env = []string{"=", "LD_PRELOAD=/x", "x\x00y=z"}; c.User = "none" },
		"many volumes": func(c *v1.Config) { c.Volumes = manyVolumes(); c.User = "none" },
	} {
		image := b.push(t, "hostile:"+strings.ReplaceAll(name, " ", "-"), change)
		task := b.task(t, "a/config/0", "", map[string]any{"image": image})
		if name == "nul" {
			task.Config["args"] = []string{"echo"}
		}
		if h, err := b.Start(t.Context(), task); err == nil {
			exit, _ := h.Wait(t.Context())
			t.Errorf("%s: started, exit %+v, output %q", name, exit, output(t, task))
		} else if strings.Contains(err.Error(), "panic") || len(err.Error()) > 20000 {
			t.Errorf("%s: %.300v", name, err)
		}
	}
}

func manyVolumes() map[string]struct{} {
	m := map[string]struct{}{}
	for i := range 5000 {
		m[fmt.Sprint("/v/", i)] = struct{}{}
	}
	return m
}
