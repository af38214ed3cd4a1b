// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package exec_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/reeve-run/reeve/internal/node/driver"
	"github.com/reeve-run/reeve/internal/node/landlock"
	"github.com/reeve-run/reeve/internal/node/supervise/supervisetest"
	"github.com/reeve-run/reeve/internal/testbed/wait"
)

// confined are commands of a task with unveil = ["r:/etc/ssl", "r:/alloc/way"], and whether they must
// succeed. /alloc/way is a link to / that another task of the group made.
var confined = []struct {
	may     bool
	command string
}{
	{true, "ls /etc/ssl"},
	{true, "echo x > /local/f && cat /local/f && mv /local/f /local/g && rm /local/g"},
	{true, "cp /bin/true /tmp/p && /tmp/p"},
	{true, "mkdir -p /alloc/data/d && rmdir /alloc/data/d"},
	{true, "mkfifo /secrets/p && ln -s x /secrets/l && rm /secrets/p /secrets/l"},
	{true, "cat /proc/self/status /proc/$$/status /etc/passwd"},
	{true, "echo x > /dev/null && head -c 1 /dev/urandom"},
	{true, "echo x > /dev/shm/f && rm /dev/shm/f"},
	{true, "echo x > /vol/f && rm /vol/f"},
	{true, "cat /seen/file"},
	{true, "ls /usr/bin"},
	{true, "echo x > /proc/self/fd/1"},

	{false, "cat /etc/mime.types || cat /etc/shells"},
	{false, "ls /"},
	{false, "ls /alloc/way/"},
	{false, "cat /proc/self/root/etc/shells"},
	{false, "cat /proc/1/root/etc/shells"},
	{false, "ls /proc/self/root"},
	{false, "cat /proc/self/cwd/etc/shells"},
	{false, "ln -sf / /tmp/l && cat /tmp/l/etc/shells"},
	{false, "ln /etc/shells /tmp/hard"},
	{false, "ln /seen/file /vol/hard"},
	{false, "ls /sys"},
	{false, "ls /dev"},
	{false, "touch /scratch"},
	{false, "mkdir /scratch"},
	{false, "ln -s /etc /scratch"},
	{false, "mkfifo /scratch"},
	{false, "rm /empty"},
	{false, "mv /tmp /other"},
	{false, "echo x > /seen/file"},
	{false, "touch /seen/other"},
	{false, "touch /etc/new || touch /etc/ssl/new"},
	{false, "echo 1 > /proc/self/oom_score_adj"},
	{false, "echo x > /proc/self/comm"},
	{false, "mknod /tmp/disk b 8 0"},
	{false, "mknod /tmp/null c 1 3"},
	{false, "mkdir -p /tmp/m && mount --bind / /tmp/m"},
	{false, "mkdir -p /tmp/m && mount --bind /etc /tmp/m"},
	{false, "mkdir -p /tmp/m && mount -t tmpfs none /tmp/m"},
	{false, "mkdir -p /tmp/m && unshare -m mount --bind /etc /tmp/m"},
	{false, "mkdir -p /tmp/m && unshare -Urm mount --bind /etc /tmp/m"},
	{false, "umount /proc"},
	{false, "chroot / cat /etc/shells"},
	{false, "nsenter -t 1 -m cat /etc/shells"},
}

func confinedScript() string {
	var b strings.Builder
	for i, c := range confined {
		fmt.Fprintf(&b, "(%s) >/dev/null 2>&1 && echo %d yes || echo %d no\n", c.command, i, i)
	}
	b.WriteString("echo files; ls /proc/self/fd | tr '\\n' ' '; echo\n") // the last one is that of ls
	return b.String()
}

func checkConfined(t *testing.T, who, got string) {
	t.Helper()
	for i, c := range confined {
		want := fmt.Sprintf("%d %s\n", i, map[bool]string{true: "yes", false: "no"}[c.may])
		if !strings.Contains("\n"+got, "\n"+want) {
			t.Errorf("%s: %q: want success %t", who, c.command, c.may)
		}
	}
	if !strings.Contains(got, "files\n0 1 2 3 \n") {
		t.Errorf("%s has other files open: %s", who, got)
	}
}

// unveiled returns a task with a volume, a read-only one, and a link that leads out of the shared directory.
func unveiled(t *testing.T, id, user string, config map[string]any) *driver.Task {
	config["unveil"] = []any{"r:/etc/ssl", "r:/alloc/way"}
	task := supervisetest.Task(t, id, config)
	task.User = user
	if err := os.Symlink("/", task.Dir.Alloc+"/way"); err != nil {
		t.Fatal(err)
	}
	for target, readOnly := range map[string]bool{"/vol": false, "/seen": true} {
		dir := supervisetest.Dir(t)
		if err := os.WriteFile(dir+"/file", []byte("x"), 0o666); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(dir, 0o777); err != nil {
			t.Fatal(err)
		}
		task.Mounts = append(task.Mounts, driver.Mount{Source: dir, Target: target, ReadOnly: readOnly})
	}
	return task
}

// TestUnveilConfines lets tasks, also root with every capability, and commands beside them try to use other files.
func TestUnveilConfines(t *testing.T) {
	d, ok := open(t)
	if !ok || landlock.Version() == 0 {
		return
	}
	for _, user := range []string{"nobody", "root"} {
		t.Run(user, func(t *testing.T) {
			config := supervisetest.Shell(confinedScript() + "touch /local/done; exec sleep 1000")
			if user == "root" {
				config["cap_add"] = []any{"all"}
			}
			task := unveiled(t, "confined/"+user, user, config)
			h, err := d.Start(t.Context(), task)
			if err != nil {
				t.Fatal(err)
			}
			wait.Until(t, "the task has tried everything", func() bool {
				_, err := os.Stat(task.Dir.Local + "/done")
				return err == nil
			})
			checkConfined(t, "the task", supervisetest.Output(t, task.Logs.StdoutPrefix))
			var out, errOut bytes.Buffer
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			if code, err := h.Exec(ctx, driver.Exec{Argv: []string{"sh", "-c", confinedScript()}, Stdout: &out, Stderr: &errOut}); err != nil || code != 0 {
				t.Fatalf("exec: %d, %v, %s", code, err, &errOut)
			}
			checkConfined(t, "a command beside the task", out.String())
			if err := h.Stop(t.Context(), "SIGKILL", 0); err != nil {
				t.Fatal(err)
			}
		})
	}
}

// TestUnveilConfinesDaemons runs a daemon, whose command starts beside the first process.
func TestUnveilConfinesDaemons(t *testing.T) {
	d, ok := open(t)
	if !ok || landlock.Version() == 0 {
		return
	}
	task := unveiled(t, "confined/daemon", "", supervisetest.Shell(confinedScript()))
	task.Daemon = true
	got, _ := run(t, d, task)
	checkConfined(t, "a daemon", got)
}

// TestUnveilModes gives a task one mode of its root at a time.
func TestUnveilModes(t *testing.T) {
	d, ok := open(t)
	if !ok || landlock.Version() == 0 {
		return
	}
	const script = `
		ls / >/dev/null 2>&1 && echo read
		mkdir /made 2>/dev/null && rmdir /made && echo create
		(echo x > /file) 2>/dev/null && echo write a new file
		(: > /resolv) 2>/dev/null && echo write
		cp /bin/true /run-me 2>/dev/null && chmod 755 /run-me && /run-me 2>/dev/null && echo run
		true`
	for unveil, want := range map[string]string{
		"":       "",
		"r:/":    "read\n",
		"c:/":    "create\n",
		"wc:/":   "create\nwrite a new file\nwrite\n",
		"rwc:/":  "read\ncreate\nwrite a new file\nwrite\n",
		"rwxc:/": "read\ncreate\nwrite a new file\nwrite\nrun\n",
	} {
		task := supervisetest.Task(t, "modes/"+unveil, supervisetest.Shell(script))
		list := []any{}
		if unveil != "" {
			list = append(list, unveil)
		}
		task.Config["unveil"] = list
		if got, exit := run(t, d, task); got != want || exit.Code != 0 {
			t.Errorf("unveil %q: the task can %q, want %q; exit %+v", unveil, got, want, exit)
		}
	}
}

func TestUnveilErrorsNameTheEntry(t *testing.T) {
	d, ok := open(t)
	if !ok || landlock.Version() == 0 {
		return
	}
	for entry, want := range map[string]string{
		"r:/no/such": `config unveil "r:/no/such": no such file or directory, as the task sees its file system`,
		"r:relative": "config unveil entry 1, \"r:relative\": the path must be absolute",
		"z:/etc":     "unknown mode",
	} {
		task := supervisetest.Task(t, "wrong", supervisetest.Shell("true"))
		task.Config["unveil"] = []any{entry}
		if _, err := d.Start(t.Context(), task); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: error %v, want %q", entry, err, want)
		}
	}
}
