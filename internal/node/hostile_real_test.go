// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package node

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"runtime/pprof"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/client"
)

// descriptors prints the files that a shell was started with.
const descriptors = `i=0; while [ $i -lt 400 ]; do [ -h /proc/self/fd/$i ] && printf "$i "; i=$((i+1)); done; echo`

// inherit opens a file as a shell leaves it to the agent that it starts.
func inherit(t *testing.T) {
	t.Helper()
	secret := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(secret, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	fd, err := unix.Open(secret, unix.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { unix.Close(fd) })
}

func TestRealTasksInheritNoFilesOfTheAgent(t *testing.T) {
	inherit(t)
	r := runReal(t)
	const wait = `; until [ -e $NOMAD_ALLOC_DIR/stop ]; do sleep 0.02; done`
	raw, iso, hook := shell("raw", descriptors+wait), shell("iso", descriptors+wait), shell("hook", descriptors)
	hook.Lifecycle = &api.Lifecycle{Hook: api.HookPrestart}
	raw.Services = []*api.Service{{Name: "s", Checks: []*api.Check{{
		Name: "inside", Type: api.CheckScript, Command: "/bin/sh", Args: []string{"-c", descriptors}, Interval: time.Second, Timeout: 5 * time.Second,
	}}}}
	tasks := []*api.Task{raw, hook}
	if r.isolates {
		iso.Driver = "exec"
		tasks = append(tasks, iso)
	}
	check := func(id string) {
		t.Helper()
		for _, task := range tasks {
			eventually(t, task.Name+" has told its files", func() bool { return strings.Contains(r.logs(t, id, task.Name), "\n") })
			want(t, task.Name+"'s files", "0 1 2 \n", r.logs(t, id, task.Name))
		}
		for _, task := range tasks {
			if task == hook {
				continue
			}
			for _, tty := range []bool{false, true} {
				var out, errs bytes.Buffer
				code, err := r.client.Allocations().Exec(t.Context(), id, client.Exec{Task: task.Name, TTY: tty, Command: []string{"/bin/sh", "-c", descriptors}, Stdin: strings.NewReader(""), Stdout: &out, Stderr: &errs})
				if err != nil || code != 0 {
					t.Fatal(code, err, errs.String())
				}
				want(t, "the files of a command beside "+task.Name, "0 1 2", strings.TrimSpace(out.String()))
			}
		}
		eventually(t, "the script has told its files", func() bool {
			for _, c := range r.checks.Statuses(id) {
				if c.Output != "" {
					want(t, "the files of a script", "0 1 2", strings.TrimSpace(c.Output[strings.LastIndex(c.Output, ":")+1:]))
					return true
				}
			}
			return false
		})
	}
	r.place(t, jobOf("service", tasks...), "one")
	check("one")
	if err := r.supervisor.Upgrade(t.Context(), ""); err != nil {
		t.Fatal(err)
	}
	r.place(t, jobOf("service", tasks...), "two")
	check("two")
}

// open counts the files and the waiting goroutines of this process.
func open(t *testing.T) (files, goroutines int) {
	t.Helper()
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	return len(entries), pprof.Lookup("goroutine").Count()
}

func TestRealSpecialFilesHoldNobodyUp(t *testing.T) {
	r := runReal(t)
	r.place(t, jobOf("service", shell("t", `
		mkfifo fifo; mkdir dir; echo text > dir/file; mv $NOMAD_ALLOC_DIR/logs $NOMAD_ALLOC_DIR/moved; mkfifo $NOMAD_ALLOC_DIR/logs
		if command -v python3 > /dev/null; then python3 -c 'import socket; socket.socket(socket.AF_UNIX).bind("socket")'; else mkfifo socket; fi
		touch ready; exec sleep 1000`)), "one")
	eventually(t, "the task has made its files", func() bool { _, err := os.Stat(r.dirs.Task("one", "t").Task + "/ready"); return err == nil })
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	request := func(path string) int {
		t.Helper()
		q, err := http.NewRequestWithContext(ctx, http.MethodGet, r.address+"/v1/client/fs/"+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		answer, err := http.DefaultClient.Do(q)
		if err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		defer answer.Body.Close()
		if _, err := io.Copy(io.Discard, answer.Body); err != nil && answer.StatusCode == http.StatusOK && !strings.HasPrefix(path, "logs") {
			t.Errorf("%s: %v", path, err)
		}
		return answer.StatusCode
	}
	round := func() {
		for _, name := range []string{"t/fifo", "t/socket", "alloc/logs"} {
			for verb, code := range map[string]int{"ls": 400, "stat": 200, "cat": 400, "readat": 400, "stream": 400} {
				want(t, verb+" "+name, code, request(verb+"/one?path="+name))
			}
		}
		want(t, "ls of a file", 400, request("ls/one?path=t/dir/file"))
		want(t, "ls", 200, request("ls/one?path=t/dir"))
		want(t, "cat", 200, request("cat/one?path=t/dir/file"))
		request("logs/one?task=t")
	}
	round()
	http.DefaultClient.CloseIdleConnections()
	files, goroutines := open(t)
	for range 20 {
		round()
	}
	http.DefaultClient.CloseIdleConnections()
	eventually(t, "requests leave nothing behind", func() bool {
		f, g := open(t)
		return f <= files+5 && g <= goroutines+5
	})
}

func TestRealADirectoryWithTooManyFilesIsNotListed(t *testing.T) {
	r := runReal(t)
	r.place(t, jobOf("service", shell("t", `exec sleep 1000`)), "one")
	many := filepath.Join(r.dirs.Root("one"), "t", "many")
	eventually(t, "the task has a directory", func() bool { return os.Mkdir(many, 0o755) == nil })
	for i := range maxListed + 1 {
		if err := unix.Mknod(filepath.Join(many, strconv.Itoa(i)), unix.S_IFREG, 0); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := r.client.FS().List(t.Context(), "one", "t/many"); api.CodeOf(err) != api.CodeTooLarge {
		t.Errorf("error = %v", err)
	}
}
