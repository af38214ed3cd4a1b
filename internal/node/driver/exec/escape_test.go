// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package exec_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/reeve-run/reeve/internal/node/driver/container/containertest"
	"github.com/reeve-run/reeve/internal/node/supervise/supervisetest"
)

// escapes are tried by root of an isolated task with all capabilities that it can have. None may be "done".
var escapes = []string{
	"mount /tmp", "bind /proc /tmp", "remount /", "remount /usr", "umount /proc", "mknod /tmp/disk",
	"write /proc/sys/kernel/core_pattern |/tmp/x", "write /proc/sysrq-trigger b", "write /proc/sys/kernel/hostname x", "write /proc/sys/vm/overcommit_memory 2",
	"write /sys/fs/cgroup/memory/memory.limit_in_bytes 1", "write /sys/fs/cgroup/memory/release_agent /tmp/x", "write /sys/fs/cgroup/devices/devices.allow a",
	"write /sys/fs/cgroup/cgroup.procs 1", "mkdir /sys/fs/cgroup/x", "write /sys/kernel/uevent_helper /tmp/x", "ls /proc/1/root/../../../root/.ssh",
	"reboot", "sethostname", "dial unix /run/docker.sock", "write /etc/passwd x", "write /usr/bin/x 1", "ls /root", "setns /proc/1/ns/mnt",
	"call init_module", "call finit_module", "call delete_module", "call kexec_load", "call open_by_handle_at", "call syslog",
	"call swapon", "call acct", "call pivot_root", "call fsopen", "call open_tree",
}

func TestEscapesFail(t *testing.T) {
	d, ok := open(t)
	if !ok {
		return
	}
	program, err := containertest.Program()
	if err != nil {
		t.Fatal(err)
	}
	for _, user := range []string{"root", "nobody"} {
		t.Run(user, func(t *testing.T) {
			args := strings.Fields("try " + strings.Join(escapes, " , try ") + " , fds , ptrace " + fmt.Sprint(os.Getpid()))
			list := make([]any, len(args))
			for i, a := range args {
				list[i] = a
			}
			task := supervisetest.Task(t, "escape/"+user, map[string]any{"command": "local/tool", "args": list})
			task.User = user
			if err := os.WriteFile(filepath.Join(task.Dir.Local, "tool"), program, 0o755); err != nil {
				t.Fatal(err)
			}
			h, err := d.Start(t.Context(), task)
			if err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
			defer cancel()
			if _, err := h.Wait(ctx); err != nil {
				t.Fatalf("the task does not end: %v", err)
			}
			files, _ := filepath.Glob(task.Logs.StdoutPrefix + ".*")
			var got string
			for _, name := range files {
				text, err := os.ReadFile(name)
				if err != nil {
					t.Fatal(err)
				}
				got += string(text)
			}
			for line := range strings.Lines(got) {
				if strings.HasSuffix(line, ": done\n") || strings.HasPrefix(line, "open ") {
					t.Errorf("an isolated task can: %s", line)
				}
			}
			if strings.Count(got, "\n") < len(escapes) || !strings.Contains(stderr(t, task), "ptrace: no such process") {
				t.Errorf("output:\n%s\nerrors:\n%s", got, stderr(t, task))
			}
		})
	}
}
